import { Anchor, Text } from '@mantine/core'
import { Link } from 'react-router'
import { DeliverySummary } from '../../components/DeliverySummary.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { toneOfOrder, toWords, type OrderState } from '../../components/order-status.ts'
import { useTeam } from '../../session/team.ts'
import type { EventRow, Order } from './order-queries.ts'
import classes from './OrderHistory.module.css'

type Entry = { time: string; rank: number } & ({ status: Order['events'][number] } | { event: EventRow })

/** What happened to the order, newest first: its statuses, and the events that were sent about them. */
export function OrderHistory({ order, events }: { order: Order; events: readonly EventRow[] }) {
  const entries: Entry[] = [
    ...events.map((event, rank) => ({ time: event.created_at, rank, event })),
    ...order.events.toReversed().map((status, rank) => ({ time: status.created_at, rank, status })),
    // Times have whole seconds: of one second, each status stands below its event.
  ].toSorted((a, b) => Date.parse(b.time) - Date.parse(a.time) || a.rank - b.rank)
  return (
    <ol className={classes.history}>
      {entries.map((entry) => (
        <li key={'event' in entry ? entry.event.id : `status ${entry.status.id}`} className={classes.entry}>
          <span className={classes.time}>
            <RelativeTime value={entry.time} />
          </span>
          {'event' in entry ? <SentEvent event={entry.event} /> : <ReachedStatus status={entry.status} />}
        </li>
      ))}
    </ol>
  )
}

function ReachedStatus({ status: { status, status_detail } }: { status: Order['events'][number] }) {
  const [state, , low = ''] = status.split('.')
  return (
    <span>
      <StatusBadge tone={toneOfOrder(state as OrderState, low)}>{toWords(low)}</StatusBadge>
      {status_detail !== null && (
        <Text span size="sm" c="dimmed">
          {' '}
          {toWords(status_detail)}
        </Text>
      )}
    </span>
  )
}

function SentEvent({ event: { id, type, deliveries } }: { event: EventRow }) {
  const { pathTo } = useTeam()
  return (
    <span>
      <Anchor component={Link} to={pathTo(`events/${id}`)} size="sm">
        {type}
      </Anchor>{' '}
      <DeliverySummary deliveries={deliveries} />
    </span>
  )
}
