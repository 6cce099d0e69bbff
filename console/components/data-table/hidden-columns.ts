// The columns that a list does not show, in the address of the page: `?hide=sample&hide=created`.
import { useSearchParams } from 'react-router'

const NONE = 'none'

/** @param atFirst hidden as long as the address says nothing */
export function useHiddenColumns(atFirst: readonly string[]): readonly [string[], (ids: string[]) => void] {
  const [params, setParams] = useSearchParams()
  const inAddress = params.getAll('hide')
  const hidden = inAddress.length ? inAddress.filter((id) => id !== NONE) : [...atFirst]
  const setHidden = (next: string[]): void =>
    setParams(
      (previous) => {
        const changed = new URLSearchParams(previous)
        changed.delete('hide')
        for (const id of next.length ? next : [NONE]) changed.append('hide', id)
        return changed
      },
      { replace: true },
    )
  return [hidden, setHidden]
}
