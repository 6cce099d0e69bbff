// One thing that a person does to an order: who may, and what they are told. Owns no table; orders are changed through `OpenOrder`.
import { isByHand } from '../links/links.ts'
import { finish, openOrder } from '../orders/change-order.ts'
import type { OpenOrder } from '../orders/open-order.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import type { WorkDone } from './schema.ts'

/**
 * Lock an order, do `step`, write it back; nothing is written where `step` found everything done already. Writes lab_order; emits what
 * `step` emits.
 * 404: the team has no such order. 400: its laboratory takes orders by itself; what `step` refuses.
 * @param step answers whether it did anything
 */
export async function work(tx: Tx, order_id: string, step: (open: OpenOrder) => boolean | Promise<boolean>): Promise<WorkDone> {
  const open = await openOrder(tx, order_id)
  const { order } = open
  if (!isByHand(tx.tenant, order.lab_test.lab!.slug))
    throw badRequest('Nobody works through the orders of this laboratory by hand')
  const changed = await step(open)
  if (changed) await finish(tx, open)
  return {
    order_id,
    status: open.lowStatus,
    status_detail: order.last_event.status_detail,
    sample_id: order.sample_id,
    updated_at: order.updated_at,
    changed,
  }
}

/** Go to a status, unless the order is there, for the same reason. 400: the lifecycle has no such step. */
export function goTo(open: OpenOrder, status: string, status_detail: string | null = null): boolean {
  if (open.lowStatus === status && open.order.last_event.status_detail === status_detail) return false
  open.advance(status, status_detail)
  return true
}

/** 400, in the words of every step that the order cannot take. */
export const cannot = (open: OpenOrder, to: string) => badRequest(`Transition from ${open.lowStatus} to ${to} is not allowed`)
