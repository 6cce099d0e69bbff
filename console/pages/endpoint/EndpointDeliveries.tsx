import { Group, Select, Skeleton, Stack, Title } from '@mantine/core'
import { useMemo } from 'react'
import { useSearchParams } from 'react-router'
import { DataTable } from '../../components/data-table/DataTable.tsx'
import type { Column } from '../../components/data-table/columns.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { toWords } from '../../components/order-status.ts'
import { RelativeTime, SystemTime } from '../../components/RelativeTime.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { useTeam } from '../../session/team.ts'
import { useEndpointMessages, type EndpointMessage } from './endpoint-actions.ts'

const TONES = { pending: 'progress', delivered: 'good', failed: 'failed', stopped: 'failed' } as const
const STATES = Object.keys(TONES) as (keyof typeof TONES)[]

const COLUMNS: readonly Column<EndpointMessage>[] = [
  {
    id: 'type',
    header: 'Message',
    cell: ({ event_type, event_id }) => (event_id === null ? `${event_type} (no event)` : event_type),
  },
  {
    id: 'state',
    header: 'State',
    width: 116,
    cell: ({ state }) => <StatusBadge tone={TONES[state]}>{toWords(state)}</StatusBadge>,
  },
  { id: 'attempts', header: 'Attempts', width: 84, align: 'right', isHiddenOnPhone: true, cell: ({ attempts }) => attempts },
  {
    id: 'next',
    header: 'Next',
    width: 96,
    isHiddenOnPhone: true,
    cell: ({ next_attempt_at }) => next_attempt_at !== null && <SystemTime value={next_attempt_at} />,
  },
  {
    id: 'created',
    header: 'Created',
    width: 104,
    isHiddenOnPhone: true,
    cell: ({ created_at }) => <RelativeTime value={created_at} />,
  },
]
const rowId = ({ id }: EndpointMessage): string => id

/** What was sent to the endpoint, newest first. An event opens with its attempts. */
export function EndpointDeliveries({ webhook_id }: { webhook_id: string }) {
  const { pathTo } = useTeam()
  const [params, setParams] = useSearchParams()
  const state = STATES.find((candidate) => candidate === params.get('state'))
  const messages = useEndpointMessages(webhook_id, state)
  const rows = useMemo(() => messages.data?.pages.flatMap(({ data }) => data) ?? [], [messages.data])
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={2}>Deliveries</Title>
        <Select
          aria-label="State of the deliveries"
          placeholder="Every state"
          w={160}
          clearable
          data={STATES.map((value) => ({ value, label: toWords(value) }))}
          value={state ?? null}
          onChange={(next) =>
            setParams((previous) => {
              const changed = new URLSearchParams(previous)
              if (next) changed.set('state', next)
              else changed.delete('state')
              return changed
            })
          }
        />
      </Group>
      {messages.error && <ErrorNotice error={messages.error} onRetry={() => void messages.refetch()} />}
      {!messages.data && !messages.error && (
        <Delayed>
          <Skeleton height={240} />
        </Delayed>
      )}
      {messages.data && !rows.length && (
        <EmptyState title={state ? 'No delivery is in this state' : 'Nothing was sent yet'}>
          {state
            ? 'Choose another state to see more deliveries.'
            : 'Events that happen from now on appear here, and so do examples. Replay sends events from before.'}
        </EmptyState>
      )}
      {rows.length > 0 && (
        <DataTable
          label="Deliveries"
          columns={COLUMNS}
          rows={rows}
          rowId={rowId}
          rowPath={({ event_id }) => (event_id === null ? undefined : pathTo(`events/${event_id}`))}
          onLoadMore={messages.hasNextPage ? () => void messages.fetchNextPage() : undefined}
          isLoadingMore={messages.isFetchingNextPage}
        />
      )}
    </Stack>
  )
}
