// Draws at a site of the customer, whose own staff say when a sample was taken. Source: lab-testing.md 20.
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import type { PreserializedJson } from '../../platform/http/operation.ts'
import { updateOrder } from './change-order.ts'
import { toOrderReply } from './orders.ts'
import type { OrderReply } from './schema.ts'

/**
 * The sample of an on-site order was taken, now. Writes lab_order. Emits labtest.order.updated.
 * 400: another kind of order, or one without a requisition or already drawn. 404: no such order.
 */
export async function completeDraw(tx: Tx, id: string): Promise<PreserializedJson<OrderReply>> {
  const document = await updateOrder(tx, id, (open) => {
    if (open.lifecycle !== 'on_site_collection')
      throw badRequest(`Transition from ${open.lowLevelStatus} to draw_completed is not allowed`)
    open.transitionTo('draw_completed')
  })
  return toOrderReply(document, 'order updated')
}
