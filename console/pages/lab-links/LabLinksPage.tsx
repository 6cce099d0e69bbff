import { Skeleton, Stack } from '@mantine/core'
import { useMemo } from 'react'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { DataTable } from '../../components/data-table/DataTable.tsx'
import type { Column } from '../../components/data-table/columns.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { Page } from '../../components/Page.tsx'
import { SystemTime } from '../../components/RelativeTime.tsx'
import { useTeam } from '../../session/team.ts'
import { accountWords, useLinks, useLinkScope, type LabLink } from '../links/link-queries.ts'
import { LinkPageTabs } from '../links/LinkPageTabs.tsx'
import { useLabAccounts, type LabAccount } from '../settings/lab-accounts/lab-account-queries.ts'
import { LinkMode, LinkState } from './link-badges.tsx'

/** A lab account of the organization; its link is undefined if it has none. */
interface AccountRow {
  account_id: string
  name: string
  link: LabLink | undefined
}

const COLUMNS: readonly Column<AccountRow>[] = [
  { id: 'account', header: 'Lab account', cell: ({ name }) => <span title={name}>{name}</span> },
  { id: 'mode', header: 'Mode', width: 116, cell: ({ link }) => (link ? <LinkMode mode={link.mode} /> : 'No link') },
  { id: 'state', header: 'State', width: 96, cell: ({ link }) => link && <LinkState link={link} /> },
  {
    id: 'reason',
    header: 'Failing since',
    isHiddenOnPhone: true,
    cell: ({ link }) =>
      link?.state === 'failing' && (
        <span title={link.state_reason ?? ''}>
          <SystemTime value={link.state_at} />: {link.state_reason}
        </span>
      ),
  },
  {
    id: 'received',
    header: 'Received',
    width: 96,
    isHiddenOnPhone: true,
    cell: ({ link }) => (link?.received_at ? <SystemTime value={link.received_at} /> : '–'),
  },
  {
    id: 'sent',
    header: 'Sent',
    width: 96,
    isHiddenOnPhone: true,
    cell: ({ link }) => (link?.sent_at ? <SystemTime value={link.sent_at} /> : '–'),
  },
  {
    id: 'profile',
    header: 'Profile',
    width: 176,
    isHiddenOnPhone: true,
    cell: ({ link }) => link && `${link.preset ?? 'no preset'}, ${differenceCount(link.differences.length)}`,
  },
]
const differenceCount = (count: number): string => (count === 1 ? '1 difference' : `${count} differences`)
const rowId = ({ account_id }: AccountRow): string => account_id

/** The lab accounts of the organization with their links to laboratories: failing ones first, those without a link last. */
export function LabLinksPage() {
  const { pathTo } = useTeam()
  const { org_id, env, region } = useLinkScope()
  const links = useLinks()
  const accounts = useLabAccounts()
  const rows = useMemo(() => toRows(links.data ?? [], accounts.data ?? []), [links.data, accounts.data])
  const error = links.error ?? accounts.error
  const isRead = links.data !== undefined && accounts.data !== undefined
  const retry = (): void => {
    if (links.error) void links.refetch()
    if (accounts.error) void accounts.refetch()
  }
  return (
    <Page
      title="Links of lab accounts"
      actions={
        <CodeSamples request={{ method: 'GET', path: `/v1/org/${org_id}/lab_link/${env}/${region}` }} keyKind="management" />
      }
    >
      <LinkPageTabs />
      <Stack gap="sm">
        {error && <ErrorNotice error={error} onRetry={retry} />}
        {!isRead && !error && (
          <Delayed>
            <Skeleton height={240} />
          </Delayed>
        )}
        {isRead && rows.length === 0 && (
          <EmptyState title="No lab accounts" command="bin/drawbridge lab-account create --help">
            A link belongs to an account of the organization at a laboratory. The guide of lab links leads from the contract to a
            live link.
          </EmptyState>
        )}
        {isRead && rows.length > 0 && (
          <DataTable
            label="Links of lab accounts"
            columns={COLUMNS}
            rows={rows}
            rowId={rowId}
            rowPath={({ account_id }) => pathTo(`links/accounts/${account_id}`)}
          />
        )}
      </Stack>
    </Page>
  )
}

function toRows(links: readonly LabLink[], accounts: readonly LabAccount[]): AccountRow[] {
  const linked = new Set(links.map(({ account_id }) => account_id))
  const isFailing = ({ state }: LabLink): boolean => state === 'failing'
  return [
    ...links.filter(isFailing),
    ...links.filter((link) => !isFailing(link)),
    // Links of the platform's accounts are the operator's.
    ...accounts.filter(({ id, org_id }) => org_id !== null && !linked.has(id)),
  ].map((row) =>
    'account_id' in row
      ? { account_id: row.account_id, name: accountWords(row), link: row }
      : { account_id: row.id, name: accountWords({ lab: row.lab, account_number: row.provider_account_id }), link: undefined },
  )
}
