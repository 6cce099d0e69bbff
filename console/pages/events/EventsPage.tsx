import { Group, Skeleton, Stack, Switch, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { DataTable } from '../../components/data-table/DataTable.tsx'
import type { Column } from '../../components/data-table/columns.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { DeliverySummary } from '../../components/DeliverySummary.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { FilterBar } from '../../components/FilterBar.tsx'
import { useFilters } from '../../components/filters.ts'
import { shortId } from '../../components/IdText.tsx'
import { Page } from '../../components/Page.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { useTeam } from '../../session/team.ts'
import { EventTabs } from './EventTabs.tsx'
import { EVENT_FIELDS, toEventQuery, useEvents, type EventRow } from './events-query.ts'

const COLUMNS: readonly Column<EventRow>[] = [
  { id: 'type', header: 'Event', cell: ({ type }) => type },
  { id: 'delivery', header: 'Delivery', width: 148, cell: ({ deliveries }) => <DeliverySummary deliveries={deliveries} /> },
  {
    id: 'object',
    header: 'Object',
    width: 108,
    isHiddenOnPhone: true,
    cell: ({ object_id }) => <span title={object_id}>{shortId(object_id)}</span>,
  },
  {
    id: 'created',
    header: 'Created',
    width: 104,
    isHiddenOnPhone: true,
    cell: ({ created_at }) => <RelativeTime value={created_at} />,
  },
]
const rowId = ({ id }: EventRow): string => id

/** The events of the team, newest first, as they come. */
export function EventsPage() {
  const { pathTo } = useTeam()
  const [filters, setFilters] = useFilters(EVENT_FIELDS)
  const [isLive, setLive] = useState(true)
  const query = useMemo(() => toEventQuery(filters), [filters])
  const events = useEvents(query, isLive)
  const rows = useMemo(() => events.data?.pages.flatMap(({ data }) => data) ?? [], [events.data])
  return (
    <Page title="Events" actions={<CodeSamples request={{ method: 'GET', path: '/v1/events' }} />}>
      <EventTabs />
      <Stack gap="sm">
        <FilterBar fields={EVENT_FIELDS} filters={filters} onChange={setFilters} />
        <Group justify="space-between">
          <Switch
            size="sm"
            label="Show new events as they come"
            checked={isLive}
            onChange={(event) => setLive(event.currentTarget.checked)}
          />
          <Text size="sm" c="dimmed">
            {rows.length} loaded
          </Text>
        </Group>
        {events.error && <ErrorNotice error={events.error} onRetry={() => void events.refetch()} />}
        {!events.data && !events.error && (
          <Delayed>
            <Skeleton height={320} />
          </Delayed>
        )}
        {events.data && rows.length === 0 && (
          <EmptyState title={filters.length ? 'No event matches' : 'No events yet'}>
            {filters.length
              ? 'Remove a filter to see more events.'
              : 'Every change of an order, a user or a connection is an event. They appear here also without an endpoint.'}
          </EmptyState>
        )}
        {rows.length > 0 && (
          <DataTable
            label="Events"
            columns={COLUMNS}
            rows={rows}
            rowId={rowId}
            rowPath={({ id }) => pathTo(`events/${id}`)}
            onLoadMore={events.hasNextPage ? () => void events.fetchNextPage() : undefined}
            isLoadingMore={events.isFetchingNextPage}
          />
        )}
      </Stack>
    </Page>
  )
}
