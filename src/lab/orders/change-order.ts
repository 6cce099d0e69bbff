// How an order is changed: it is locked with the others of its transaction, worked on, its hooks run, and written back.
import { notFound } from '../../platform/http/errors.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { notifySteps } from './order-hooks.ts'
import type { LifecycleName } from './lifecycle.ts'
import { eventIds, LockedOrder, type InternalData } from './open-order.ts'
import type { Order } from './schema.ts'

const LockedRow = T.Object({
  id: T.String(),
  document: T.String(),
  intake: T.String(),
  lifecycle: T.String(),
  low_status: T.String(),
  client_user_id: T.String(),
  user_deleted: T.Boolean(),
})
type LockedRow = Static<typeof LockedRow>

/** The most steps an order takes in one transaction. */
const STEPS_MAX = 6

/**
 * Lock an order for this transaction, for somebody who asks for it. What is changed is lost unless `update` is called.
 * 404: the team has no such order, or its user is deleted.
 */
export async function lockOrder(tx: Tx, id: string, missing = "This order doesn't exist."): Promise<LockedOrder> {
  const open = await findAndLockOrder(tx, id)
  if (!open || open.isHidden) throw notFound(missing)
  return open
}

/**
 * As `lockOrder`, for an order that may not be there, and for what happens to orders by itself, whether their users are deleted or not.
 * It is locked before its user is looked up: who waited for the lock must meet the user whom the order has been bound to meanwhile.
 */
export async function findAndLockOrder(tx: Tx, id: string): Promise<LockedOrder | undefined> {
  const rows = await lockTransaction(tx, id)
  const row = rows.find((found) => found.id === id)
  if (!row) return undefined
  const order = JSON.parse(row.document) as Order
  tx.concerns(order.user_id, order.id)
  return new LockedOrder(tx, {
    order,
    intake: JSON.parse(row.intake) as InternalData,
    lifecycle: row.lifecycle as LifecycleName,
    lowStatus: row.low_status,
    client_user_id: row.client_user_id,
    user_deleted: row.user_deleted,
    ids: await eventIds(tx, STEPS_MAX, order.last_event.id),
    siblings: rows.filter((other) => other !== row).map(({ document }) => JSON.parse(document) as Order),
  })
}

/**
 * All orders of an order's transaction, locked in one order of theirs, so that two that change different ones of them do not block
 * each other for ever. Read again when one was added while we waited for the locks: the statement had not seen it.
 */
async function lockTransaction(tx: Tx, id: string): Promise<LockedRow[]> {
  for (let again = false; ; again = true) {
    const rows = await tx.locking.many(
      LockedRow,
      sql`
      with o as materialized (
        select id, document, intake, lifecycle, low_status, user_id
        from lab_order
        where team_id = ${tx.team} and transaction_id = (select transaction_id from lab_order where id = ${id} and team_id = ${tx.team})
        order by id for update)
      select o.id, o.document, o.intake, o.lifecycle, o.low_status, u.client_user_id,
             u.deleted_at is not null as user_deleted
      from o join "user" u on u.id = o.user_id`,
    )
    const row = rows.find((found) => found.id === id)
    const members = row && (JSON.parse(row.document) as Order).order_transaction.orders.length
    if (members === undefined || members <= rows.length || again) return rows
  }
}

/**
 * Lock an order, let `change` work on it, write it back. Writes lab_order; emits what `change` emits.
 * 404: the team has no such order, or its user is deleted.
 * @returns the order as JSON text
 */
export async function updateOrder(
  tx: Tx,
  id: string,
  change: (open: LockedOrder) => void | Promise<void>,
  missing?: string,
): Promise<string> {
  const open = await lockOrder(tx, id, missing)
  await change(open)
  return saveOrder(tx, open)
}

/** Run the hooks on what happened to an order, and write it back. */
export async function saveOrder(tx: Tx, open: LockedOrder): Promise<string> {
  await notifySteps(tx, open)
  return open.update()
}
