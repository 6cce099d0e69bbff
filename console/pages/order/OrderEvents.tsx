import { EmptyState } from '../../components/EmptyState.tsx'
import { DataTable } from '../../components/data-table/DataTable.tsx'
import type { Column } from '../../components/data-table/columns.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { useTeam } from '../../session/team.ts'
import type { EventRow } from './order-queries.ts'

const COLUMNS: readonly Column<EventRow>[] = [
  { id: 'type', header: 'Event', cell: ({ type }) => type },
  { id: 'delivered', header: 'Delivered', width: 92, align: 'right', cell: ({ deliveries }) => deliveries.delivered },
  { id: 'pending', header: 'Pending', width: 84, align: 'right', cell: ({ deliveries }) => deliveries.pending },
  { id: 'failed', header: 'Failed', width: 76, align: 'right', cell: ({ deliveries }) => deliveries.failed + deliveries.stopped },
  { id: 'created', header: 'Created', width: 104, cell: ({ created_at }) => <RelativeTime value={created_at} /> },
]
const rowId = ({ id }: EventRow): string => id

/** The events about the order, newest first. */
export function OrderEvents({ events }: { events: readonly EventRow[] }) {
  const { pathTo } = useTeam()
  if (!events.length)
    return <EmptyState title="No events">Events appear here when the order changes, also without an endpoint.</EmptyState>
  return <DataTable label="Events" columns={COLUMNS} rows={events} rowId={rowId} rowPath={({ id }) => pathTo(`events/${id}`)} />
}
