// Dispatching an order to its laboratory, after the commit and not before its date. Source: lab-testing.md 6.2, 6.3.
import { labLinkFor } from '../links/links.ts'
import { utcDate, addSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { enqueue, enqueueAgain, defineHandler, defineJob } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { notDeleted } from '../../people/users/users.ts'
import { updateOrder } from './change-order.ts'
import type { Order } from './schema.ts'

/** When a scheduled order is dispatched: at the start of its day, in UTC. An order for today is dispatched at once. */
export const activationTime = (tx: Tx, activate_by: string | null | undefined): Date =>
  activate_by && activate_by > utcDate(tx.now) ? new Date(`${activate_by}T00:00:00Z`) : tx.now

const dispatchOrder = defineJob('orders.dispatch', T.Object({ order_id: T.String(), lab_slug: T.String() }))

/**
 * Schedules the dispatch of an order. Called when the order is placed and whenever its date changes.
 * Queues orders.dispatch, unless the laboratory's link needs no dispatch.
 */
export function scheduleDispatch(tx: Tx, order: Order, time: Date): void {
  const lab_slug = order.lab_test.lab!.slug
  const link = labLinkFor(tx.tenant, lab_slug)
  if (!link || link.place) enqueue(tx, dispatchOrder, { order_id: order.id, lab_slug }, time)
}

const Row = T.Object({ document: T.String(), hidden: T.Boolean() })
/** Delay before the order of a deleted user is checked again. */
const HIDDEN_S = 86_400
const PRE_DISPATCH_STATUSES = ['ordered', 'awaiting_registration']

/**
 * Passes the order to its laboratory's link. Without a link the order keeps its status and shows the failure: one more event of the same
 * status with the detail `fulfillment_error`. An order of a deleted user waits; this queues orders.dispatch again.
 */
export const dispatchHandler = defineHandler(dispatchOrder, async (context, { order_id, lab_slug }) => {
  const link = labLinkFor(context.tenant, lab_slug)
  const order = await context.tx(async (tx) => {
    const due = await findDueOrder(tx, order_id)
    if (!due?.hidden) return due?.order
    // Nothing is dispatched for a deleted user. The order goes out within a day after the deletion is undone; erasing the user ends the
    // retries.
    enqueueAgain(tx, dispatchOrder, { order_id, lab_slug }, addSeconds(tx.now, HIDDEN_S))
    return undefined
  })
  if (!order) return
  if (link) return link.place?.({ reference: order.id, lab_slug, kind: order.patient_details ? 'requisition' : 'kit' })
  await context.tx((tx) =>
    updateOrder(tx, order_id, (lockedOrder) => {
      if (PRE_DISPATCH_STATUSES.includes(lockedOrder.lowLevelStatus) && lockedOrder.order.last_event.status_detail === null)
        lockedOrder.setStatusDetail('fulfillment_error')
    }),
  )
})

/** Returns the order if it awaits dispatch and its date has come, with whether its user is deleted. */
async function findDueOrder(tx: Tx, order_id: string): Promise<{ order: Order; hidden: boolean } | undefined> {
  const row = await tx.maybe(
    Row,
    sql`
    select document, not ${notDeleted(tx, sql`user_id`)} as hidden from lab_order
    where id = ${order_id} and team_id = ${tx.team} and low_level_status = any (${PRE_DISPATCH_STATUSES}) and (activate_by is null or activate_by <= ${utcDate(tx.now)})`,
  )
  return row && { order: JSON.parse(row.document) as Order, hidden: row.hidden }
}
