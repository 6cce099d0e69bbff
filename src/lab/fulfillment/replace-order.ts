// Replaces a wrong order: cancels it and places another one. Owns no table; orders are placed and changed through their own module. Source:
// lab-testing.md 11, 12; the single operation for both is a choice of this project.
import { validateAoeAnswers, type AoeAnswer } from '../catalog/aoe.ts'
import { expectedResults } from '../catalog/lab-tests.ts'
import { resolveOrderSet } from '../catalog/order-sets.ts'
import { assertPatientAllowed } from '../catalog/patient-rules.ts'
import type { LabTest } from '../catalog/schema.ts'
import { assertLink } from '../accounts/assert-link.ts'
import { closedStatuses } from '../orders/lifecycle.ts'
import { cancelNotAllowed, type LockedOrder } from '../orders/locked-order.ts'
import { saveOrder, lockOrder } from '../orders/change-order.ts'
import { getOrder } from '../orders/orders.ts'
import { buildFollowUpOrder, insertOrder } from '../orders/place-order.ts'
import type { Order } from '../orders/schema.ts'
import { utcDate } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { assertFeature } from '../../platform/http/feature-flags.ts'
import { onSiteCollection } from '../orders/features.ts'
import type { OrderReplaced, ReplaceOrder } from './schema.ts'

/**
 * Cancels an order and places one of another lab test for the same patient: in its transaction, with origin `recreation` and the order as
 * its parent. An order that is already cancelled or has failed is replaced and keeps its status. Replacing it by the same test again
 * changes nothing. Works for orders of every laboratory. Writes lab_order. Queues orders.dispatch. Emits labtest.order.created,
 * labtest.order.updated.
 * Errors: 404 unknown order or lab test, or deleted user; 403 on-site collection without that feature; 400 the order can no longer be
 * cancelled (`cancelNotAllowed`), its patient is unknown, it has this test already, or it was replaced by another test; 400 the test is not
 * active, has another collection method or unanswered questions; 400 the laboratory does not accept the patient, has no account for the
 * order, or has no link.
 */
export async function replaceOrder(tx: Tx, order_id: string, { lab_test_id, notes }: ReplaceOrder): Promise<OrderReplaced> {
  const lockedOrder = await lockOrder(tx, order_id)
  const { order } = lockedOrder
  const lab_test = await resolveOrderSet(tx, { lab_test_ids: [lab_test_id] }, undefined)
  const earlier = order.order_transaction.orders.find(
    (sibling) => sibling.parent_id === order_id && sibling.origin === 'recreation',
  )
  if (earlier) return alreadyReplaced(await getOrder(tx, earlier.id), order_id, lab_test)
  const aoe_answers = await assertReplaceable(tx, lockedOrder, lab_test)
  // Cancelled first, so that the new order shows it.
  if (lockedOrder.canTransitionTo('cancelled')) lockedOrder.transitionTo('cancelled')
  else if (!isReplaceable(lockedOrder)) throw cancelNotAllowed(lockedOrder.lowLevelStatus)
  const following = await buildFollowUpOrder(tx, lockedOrder, { origin: 'recreation', lab_test })
  const { newOrder } = following
  await assertLink(tx, lab_test.lab!, newOrder.order.lab_account_id ?? undefined)
  newOrder.order.notes = notes?.trim() || null
  copyFromReplaced(tx, newOrder, order)
  newOrder.internalData.aoe_answers = aoe_answers
  assertPhysicianKnown(newOrder, order)
  const { document } = await insertOrder(tx, newOrder, following)
  await saveOrder(tx, lockedOrder)
  return toReply(JSON.parse(document) as Order, order_id, true)
}

/** Whether the order failed or was cancelled and has no result. */
const isReplaceable = ({ lowLevelStatus, order }: LockedOrder): boolean =>
  closedStatuses.has(lowLevelStatus) && (order.status === 'cancelled' || order.status === 'failed')

function alreadyReplaced(replacement: Order, order_id: string, { id }: LabTest): OrderReplaced {
  if (replacement.lab_test.id === id) return toReply(replacement, order_id, false)
  throw badRequest(`The order was already replaced by order ${replacement.id}; replace that order instead`)
}

const toReply = (replacement: Order, parent_id: string, isChanged: boolean): OrderReplaced => ({
  order_id: replacement.id,
  parent_id,
  status: replacement.order_transaction.orders.find(({ id }) => id === replacement.id)!.low_level_status,
  status_detail: replacement.last_event.status_detail,
  sample_id: replacement.sample_id,
  updated_at: replacement.updated_at,
  changed: isChanged,
})

/** Repeats the checks of a new order for everything that differs from the first order. @returns the answers of the new order */
async function assertReplaceable(tx: Tx, { order, internalData }: LockedOrder, lab_test: LabTest): Promise<AoeAnswer[]> {
  if (!order.patient_details) throw badRequest('The kit of this order has not been registered')
  if (lab_test.id === order.lab_test.id) throw badRequest('The order already has this lab test')
  await assertLink(tx, lab_test.lab!)
  if (lab_test.method === 'on_site_collection') assertFeature(tx.tenant, onSiteCollection)
  if (lab_test.method !== order.lab_test.method)
    throw badRequest(`The lab test has collection method ${lab_test.method}; the order has ${order.lab_test.method}`)
  await assertPatientAllowed(tx, lab_test.lab!.id, order.patient_details)
  const markers = new Set((await expectedResults(tx, lab_test.id)).map(({ marker_id }) => marker_id))
  const answers = ((internalData.aoe_answers ?? []) as AoeAnswer[]).filter(({ marker_id }) => markers.has(marker_id))
  await validateAoeAnswers(tx, lab_test.id, answers)
  return answers
}

/** Copies internal data and details to the new order, without the data that only applies to the old one. */
function copyFromReplaced(tx: Tx, { order, internalData }: LockedOrder, { shipping_details, activate_by }: Order): void {
  order.shipping_details = shipping_details
  if (activate_by !== null && activate_by > utcDate(tx.now)) {
    order.activate_by = activate_by
    internalData.scheduled = true
  }
  for (const fact of ['imported', 'collected_at', 'report_digest']) delete internalData[fact]
}

/** Another laboratory uses another account, which may require the customer's ordering physician. A registered kit does not store who ordered it. */
function assertPhysicianKnown({ order, internalData }: LockedOrder, previousOrder: Order): void {
  if (order.lab_account_id !== previousOrder.lab_account_id && internalData.physician_required && !internalData.physician)
    throw badRequest('Orders under this lab account must include the ordering physician')
}
