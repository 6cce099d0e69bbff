// Orders: reading and scheduling them. Owns lab_order; never knows what a kit, an appointment or a result is: their owners write what
// an order shows of them through `updateOrder`.
import { utcDate } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, invalidField, notFound } from '../../platform/http/errors.ts'
import { PreserializedJson } from '../../platform/http/operation.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { notDeleted, notDeletedHere } from '../../people/users/users.ts'
import { activationTime, scheduleDispatch } from './send-to-lab.ts'
import { orderRescheduled } from './order-hooks.ts'
import { updateOrder } from './change-order.ts'
import type { Order, OrderReply } from './schema.ts'

const DocumentRow = T.Object({ document: T.String() })

/**
 * Read an order as JSON text. 404: the team has no such order, or its user is deleted. Whose it is the text says, which the answer has.
 */
export async function readOrder(tx: Tx, id: string, missing = "This order doesn't exist."): Promise<string> {
  const row = await tx.lookup(
    DocumentRow,
    sql`
    select document from lab_order where id = ${id} and team_id = ${tx.team} and ${notDeletedHere(tx, sql`user_id`)}`,
  )
  if (!row) throw notFound(missing)
  return row.document
}

/** Read an order. 404: the team has no such order, or its user is deleted. */
export async function getOrder(tx: Tx, id: string, missing?: string): Promise<Order> {
  const order = JSON.parse(await readOrder(tx, id, missing)) as Order
  tx.concerns(order.user_id)
  return order
}

/** The reply of every operation that answers with a changed order. */
export const toOrderReply = (document: string, message: string): PreserializedJson<OrderReply> =>
  new PreserializedJson(`{"order":${document},"status":"success","message":${JSON.stringify(message)}}`)

const Id = T.Object({ id: T.String() })
const Owned = T.Object({ user_id: T.String() })

/** Whether the team has such an order, of a user who is not deleted. */
export async function hasOrder(tx: Tx, id: string): Promise<boolean> {
  const row = await tx.maybe(
    Owned,
    sql`select user_id from lab_order where team_id = ${tx.team} and id = ${id} and ${notDeleted(tx, sql`user_id`)}`,
  )
  if (row) tx.concerns(row.user_id)
  return row !== undefined
}

/**
 * The order of a user who is not deleted that is a kit with this barcode, within the team. People type it from the box: case, blanks and
 * hyphens do not count. Should there be several, the one with exactly this code is taken, then the newest. They are found first, in a view,
 * since the policy of the table keeps the index of codes from use (docs/decisions/row-security.md).
 */
export async function findKitBySample(tx: Tx, sample_id: string): Promise<string | undefined> {
  const code = sample_id.replace(/[\s\p{Pd}]/gu, '')
  const row = await tx.maybe(
    Id,
    sql`
    with kits as materialized (
      select id, user_id, lifecycle, sample_id, created_at from lab_order_of_team
      where translate(upper(sample_id), E'- \\t\\n\\r\\f\\x0b', '') = upper(${code}) and sample_id is not null
        and team_id = ${tx.team} and method = 'testkit')
    select id from kits where ${notDeleted(tx, sql`user_id`)}
    order by lifecycle <> 'registrable_testkit', sample_id <> ${sample_id.trim()}, created_at desc, id limit 1`,
  )
  return row?.id
}

/**
 * Change or clear the date of a scheduled order. Writes lab_order. Queues orders.dispatch where somebody has to be told, and what hooks queue. No event: nothing happened to the order.
 * 400: the order was not created for a date, or has gone on, or the date is past. 404: no such order.
 * Source: lab-testing.md 6.3.
 */
export async function rescheduleOrder(tx: Tx, id: string, activate_by: string | null): Promise<PreserializedJson<OrderReply>> {
  const document = await updateOrder(tx, id, async (open) => {
    if (open.lowLevelStatus !== 'ordered' && open.lowLevelStatus !== 'awaiting_registration')
      throw badRequest(`An order in status ${open.lowLevelStatus} can no longer be scheduled`)
    if (!open.internalData.scheduled) throw badRequest('An order created for immediate processing cannot be scheduled afterwards')
    if (activate_by !== null && activate_by < utcDate(tx.now)) throw badRequest('activate_by must not be in the past')
    open.order.activate_by = activate_by
    scheduleDispatch(tx, open.order, activationTime(tx, activate_by))
    await tx.notify(orderRescheduled, open)
  })
  return toOrderReply(document, 'order updated')
}

/** Constraints of this module's tables and what violating them answers. */
export const constraints = {
  lab_order__sample_id: () => invalidField(['body', 'sample_id'], 'is already used by another order at the laboratory'),
}
