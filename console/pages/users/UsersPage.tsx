import { Skeleton, Stack, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMemo, useState } from 'react'
import { dataOf } from '../../api/client.ts'
import { useKeysetList } from '../../api/keyset-list.ts'
import type { components } from '../../api/schema.d.ts'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { DataTable } from '../../components/data-table/DataTable.tsx'
import type { Column } from '../../components/data-table/columns.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { shortId } from '../../components/IdText.tsx'
import { Page } from '../../components/Page.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { useTeam } from '../../session/team.ts'

type UserRow = components['schemas']['UserRow']

const SEARCH_DELAY_MS = 250
const rowId = ({ user_id }: UserRow): string => user_id

const COLUMNS: readonly Column<UserRow>[] = [
  { id: 'user', header: 'User', width: 100, cell: ({ user_id }) => <span title={user_id}>{shortId(user_id)}</span> },
  { id: 'reference', header: 'Your id', cell: ({ client_user_id }) => <span title={client_user_id}>{client_user_id}</span> },
  { id: 'name', header: 'Name', cell: ({ first_name, last_name }) => [first_name, last_name].filter(Boolean).join(' ') },
  { id: 'born', header: 'Born', width: 104, isHiddenOnPhone: true, cell: ({ dob }) => dob },
  {
    id: 'sources',
    header: 'Sources',
    width: 84,
    align: 'right',
    isHiddenOnPhone: true,
    cell: ({ connected_source_count }) => connected_source_count,
  },
  {
    id: 'created',
    header: 'Created',
    width: 104,
    isHiddenOnPhone: true,
    cell: ({ created_on }) => <RelativeTime value={created_on} />,
  },
]

/** The users of the team, newest first. */
export function UsersPage() {
  const { pathTo } = useTeam()
  const [search, setSearch] = useState('')
  const [debouncedSearch] = useDebouncedValue(search.trim(), SEARCH_DELAY_MS)
  const users = useUsers(debouncedSearch)
  const rows = useMemo(() => users.data?.pages.flatMap(({ data }) => data) ?? [], [users.data])
  return (
    <Page title="Users" actions={<CodeSamples request={{ method: 'GET', path: '/v2/user' }} />}>
      <Stack gap="sm">
        <TextInput
          aria-label="Search by name, your id or user id"
          placeholder="Name, your id or user id"
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          maw={320}
        />
        {users.error && <ErrorNotice error={users.error} onRetry={() => void users.refetch()} />}
        {!users.data && !users.error && (
          <Delayed>
            <Skeleton height={320} />
          </Delayed>
        )}
        {users.data && rows.length === 0 && (
          <EmptyState title={debouncedSearch ? 'No user matches' : 'No users yet'}>
            {debouncedSearch
              ? 'Search for the beginning of a name, or for a whole id.'
              : 'A user is a person of yours: a program creates one with the id that it has there.'}
          </EmptyState>
        )}
        {rows.length > 0 && (
          <DataTable
            label="Users"
            columns={COLUMNS}
            rows={rows}
            rowId={rowId}
            rowPath={({ user_id }) => pathTo(`users/${user_id}`)}
            onLoadMore={users.hasNextPage ? () => void users.fetchNextPage() : undefined}
            isLoadingMore={users.isFetchingNextPage}
          />
        )}
      </Stack>
    </Page>
  )
}

function useUsers(search: string) {
  const { api, key } = useTeam()
  return useKeysetList({
    queryKey: [...key, 'users', search],
    readPage: ({ query: page, ...request }) =>
      dataOf(
        api.GET('/console/v1/users', { params: { query: { ...(search && { search_input: search }), ...page } }, ...request }),
      ),
  })
}
