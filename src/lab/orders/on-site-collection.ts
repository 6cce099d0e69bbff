// On-site collection: the customer's own staff report the draw. Source: lab-testing.md 20.
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import type { PreserializedJson } from '../../platform/http/operation.ts'
import { updateOrder } from './change-order.ts'
import { toOrderReply } from './orders.ts'
import type { OrderReply } from './schema.ts'

/**
 * Records that the sample of an on-site order was taken now. Writes lab_order. Emits labtest.order.updated.
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
