// What happens to orders, for modules above this one: they hook on it, and this module does not know them. A hook may take further steps of
// the same order and write its own tables.
import { hookPoint } from '../../platform/db/hooks.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { LockedOrder } from './open-order.ts'

/** An order went to a low-level status, its first one included. */
export const orderStepped = hookPoint<[open: LockedOrder, low: string]>('order.stepped')
/** The date that an order waits for is another one, or none. */
export const orderRescheduled = hookPoint<[open: LockedOrder]>('order.rescheduled')

/** More steps than all hooks together add in one transaction. */
const STEPS_MAX = 20

/** Run the hooks on the steps that an order has taken, those included that the hooks take themselves. */
export async function notifySteps(tx: Tx, open: LockedOrder): Promise<void> {
  for (let step = 0; step < open.transitions.length; step++) {
    if (step === STEPS_MAX) throw new Error(`the hooks on an order took more than ${STEPS_MAX} steps`)
    await tx.notify(orderStepped, open, open.transitions[step]!)
  }
}
