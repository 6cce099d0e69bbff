// Reading, scheduling and cancelling orders. Owns lab_order. Does not import kits, appointments or results: these modules write their part of an
// order through `updateOrder`.
import { utcDate } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, invalidField, notFound } from '../../platform/http/errors.ts'
import { PreserializedJson } from '../../platform/http/operation.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { countRows } from '../../platform/db/list-counts.ts'
import { raw, sql } from '../../platform/db/sql.ts'
import { countUsers, notDeleted, notDeletedHere } from '../../people/users/users.ts'
import { activationTime, scheduleDispatch } from './send-to-lab.ts'
import { cancelAsked, orderRescheduled, ordersErased } from './order-hooks.ts'
import { updateOrder } from './change-order.ts'
import type { Order, OrderReply, TeamMetrics } from './schema.ts'
import { cancelNotAllowed } from './locked-order.ts'
import { countOrders } from './list-orders.ts'

const OrderDocument = T.Object({ document: T.String() })

/** Reads an order as JSON text. The text names the user of the order. Errors: 404 the team has no such order, or its user is deleted. */
export async function readOrder(tx: Tx, id: string): Promise<string> {
  const row = await tx.lookup(
    OrderDocument,
    sql`select document from lab_order where id = ${id} and team_id = ${tx.team} and ${notDeletedHere(tx, sql`user_id`)}`,
  )
  if (!row) throw notFound("This order doesn't exist.")
  return row.document
}

/** Reads an order. Errors: 404 the team has no such order, or its user is deleted. */
export async function getOrder(tx: Tx, id: string): Promise<Order> {
  const order = JSON.parse(await readOrder(tx, id)) as Order
  tx.concerns(order.user_id)
  return order
}

/** The response of every operation that returns a changed order. */
export const toOrderReply = (document: string, message: string): PreserializedJson<OrderReply> =>
  new PreserializedJson(`{"order":${document},"status":"success","message":${JSON.stringify(message)}}`)

const Id = T.Object({ id: T.String() })
const Owned = T.Object({ user_id: T.String() })

/** Whether the team has this order and its user is not deleted. */
export async function hasOrder(tx: Tx, id: string): Promise<boolean> {
  const row = await tx.maybe(
    Owned,
    sql`select user_id from lab_order where team_id = ${tx.team} and id = ${id} and ${notDeleted(tx, sql`user_id`)}`,
  )
  if (row) tx.concerns(row.user_id)
  return row !== undefined
}

/** The barcode of an order as it is compared: in capitals, without spaces and hyphens. */
const comparedCode = sql`translate(upper(sample_id), E'- \\t\\n\\r\\f\\x0b', '')`

/**
 * Finds the team's kit order with this barcode, without orders of deleted users. People type the barcode from the box: case, spaces and
 * hyphens are ignored. If several orders match, returns the one with exactly this code, else the newest. Barcodes that are stored as they
 * are compared are found by the index of sample ids, others by one of their own, through a view, because the table's policy prevents use of
 * that index (docs/decisions/row-security.md).
 */
export async function findKitBySample(tx: Tx, sample_id: string): Promise<string | undefined> {
  const code = sample_id.replace(/[\s\p{Pd}]/gu, '')
  const kits = (table: string) => sql`
    select id, user_id, lifecycle_name, sample_id, created_at from ${raw(table)} where team_id = ${tx.team} and method = 'testkit'`
  const row = await tx.maybe(
    Id,
    sql`
    with kits as materialized (
      ${kits('lab_order')} and sample_id = upper(${code})
      union all
      ${kits('lab_order_of_team')} and sample_id is not null and ${comparedCode} = upper(${code}) and sample_id <> ${comparedCode})
    select id from kits where ${notDeleted(tx, sql`user_id`)}
    order by lifecycle_name <> 'registrable_testkit', sample_id <> ${sample_id.trim()}, created_at desc, id limit 1`,
  )
  return row?.id
}

/**
 * Changes or clears the date of a scheduled order. Writes lab_order. Queues orders.dispatch if the lab's link has to be informed, and the
 * jobs of the hooks. Emits no event, because the status does not change.
 * Errors: 400 the order was not scheduled at creation, has already advanced, or the date is past; 404 unknown order.
 * Source: lab-testing.md 6.3.
 */
