// An order that was placed wrongly: cancelled, and another one in its place. Owns no table; orders are placed and changed through their own
// module. Source: lab-testing.md 11, 12; that one operation does both is a choice of this project.
import { assertAnswered, type AoeAnswer } from '../catalog/aoe.ts'
import { expectedResults } from '../catalog/lab-tests.ts'
import { resolveOrderSet } from '../catalog/order-sets.ts'
import { assertLabTakes } from '../catalog/patient-rules.ts'
import type { LabTest } from '../catalog/schema.ts'
import { assertLink } from '../links/links.ts'
import { settledStatuses } from '../orders/lifecycle.ts'
import { cannotCancel, type OpenOrder } from '../orders/open-order.ts'
import { finish, openOrder } from '../orders/change-order.ts'
import { getOrder } from '../orders/orders.ts'
import { placeFollowing } from '../orders/place-order.ts'
import type { Order } from '../orders/schema.ts'
import { day } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { assertFeature } from '../../platform/http/feature-flags.ts'
import { features } from '../../tenancy/teams/features.ts'
import type { OrderReplaced, ReplaceOrder } from './schema.ts'

/**
 * Cancel an order and place one of another lab test for the same patient: in its transaction, `recreation`, with it as its parent. One that
 * is cancelled or has failed already is replaced as it is. Replacing it by the same test again changes nothing. Orders of every laboratory
 * can be replaced. Writes lab_order. Queues orders.dispatch. Emits labtest.order.created, labtest.order.updated.
 * 404: no such order or lab test, or its user is deleted. 403: it is drawn on site, and the team does not have that. 400: the order cannot be cancelled any more (`cannotCancel`); its patient is not
 * known; it is of that test, or was replaced by another; the test is not active, collected otherwise, or asks what nobody was asked; the
 * laboratory does not take the patient, or no account of it the order, or cannot be told of it.
 */
export async function replaceOrder(tx: Tx, order_id: string, { lab_test_id, notes }: ReplaceOrder): Promise<OrderReplaced> {
  const open = await openOrder(tx, order_id)
  const { order } = open
  const lab_test = await resolveOrderSet(tx, { lab_test_ids: [lab_test_id] }, undefined)
  const earlier = order.order_transaction.orders.find((each) => each.parent_id === order_id && each.origin === 'recreation')
  if (earlier) return replacedAlready(await getOrder(tx, earlier.id), order_id, lab_test)
  const aoe_answers = await assertReplaceable(tx, open, lab_test)
  // First, so that the new order shows it.
  if (open.may('cancelled')) open.advance('cancelled')
  else if (!isGone(open)) throw cannotCancel(open.lowStatus)
  const { document } = await placeFollowing(tx, open, {
    origin: 'recreation',
    lab_test,
    begin: (fresh) => {
      fresh.order.notes = notes?.trim() || null
      takeOver(tx, fresh, order)
      fresh.intake.aoe_answers = aoe_answers
      assertOrdered(fresh, order)
    },
  })
  await finish(tx, open)
  return replaced(JSON.parse(document) as Order, order_id, true)
}

/** Nothing more comes of it, and nothing came of it. */
const isGone = ({ lowStatus, order }: OpenOrder): boolean =>
  settledStatuses.has(lowStatus) && (order.status === 'cancelled' || order.status === 'failed')

function replacedAlready(by: Order, order_id: string, { id }: LabTest): OrderReplaced {
  if (by.lab_test.id === id) return replaced(by, order_id, false)
  throw badRequest(`The order has been replaced by ${by.id} already, which can be replaced itself`)
}

const replaced = (by: Order, parent_id: string, changed: boolean): OrderReplaced => ({
  order_id: by.id,
  parent_id,
  status: by.order_transaction.orders.find(({ id }) => id === by.id)!.low_level_status,
  status_detail: by.last_event.status_detail,
  sample_id: by.sample_id,
  updated_at: by.updated_at,
  changed,
})

/** What would have been refused of an order of this test, as far as it is another order than the first. @returns the answers it is ordered with */
async function assertReplaceable(tx: Tx, { order, intake }: OpenOrder, lab_test: LabTest): Promise<AoeAnswer[]> {
  if (!order.patient_details) throw badRequest('The kit of this order has not been registered: its patient is not known')
  if (lab_test.id === order.lab_test.id) throw badRequest('The order is of this lab test already')
  assertLink(tx.tenant, lab_test.lab!)
  if (lab_test.method === 'on_site_collection') assertFeature(tx.tenant, features.on_site_collection)
  if (lab_test.method !== order.lab_test.method)
    throw badRequest(`The lab test is collected by ${lab_test.method}, the order by ${order.lab_test.method}`)
  await assertLabTakes(tx, lab_test.lab!.id, order.patient_details)
  const markers = new Set((await expectedResults(tx, lab_test.id)).map(({ marker_id }) => marker_id))
  const answers = ((intake.aoe_answers ?? []) as AoeAnswer[]).filter(({ marker_id }) => markers.has(marker_id))
  await assertAnswered(tx, lab_test.id, answers)
  return answers
}

/** What goes on from the order that is replaced, and what was done for that one alone. */
function takeOver(tx: Tx, { order, intake }: OpenOrder, { shipping_details, activate_by }: Order): void {
  order.shipping_details = shipping_details
  if (activate_by !== null && activate_by > day(tx.now)) {
    order.activate_by = activate_by
    intake.scheduled = true
  }
  for (const fact of ['imported', 'collected_at', 'report_digest']) delete intake[fact]
}

/** At another laboratory another account takes it, which may want the physician of the customer. A registered kit does not keep whose its was. */
function assertOrdered({ order, intake }: OpenOrder, before: Order): void {
  if (order.lab_account_id !== before.lab_account_id && intake.physician_required && !intake.physician)
    throw badRequest('Orders under this lab account must name the physician who orders')
}
