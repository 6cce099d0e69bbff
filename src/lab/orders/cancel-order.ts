// Cancelling an order. Source: lab-testing.md 11.
import type { Tx } from '../../platform/db/transaction.ts'
import { JsonText } from '../../platform/http/operation.ts'
import { cannotCancel } from './open-order.ts'
import { changeOrder } from './change-order.ts'
import { orderReply } from './orders.ts'
import type { OrderReply } from './schema.ts'

/**
 * Cancel an order where its lifecycle allows it. Writes lab_order. Emits labtest.order.updated.
 * 400: too late; the body is `error`, `message`, `status_code` and nothing else. 404: no such order.
 */
export async function cancelOrder(tx: Tx, id: string): Promise<JsonText<OrderReply>> {
  const document = await changeOrder(
    tx,
    id,
    (open) => {
      if (!open.may('cancelled')) throw cannotCancel(open.lowStatus)
      open.advance('cancelled')
    },
    "Order doesn't exist",
  )
  return orderReply(document, 'Order cancelled successfully')
}
