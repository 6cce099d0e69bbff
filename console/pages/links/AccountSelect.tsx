import { Select } from '@mantine/core'
import { useSearchParams } from 'react-router'
import { shortId } from '../../components/IdText.tsx'
import { accountWords } from './link-queries.ts'

/** The lab account in the address of the page; undefined: all of them. */
export function useAccountFilter(): readonly [string | undefined, (account_id: string | null) => void] {
  const [params, setParams] = useSearchParams()
  const setAccount = (account_id: string | null): void =>
    setParams((previous) => {
      const changed = new URLSearchParams(previous)
      if (account_id === null) changed.delete('account')
      else changed.set('account', account_id)
      return changed
    })
  return [params.get('account') ?? undefined, setAccount]
}

interface AccountSelectProps {
  /** Undefined: not read yet. */
  accounts: readonly { account_id: string; lab: string; account_number: string }[] | undefined
  /** What is shown without a choice. */
  placeholder?: string
  /** Chosen as long as the address names none. */
  initial?: string | undefined
}

/** Chooses the lab account that a page shows. */
export function AccountSelect({ accounts = [], placeholder = 'Every lab account', initial }: AccountSelectProps) {
  const [chosen, setAccount] = useAccountFilter()
  const account_id = chosen ?? initial
  const options = accounts.map((account) => ({ value: account.account_id, label: accountWords(account) }))
  const isListed = options.some(({ value }) => value === account_id)
  return (
    <Select
      aria-label="Lab account"
      placeholder={placeholder}
      data={account_id === undefined || isListed ? options : [...options, { value: account_id, label: shortId(account_id) }]}
      value={account_id ?? null}
      onChange={setAccount}
      searchable
      clearable={initial === undefined}
      clearButtonProps={{ 'aria-label': placeholder }}
      w={240}
    />
  )
}
