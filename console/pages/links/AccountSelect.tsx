import { Select } from '@mantine/core'
import { useSearchParams } from 'react-router'
import { shortId } from '../../components/IdText.tsx'
import { accountWords, useLinks } from './link-queries.ts'

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

/** Chooses the lab account that a list shows. */
export function AccountSelect() {
  const [account_id, setAccount] = useAccountFilter()
  const links = useLinks()
  const accounts = links.data?.map((link) => ({ value: link.account_id, label: accountWords(link) })) ?? []
  const isListed = accounts.some(({ value }) => value === account_id)
  return (
    <Select
      aria-label="Lab account"
      placeholder="Every lab account"
      data={account_id === undefined || isListed ? accounts : [...accounts, { value: account_id, label: shortId(account_id) }]}
      value={account_id ?? null}
      onChange={setAccount}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Every lab account' }}
      w={240}
    />
  )
}
