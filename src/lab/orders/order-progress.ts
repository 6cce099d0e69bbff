// How far an order has come in the lifecycle of its collection method: what it has passed, where it is, what is expected, what may follow.
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { notDeleted } from '../../people/users/users.ts'
import { lifecycleOf } from './lifecycle.ts'
import type { Order, OrderProgress } from './schema.ts'
import {
  nextStatuses,
  publishedStatus,
  shortestPath,
  toLowLevelStatus,
  type Lifecycle,
  type TopLevelStatus,
} from './status-machine.ts'

const Row = T.Object({ document: T.String(), lifecycle_name: T.String(), low_level_status: T.String() })

/**
 * Returns the steps of an order: the statuses that it has had, the present one, and those that are expected on the shortest way to
 * `completed`. Nothing is expected of an order that has failed or was cancelled. Errors: 404 the team has no such order.
 */
export async function readProgress(tx: Tx, id: string): Promise<OrderProgress> {
  const row = await tx.maybe(
    Row,
    sql`
    select document, lifecycle_name, low_level_status from lab_order
    where team_id = ${tx.team} and id = ${id} and ${notDeleted(tx, sql`user_id`)}`,
  )
  if (!row) throw notFound("This order doesn't exist.")
  const order = JSON.parse(row.document) as Order
  tx.concerns(order.user_id)
  const lifecycle = lifecycleOf(row.lifecycle_name)
  return {
    lifecycle: row.lifecycle_name,
    steps: listSteps(lifecycle, order, row.low_level_status),
    next: listNextStatuses(lifecycle, row.low_level_status),
  }
}

const TARGET = 'completed'

function listSteps(lifecycle: Lifecycle, { events }: Order, status: string): OrderProgress['steps'] {
  // An event that changes only the detail of the status is not a step.
  const reachedEvents = events.filter((event, index) => event.status !== events[index - 1]?.status)
  const passed = reachedEvents.map((event, index) => ({
    ...readPublishedStatus(event.status),
    phase: index === reachedEvents.length - 1 ? ('current' as const) : ('passed' as const),
    reached_at: event.created_at,
  }))
  const expected = isEnded(lifecycle, status) ? [] : (shortestPath(lifecycle, status, TARGET) ?? [])
  return [
    ...passed,
    ...expected.map((low_level_status) => ({
      low_level_status,
      state: lifecycle.steps[low_level_status]![0],
      phase: 'expected' as const,
      reached_at: null,
    })),
  ]
}

/** A completed report may still be corrected: nothing more is expected of it. */
const isEnded = (lifecycle: Lifecycle, status: string): boolean =>
  ['completed', 'cancelled', 'failed'].includes(lifecycle.steps[status]![0])

const listNextStatuses = (lifecycle: Lifecycle, status: string): OrderProgress['next'] =>
  nextStatuses(lifecycle, status).map((low_level_status) => ({
    low_level_status,
    state: lifecycle.steps[low_level_status]![0],
    published_status: publishedStatus(lifecycle, low_level_status),
  }))

/** The parts of `<top-level>.<method>.<low-level>`. */
function readPublishedStatus(text: string): Pick<OrderProgress['steps'][number], 'low_level_status' | 'state'> {
  const [state, , low = ''] = text.split('.')
  return { low_level_status: toLowLevelStatus(low), state: state as TopLevelStatus }
}
