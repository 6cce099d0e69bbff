import { Button, Group, SegmentedControl, Skeleton, Stack, Switch, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { DataTable } from '../../components/data-table/DataTable.tsx'
import type { Column } from '../../components/data-table/columns.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { FilterBar } from '../../components/FilterBar.tsx'
import { useFilters, type Filter } from '../../components/filters.ts'
import { shortId } from '../../components/IdText.tsx'
import { Page } from '../../components/Page.tsx'
import { SystemTime } from '../../components/RelativeTime.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { useTeam } from '../../session/team.ts'
import { RequestHistogram } from './RequestHistogram.tsx'
import { RequestTabs } from './RequestTabs.tsx'
import {
  REQUEST_FIELDS,
  toneOfStatus,
  toRequestQuery,
  useRequestCounts,
  useRequests,
  type LoggedRequest,
  type TimeSpan,
} from './requests-query.ts'

const COLUMNS: readonly Column<LoggedRequest>[] = [
  { id: 'operation', header: 'Operation', cell: ({ operation, path }) => <span title={path}>{operation}</span> },
  { id: 'method', header: 'Method', width: 80, isHiddenOnPhone: true, cell: ({ method }) => method },
  {
    id: 'status',
    header: 'Status',
    width: 84,
    cell: ({ status }) => <StatusBadge tone={toneOfStatus(status)}>{status}</StatusBadge>,
  },
  { id: 'error', header: 'Error', isHiddenOnPhone: true, cell: ({ error }) => error && <span title={error}>{error}</span> },
  {
    id: 'duration',
    header: 'Duration',
    width: 92,
    align: 'right',
    isHiddenOnPhone: true,
    cell: ({ duration_ms }) => `${duration_ms} ms`,
  },
  {
    id: 'by',
    header: 'By',
    width: 172,
    isHiddenOnPhone: true,
    cell: ({ key_id, member_id }) => (
      <span title={member_id ?? key_id}>{member_id ? `member ${shortId(member_id)}` : `key ${shortId(key_id)}`}</span>
    ),
  },
  { id: 'at', header: 'Time', width: 96, cell: ({ at }) => <SystemTime value={at} /> },
]
const rowId = ({ id }: LoggedRequest): string => id

const SPANS = [
  { label: '1 hour', value: '1' },
  { label: '24 hours', value: '24' },
  { label: '7 days', value: '168' },
  { label: '30 days', value: '720' },
]

/** The requests of the team: how many over time, and one by one. */
export function RequestsPage() {
  const { pathTo, environment } = useTeam()
  const [filters, setFilters] = useFilters(REQUEST_FIELDS)
  const [isLive, setLive] = useState(true)
  const query = useMemo(() => toRequestQuery(filters), [filters])
  const requests = useRequests(query, isLive)
  const rows = useMemo(() => requests.data?.pages.flatMap(({ data }) => data) ?? [], [requests.data])
  return (
    <Page title="Requests" actions={<CodeSamples request={{ method: 'GET', path: '/console/v1/requests', query }} />}>
      <RequestTabs />
      <Stack gap="sm">
        <Histogram filters={filters} onChange={setFilters} isLive={isLive} />
        <FilterBar fields={REQUEST_FIELDS} filters={filters} onChange={setFilters} />
        <Group justify="space-between">
          <Switch
            size="sm"
            label="Show new requests as they come"
            checked={isLive}
            onChange={(event) => setLive(event.currentTarget.checked)}
          />
          <Text size="sm" c="dimmed">
            {rows.length} loaded{environment === 'production' && ', without bodies'}
          </Text>
        </Group>
        {requests.error && <ErrorNotice error={requests.error} onRetry={() => void requests.refetch()} />}
        {!requests.data && !requests.error && (
          <Delayed>
            <Skeleton height={320} />
          </Delayed>
        )}
        {requests.data && rows.length === 0 && <NoRequests isFiltered={filters.length > 0} />}
        {rows.length > 0 && (
          <DataTable
            label="Requests"
            columns={COLUMNS}
            rows={rows}
            rowId={rowId}
            rowPath={({ id }) => pathTo(`requests/${encodeURIComponent(id)}`)}
            onLoadMore={requests.hasNextPage ? () => void requests.fetchNextPage() : undefined}
            isLoadingMore={requests.isFetchingNextPage}
          />
        )}
      </Stack>
    </Page>
  )
}

const NoRequests = ({ isFiltered }: { isFiltered: boolean }) => (
  <EmptyState
    title={isFiltered ? 'No request matches' : 'No requests yet'}
    {...(!isFiltered && { command: `curl -H "x-service-api-key: $KEY" ${location.origin}/v3/lab_tests` })}
  >
    {isFiltered
      ? 'Remove a filter, or choose a longer time.'
      : 'Each request with a key of the team appears here, with its operation, status and duration.'}
  </EmptyState>
)

interface HistogramProps {
  filters: readonly Filter[]
  onChange: (filters: Filter[]) => void
  isLive: boolean
}

/** The histogram of the time in the address, which dragging and the buttons change. */
function Histogram({ filters, onChange, isLive }: HistogramProps) {
  const { since, until } = toRequestQuery(filters)
  const counts = useRequestCounts({ since, until }, isLive && until === undefined)
  const others = filters.filter(({ name }) => name !== 'since' && name !== 'until')
  const show = (span: Partial<TimeSpan>): void =>
    onChange([
      ...others,
      ...(['since', 'until'] as const).flatMap((name) =>
        span[name] === undefined ? [] : [{ name, value: toSeconds(span[name]) }],
      ),
    ])
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <SegmentedControl
          size="xs"
          data={SPANS}
          value={since === undefined ? '24' : ''}
          onChange={(hours) => show({ since: new Date(Date.now() - Number(hours) * 3_600_000).toISOString() })}
          aria-label="Time of the requests"
        />
        {(since !== undefined || until !== undefined) && (
          <Button size="compact-sm" variant="subtle" onClick={() => show({})}>
            All of the last 24 hours
          </Button>
        )}
      </Group>
      {counts.error && <ErrorNotice error={counts.error} onRetry={() => void counts.refetch()} />}
      {!counts.data && !counts.error && (
        <Delayed>
          <Skeleton height={180} />
        </Delayed>
      )}
      {counts.data && <RequestHistogram counts={counts.data} onZoom={show} />}
      <Text size="xs" c="dimmed">
        The bars count all requests, also those that {others.length > 0 && 'the filters hide and '}the list of a busy team leaves
        out.
      </Text>
    </Stack>
  )
}

/** An instant without fractions of a second. */
const toSeconds = (instant: string): string => `${new Date(instant).toISOString().slice(0, 19)}Z`