export async function rescheduleOrder(tx: Tx, id: string, activate_by: string | null): Promise<PreserializedJson<OrderReply>> {
  const document = await updateOrder(tx, id, async (lockedOrder) => {
    if (lockedOrder.lowLevelStatus !== 'ordered' && lockedOrder.lowLevelStatus !== 'awaiting_registration')
      throw badRequest(`An order in status ${lockedOrder.lowLevelStatus} can no longer be scheduled`)
    if (!lockedOrder.internalData.scheduled)
      throw badRequest('An order created for immediate processing cannot be scheduled afterwards')
    if (activate_by !== null && activate_by < utcDate(tx.now)) throw badRequest('activate_by must not be in the past')
    lockedOrder.order.activate_by = activate_by
    await scheduleDispatch(tx, lockedOrder.order, activationTime(tx, activate_by))
    await tx.notify(orderRescheduled, lockedOrder)
  })
  return toOrderReply(document, 'order updated')
}

/**
 * Cancels an order if its lifecycle allows it. An order that the laboratory may have is cancelled when the laboratory confirms it, if the
 * link of its account says so (`cancelAsked`); until then it keeps its status. Source: lab-testing.md 11. Writes lab_order. Emits
 * labtest.order.updated.
 * Errors: 400 the order can no longer be cancelled (the body has only `error`, `message` and `status_code`); 404 unknown order.
 */
export async function cancelOrder(tx: Tx, id: string): Promise<PreserializedJson<OrderReply>> {
  const answer = { isPending: false }
  const document = await updateOrder(
    tx,
    id,
    async (lockedOrder) => {
      if (!lockedOrder.canTransitionTo('cancelled')) throw cancelNotAllowed(lockedOrder.lowLevelStatus)
      await tx.notify(cancelAsked, lockedOrder, answer)
      if (!answer.isPending) lockedOrder.transitionTo('cancelled')
    },
    "Order doesn't exist",
  )
  return toOrderReply(
    document,
    answer.isPending ? 'The laboratory has been asked to cancel the order' : 'Order cancelled successfully',
  )
}

/**
 * Records that the customer's own staff have taken the sample of an on-site order now. Source: lab-testing.md 20. Writes lab_order. Emits
 * labtest.order.updated.
 * Errors: 400 another collection method, no requisition yet, or already drawn; 404 unknown order.
 */
export async function completeDraw(tx: Tx, id: string): Promise<PreserializedJson<OrderReply>> {
  const document = await updateOrder(tx, id, (lockedOrder) => {
    if (lockedOrder.lifecycle !== 'on_site_collection')
      throw badRequest(`Transition from ${lockedOrder.lowLevelStatus} to draw_completed is not allowed`)
    lockedOrder.transitionTo('draw_completed')
  })
  return toOrderReply(document, 'order updated')
}

/** Counts the connections of a team. They belong to a domain that this one does not know. */
export type CountConnections = (tx: Tx) => Promise<{
  connected_count: number
  errored_count: number
  weeks: Static<typeof TeamMetrics>['number_of_connected_sources_by_week']
}>

/** Counts of a team's users, connections and orders. */
export async function teamMetrics(tx: Tx, countConnections: CountConnections): Promise<Static<typeof TeamMetrics>> {
  const [users, orders, { connected_count, errored_count, weeks }] = await Promise.all([
    countUsers(tx),
    countOrders(tx),
    countConnections(tx),
  ])
  return {
    team_id: tx.team,
    number_of_connected_sources: connected_count,
    number_of_users: users,
    number_of_errored_connected_sources: errored_count,
    number_of_connected_sources_by_week: weeks,
    number_of_ordered_tests: orders,
  }
}

const Erased = T.Object({ id: T.String() })

/** Erases the orders of a deleted user after the grace period. Writes lab_order, list_count. */
export async function eraseOrders(tx: Tx, user_id: string): Promise<void> {
  const erased = await tx.many(
    Erased,
    sql`delete from lab_order where user_id = ${user_id} and team_id = ${tx.team} returning id`,
  )
  if (erased.length === 0) return
  countRows(tx, 'orders', -erased.length)
  await tx.notify(
    ordersErased,
    erased.map(({ id }) => id),
  )
}

/** Constraints of this module's tables and the error for each violation. */
export const orderConstraints = {
  lab_order__sample_id: () => invalidField(['body', 'sample_id'], 'is already used by another order at the laboratory'),
}
