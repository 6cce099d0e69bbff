import { Skeleton, Stack, Title } from '@mantine/core'
import { useMemo } from 'react'
import { DataTable } from '../../components/data-table/DataTable.tsx'
import type { Column } from '../../components/data-table/columns.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { shortId } from '../../components/IdText.tsx'
import { toWords } from '../../components/order-status.ts'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { useTeam } from '../../session/team.ts'
import { useFailingConnections, type FailingConnection } from './health-queries.ts'

const COLUMNS: readonly Column<FailingConnection>[] = [
  { id: 'provider', header: 'Provider', width: 124, cell: ({ provider_name }) => provider_name },
  { id: 'error', header: 'Error', cell: ({ error_type }) => <span title={toWords(error_type)}>{toWords(error_type)}</span> },
  {
    id: 'user',
    header: 'User',
    width: 108,
    isHiddenOnPhone: true,
    cell: ({ user_id }) => <span title={user_id}>{shortId(user_id)}</span>,
  },
  { id: 'since', header: 'Failed', width: 104, cell: ({ errored_at }) => <RelativeTime value={errored_at} /> },
]
const connectionId = ({ id }: FailingConnection): string => id

/** Connections of users that fail; a row opens the user. */
export function FailingConnections() {
  const { pathTo } = useTeam()
  const connections = useFailingConnections()
  const rows = useMemo(() => connections.data?.pages.flatMap(({ data }) => data) ?? [], [connections.data])
  return (
    <section aria-labelledby="connections">
      <Stack gap="sm">
        <Title order={2} id="connections">
          Connections that fail
        </Title>
        {connections.error && <ErrorNotice error={connections.error} onRetry={() => void connections.refetch()} />}
        {!connections.data && !connections.error && (
          <Delayed>
            <Skeleton height={72} />
          </Delayed>
        )}
        {connections.data && rows.length === 0 && (
          <div>
            <StatusBadge tone="good">No connection fails</StatusBadge>
          </div>
        )}
        {rows.length > 0 && (
          <DataTable
            label="Connections that fail"
            columns={COLUMNS}
            rows={rows}
            rowId={connectionId}
            rowPath={({ user_id }) => pathTo(`users/${user_id}`)}
            onLoadMore={connections.hasNextPage ? () => void connections.fetchNextPage() : undefined}
            isLoadingMore={connections.isFetchingNextPage}
          />
        )}
      </Stack>
    </section>
  )
}
