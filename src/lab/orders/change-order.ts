// Changing an order: locks the order together with the other orders of its transaction, applies the change, runs the hooks and writes the
// order.
import { notFound } from '../../platform/http/errors.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { notifySteps } from './order-hooks.ts'
import type { LifecycleName } from './lifecycle.ts'
import { eventIds, LockedOrder, type InternalData } from './locked-order.ts'
import type { Order } from './schema.ts'

const LockedRow = T.Object({
  id: T.String(),
  document: T.String(),
  internal_data: T.String(),
  lifecycle_name: T.String(),
  low_level_status: T.String(),
  client_user_id: T.String(),
  user_deleted: T.Boolean(),
})
type LockedRow = Static<typeof LockedRow>

/** Maximum number of status transitions of an order in one transaction. */
const STEPS_MAX = 6

/**
 * Locks an order that a request names, for this transaction. Changes are lost unless `update` is called.
 * Errors: 404 the team has no such order, or the order's user is deleted.
 */
export async function lockOrder(tx: Tx, id: string, missingText = "This order doesn't exist."): Promise<LockedOrder> {
  const lockedOrder = await findAndLockOrder(tx, id)
  if (!lockedOrder || lockedOrder.isHidden) throw notFound(missingText)
  return lockedOrder
}

/**
 * As `lockOrder`, but returns undefined for an unknown order and also returns orders of deleted users. For work that no request started.
 * The lock is taken before the user is read: the order may have been assigned to another user while this transaction waited for it.
 */
export async function findAndLockOrder(tx: Tx, id: string): Promise<LockedOrder | undefined> {
  const rows = await lockTransaction(tx, id)
  const row = rows.find((candidate) => candidate.id === id)
  if (!row) return undefined
  const order = JSON.parse(row.document) as Order
  tx.concerns(order.user_id, order.id)
  return new LockedOrder(tx, {
    order,
    internalData: JSON.parse(row.internal_data) as InternalData,
    lifecycle: row.lifecycle_name as LifecycleName,
    lowLevelStatus: row.low_level_status,
    client_user_id: row.client_user_id,
    user_deleted: row.user_deleted,
    ids: await eventIds(tx, STEPS_MAX, order.last_event.id),
    siblings: rows.filter((sibling) => sibling !== row).map(({ document }) => JSON.parse(document) as Order),
  })
}

/**
 * Locks all orders of the order's transaction, always in the same order, so that two concurrent changes cannot deadlock. Reads again if an
 * order was added during the wait, because the statement did not see it.
 */
async function lockTransaction(tx: Tx, id: string): Promise<LockedRow[]> {
  for (let again = false; ; again = true) {
    const rows = await tx.locking.many(
      LockedRow,
      sql`
      with o as materialized (
        select id, document, internal_data, lifecycle_name, low_level_status, user_id
        from lab_order
        where team_id = ${tx.team} and transaction_id = (select transaction_id from lab_order where id = ${id} and team_id = ${tx.team})
        order by id for update)
      select o.id, o.document, o.internal_data, o.lifecycle_name, o.low_level_status, u.client_user_id,
             u.deleted_at is not null as user_deleted
      from o join "user" u on u.team_id = ${tx.team} and u.id = o.user_id`,
    )
    const row = rows.find((candidate) => candidate.id === id)
    const members = row && (JSON.parse(row.document) as Order).order_transaction.orders.length
    if (members === undefined || members <= rows.length || again) return rows
  }
}

/**
 * Locks an order, applies `change` and writes the order. Writes lab_order; emits what `change` emits.
 * Errors: 404 the team has no such order, or the order's user is deleted.
 * @returns the order as JSON text
 */
export async function updateOrder(
  tx: Tx,
  id: string,
  change: (lockedOrder: LockedOrder) => void | Promise<void>,
  missingText?: string,
): Promise<string> {
  const lockedOrder = await lockOrder(tx, id, missingText)
  await change(lockedOrder)
  return saveOrder(tx, lockedOrder)
}

/** Runs the hooks for the changes of an order and writes the order. */
export async function saveOrder(tx: Tx, lockedOrder: LockedOrder): Promise<string> {
  await lockedOrder.expectResults()
  await notifySteps(tx, lockedOrder)
  return lockedOrder.update()
}
