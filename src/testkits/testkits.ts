// Kits whose patient is known later: ordering and registering them. Writes no table of its own; a kit lives in its order's details.
import { changeOrder, type OpenOrder } from '../orders/open-order.ts'
import { findOrderBySample, orderReply, placeOrder } from '../orders/orders.ts'
import { assertPatient } from '../orders/patients.ts'
import type { OrderReply } from '../orders/schema.ts'
import { iso } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import { badRequest, notFound } from '../platform/errors.ts'
import type { JsonText } from '../platform/operation.ts'
import { enqueue, job } from '../platform/outbox.ts'
import { T } from '../platform/schema.ts'
import { findUser } from '../users/users.ts'
import { toPatientAddress, toShippingAddress } from '../wire/address.ts'
import { toPatient } from '../wire/patient.ts'
import type { CreateTestkitOrder, RegisterTestkit } from './schema.ts'
import { isRegistered, shipmentOf } from './shipments.ts'

/** Announced when a kit's patient is known, so that whoever waited for that can go on. */
export const kitRegistered = job('testkits.registered', T.Object({ order_id: T.String() }))

/**
 * Order a kit that its patient will register. Writes lab_order. Queues orders.dispatch where somebody has to be told.
 * Emits labtest.order.created, labtest.order.updated.
 * 404: the team has no such user or lab test. 400: the test is not a kit, or not active; no lab account takes the order.
 * Source: interface.md, Observable effects of operations; lab-testing.md 6.6.
 */
export async function createTestkitOrder(tx: Tx, body: CreateTestkitOrder): Promise<JsonText<OrderReply>> {
  const now = iso(tx.now)
  const { document } = await placeOrder(
    tx,
    {
      lifecycle: 'registrable_testkit',
      user_id: body.user_id,
      lab_test_id: body.lab_test_id,
      shipping_details: toShippingAddress(body.shipping_details),
      // No `shipment` key yet, not even null: the interface has it so.
      details: { type: 'testkit', data: { id: tx.uuid(), created_at: now, updated_at: now } },
      passthrough: body.passthrough,
      lab_account_id: body.lab_account_id,
      withBarcode: true,
    },
    (open) => open.advance('awaiting_registration'),
  )
  return orderReply(document, 'Order created successfully')
}

/**
 * Bind a patient to the kit with this barcode. Writes lab_order. Queues testkits.registered.
 * Emits labtest.order.updated twice, for `requisition_created` and `registered`; both carry the final user.
 * 404: no such kit or user in the team. 400: the kit is registered already or has gone too far; neither consents nor a physician, or no physician
 * where the lab account wants one.
 * 422: a date of birth in the future or more than 130 years ago.
 * Source: lab-testing.md 6.7.
 */
export async function registerTestkit(tx: Tx, body: RegisterTestkit): Promise<JsonText<OrderReply>> {
  const id = await findOrderBySample(tx, body.sample_id)
  if (!id) throw notFound('No test kit has this sample_id')
  assertPatient(tx, body.patient_details)
  if (!body.consents?.length && !body.physician) throw badRequest('Either consents or a physician must be given')
  const user = body.user_id === undefined ? undefined : await findUser(tx, body.user_id)
  if (body.user_id !== undefined && !user) throw notFound('User does not exist on this team')
  const document = await changeOrder(tx, id, (open) => {
    assertAwaiting(open)
    if (open.intake.physician_required && !body.physician)
      throw badRequest('Orders under this lab account must name the physician who orders')
    if (user) open.rebind(user)
    const { order } = open
    const { first_name, last_name, npi } = body.physician ?? {}
    order.patient_details = toPatient(body.patient_details)
    order.patient_address = toPatientAddress(body.patient_address)
    order.physician = first_name && last_name && npi ? { first_name, last_name, npi } : null
    Object.assign(open.intake, {
      consents: body.consents ?? [],
      physician: body.physician ?? null,
      household_income: body.patient_details.household_income ?? null,
      household_size: body.patient_details.household_size ?? null,
    })
    shipmentOf(tx, open)
    order.details.data.updated_at = iso(tx.now)
    open.advance('requisition_created')
    open.advance('registered')
  })
  enqueue(tx, kitRegistered, { order_id: id })
  return orderReply(document, 'Kit registered successfully')
}

function assertAwaiting(open: OpenOrder): void {
  if (open.lifecycle !== 'registrable_testkit' || isRegistered(open) || !open.may('requisition_created'))
    throw badRequest(
      isRegistered(open) ? 'The test kit is registered already' : `A test kit that is ${open.lowStatus} cannot be registered`,
    )
}
