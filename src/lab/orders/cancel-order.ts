// Cancelling an order. Source: lab-testing.md 11.
import type { Tx } from '../../platform/db/transaction.ts'
import { PreserializedJson } from '../../platform/http/operation.ts'
import { cancelNotAllowed } from './locked-order.ts'
import { updateOrder } from './change-order.ts'
import { toOrderReply } from './orders.ts'
import type { OrderReply } from './schema.ts'

/**
 * Cancels an order if its lifecycle allows it. Writes lab_order. Emits labtest.order.updated.
 * Errors: 400 the order can no longer be cancelled (the body has only `error`, `message` and `status_code`); 404 unknown order.
 */
export async function cancelOrder(tx: Tx, id: string): Promise<PreserializedJson<OrderReply>> {
  const document = await updateOrder(
    tx,
    id,
    (lockedOrder) => {
      if (!lockedOrder.canTransitionTo('cancelled')) throw cancelNotAllowed(lockedOrder.lowLevelStatus)
      lockedOrder.transitionTo('cancelled')
    },
    "Order doesn't exist",
  )
  return toOrderReply(document, 'Order cancelled successfully')
}
