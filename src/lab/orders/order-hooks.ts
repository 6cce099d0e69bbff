// Hook points for modules above this one, which this module does not import. A hook may change the same order's status again and
// write its own tables.
import { hookPoint } from '../../platform/db/hooks.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { LockedOrder } from './locked-order.ts'

/** An order changed to a low-level status, including its first one. */
export const orderStepped = hookPoint<[lockedOrder: LockedOrder, low: string]>('order.stepped')
/** The activation date of an order changed or was cleared. */
export const orderRescheduled = hookPoint<[lockedOrder: LockedOrder]>('order.rescheduled')
/** The day of an order has come and its laboratory does not have it yet. The module that has a way to the laboratory sets `isTaken`. */
export const orderDue = hookPoint<[lockedOrder: LockedOrder, answer: { isTaken: boolean }]>('order.due')
/** Orders of the team are erased in this transaction. Rows that name them without a foreign key go with them. */
export const ordersErased = hookPoint<[order_ids: string[]]>('order.erased')
/**
 * A team asks to cancel an order whose lifecycle allows it. A module that must ask the laboratory first sets `isPending`: the order then keeps
 * its status, and that module cancels it later.
 */
export const cancelAsked = hookPoint<[lockedOrder: LockedOrder, answer: { isPending: boolean }]>('order.cancel_asked')

/** Maximum number of transitions that all hooks together may add in one transaction. */
const STEPS_MAX = 20

/** Runs the hooks for the new transitions of an order, including transitions made by hooks. */
export async function notifySteps(tx: Tx, lockedOrder: LockedOrder): Promise<void> {
  for (let step = 0; step < lockedOrder.transitions.length; step++) {
    if (step === STEPS_MAX) throw new Error(`the hooks on an order took more than ${STEPS_MAX} steps`)
    await tx.notify(orderStepped, lockedOrder, lockedOrder.transitions[step]!)
  }
}
