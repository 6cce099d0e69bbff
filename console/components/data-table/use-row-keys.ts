// Keys of a list: `j` and `k` or the arrows go from row to row, `x` selects the row.
import { useHotkeys } from '@mantine/hooks'
import type { Virtualizer } from '@tanstack/react-virtual'
import { useRef, type RefObject } from 'react'

interface RowKeys {
  list: RefObject<HTMLElement | null>
  virtualizer: Virtualizer<HTMLDivElement, Element>
  count: number
  onSelect: (index: number) => void
}

/** Moves the focus between the links of rows, also those that are not drawn yet. */
export function useRowKeys({ list, virtualizer, count, onSelect }: RowKeys): void {
  // The row that will have the focus with the next frame: keys that are pressed before it count from there.
  const nextIndex = useRef<number>(undefined)
  const focusRow = (index: number): void => {
    if (index < 0 || index >= count) return
    nextIndex.current = index
    virtualizer.scrollToIndex(index)
    // The row may be drawn only after the list has scrolled.
    requestAnimationFrame(() => {
      list.current?.querySelector<HTMLElement>(`[data-index="${index}"] [data-row-link]`)?.focus()
      if (nextIndex.current === index) nextIndex.current = undefined
    })
  }
  const currentIndex = (): number | undefined => nextIndex.current ?? focusedIndex(list.current)
  const move = (step: number): void => focusRow((currentIndex() ?? (step > 0 ? -1 : count)) + step)
  const isInList = (): boolean => currentIndex() !== undefined
  useHotkeys([
    ['j', () => move(1)],
    ['k', () => move(-1)],
    ['ArrowDown', () => isInList() && move(1), { preventDefault: false }],
    ['ArrowUp', () => isInList() && move(-1), { preventDefault: false }],
    [
      'x',
      () => {
        const index = currentIndex()
        if (index !== undefined) onSelect(index)
      },
    ],
  ])
}

/** The index of the row that has the focus. */
function focusedIndex(list: HTMLElement | null): number | undefined {
  const row = document.activeElement?.closest<HTMLElement>('[data-index]')
  return row && list?.contains(row) ? Number(row.dataset.index) : undefined
}
