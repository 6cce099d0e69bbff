// Dispatching an order to its laboratory, after the commit and not before its date. Source: lab-testing.md 6.2, 6.3.
import { usableAccount } from '../accounts/account-selection.ts'
import { labLinkFor } from '../links/links.ts'
import { utcDate, addSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { enqueue, enqueueAgain, defineHandler, defineJob } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import { findAndLockOrder, saveOrder } from './change-order.ts'
import type { LockedOrder } from './locked-order.ts'
import { orderDue } from './order-hooks.ts'
import type { Order } from './schema.ts'

/** When a scheduled order is dispatched: at the start of its day, in UTC. An order for today is dispatched at once. */
export const activationTime = (tx: Tx, activate_by: string | null | undefined): Date =>
  activate_by && activate_by > utcDate(tx.now) ? new Date(`${activate_by}T00:00:00Z`) : tx.now

const dispatchOrder = defineJob('orders.dispatch', T.Object({ order_id: T.String(), lab_slug: T.String() }))

/**
 * Schedules the dispatch of an order. Called when the order is placed and whenever its date changes.
 * Queues orders.dispatch, unless nothing has to be sent to the laboratory.
 */
export async function scheduleDispatch(tx: Tx, { id, lab_test, lab_account_id }: Order, time: Date): Promise<void> {
  const lab_slug = lab_test.lab!.slug
  const needsDispatch = !labLinkFor(tx.tenant, lab_slug) || (await hasLiveLink(tx, lab_account_id))
  if (needsDispatch) enqueue(tx, dispatchOrder, { order_id: id, lab_slug }, time)
}

const hasLiveLink = async (tx: Tx, lab_account_id: string | null): Promise<boolean> =>
  lab_account_id !== null && (await usableAccount(tx, lab_account_id))?.has_live_link === true

/** Delay before the order of a deleted user is checked again. */
const HIDDEN_S = 86_400
const PRE_DISPATCH_STATUSES = ['ordered', 'awaiting_registration']

/**
 * Dispatches an order on its day: runs the hooks of `orderDue`. Without a way to its laboratory the order keeps its status and shows the
 * failure: one more event of the same status with the detail `fulfillment_error`. An order of a deleted user waits; this queues orders.dispatch
 * again.
 */
export const dispatchHandler = defineHandler(dispatchOrder, (context, payload) =>
  context.tx(async (tx) => {
    const lockedOrder = await findAndLockOrder(tx, payload.order_id)
    if (!lockedOrder || !isDue(tx, lockedOrder)) return
    // Nothing is dispatched for a deleted user. The order goes out within a day after the deletion is undone; erasing the user ends the
    // retries.
    if (lockedOrder.isHidden) return enqueueAgain(tx, dispatchOrder, payload, addSeconds(tx.now, HIDDEN_S))
    const answer = { isTaken: false }
    await tx.notify(orderDue, lockedOrder, answer)
    const isFailure = !answer.isTaken && !labLinkFor(context.tenant, payload.lab_slug)
    if (isFailure && lockedOrder.order.last_event.status_detail === null) lockedOrder.setStatusDetail('fulfillment_error')
    if (lockedOrder.isChanged) await saveOrder(tx, lockedOrder)
  }),
)

/** Whether an order awaits dispatch and its date has come. */
const isDue = (tx: Tx, { lowLevelStatus, order: { activate_by } }: LockedOrder): boolean =>
  PRE_DISPATCH_STATUSES.includes(lowLevelStatus) && (activate_by === null || activate_by <= utcDate(tx.now))
