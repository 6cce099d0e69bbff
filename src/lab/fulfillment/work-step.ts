// Runs a staff action on an order: checks that it is allowed and builds the response. Owns no table; orders are changed through
// `LockedOrder`.
import { findKitLink, type KitLink } from '../accounts/kit-links.ts'
import { isManualLab } from '../links/links.ts'
import { saveOrder, lockOrder } from '../orders/change-order.ts'
import type { LockedOrder } from '../orders/locked-order.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import type { WorkDone } from './schema.ts'

/**
 * Locks an order, runs `step` and writes the order, unless `step` changed nothing. Writes lab_order; emits what `step` emits.
 * Errors: 404 the team has no such order; 400 its laboratory has no manual fulfillment; errors of `step`.
 * @param step returns whether it changed anything
 */
export async function runStep(
  tx: Tx,
  order_id: string,
  step: (lockedOrder: LockedOrder) => boolean | Promise<boolean>,
): Promise<WorkDone> {
  const lockedOrder = await lockOrder(tx, order_id)
  if (!isManual(tx, lockedOrder)) throw notManual()
  return finishStep(tx, lockedOrder, await step(lockedOrder))
}

/**
 * As `runStep`, for a step on a kit. It is allowed at laboratories with a link, too.
 * @param step `link` is undefined under manual fulfillment
 */
export async function runKitStep(
  tx: Tx,
  order_id: string,
  step: (lockedOrder: LockedOrder, link: KitLink | undefined) => boolean | Promise<boolean>,
): Promise<WorkDone> {
  const lockedOrder = await lockOrder(tx, order_id)
  if (isManual(tx, lockedOrder)) return finishStep(tx, lockedOrder, await step(lockedOrder, undefined))
  const link = await findKitLink(tx, lockedOrder.order)
  if (!link) throw notManual()
  return finishStep(tx, lockedOrder, await step(lockedOrder, link))
}

const isManual = ({ tenant }: Tx, { order }: LockedOrder): boolean => isManualLab(tenant, order.lab_test.lab!.slug)

/** The error for an order that staff cannot work on. */
export const notManual = () => badRequest('Manual fulfillment is not enabled for this laboratory')

async function finishStep(tx: Tx, lockedOrder: LockedOrder, changed: boolean): Promise<WorkDone> {
  const { order } = lockedOrder
  if (changed) await saveOrder(tx, lockedOrder)
  return {
    order_id: order.id,
    status: lockedOrder.lowLevelStatus,
    status_detail: order.last_event.status_detail,
    sample_id: order.sample_id,
    updated_at: order.updated_at,
    changed,
  }
}

/** Changes the status, unless the order has it already with the same detail. Errors: 400 the lifecycle has no such transition. */
export function transitionUnlessAt(lockedOrder: LockedOrder, status: string, status_detail: string | null = null): boolean {
  if (lockedOrder.lowLevelStatus === status && lockedOrder.order.last_event.status_detail === status_detail) return false
  lockedOrder.transitionTo(status, status_detail)
  return true
}

/** The 400 error for every transition that the lifecycle does not allow. */
export const transitionError = (lockedOrder: LockedOrder, targetStatus: string) =>
  badRequest(`Transition from ${lockedOrder.lowLevelStatus} to ${targetStatus} is not allowed`)
