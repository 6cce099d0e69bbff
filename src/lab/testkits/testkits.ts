// Kits whose patient is registered later: ordering and registering them. Writes no table of its own; a kit is stored in its order's
// details.
import { resolveOrderSet } from '../catalog/order-sets.ts'
import { assertPatientAllowed } from '../catalog/patient-rules.ts'
import type { LabTest } from '../catalog/schema.ts'
import { insuranceGiven, type InsuredPatient } from '../../people/insurance/insurances.ts'
import type { HealthInsuranceInput } from '../../people/insurance/schema.ts'
import { updateOrder } from '../orders/change-order.ts'
import type { LockedOrder } from '../orders/locked-order.ts'
import { findKitBySample, toOrderReply } from '../orders/orders.ts'
import { orderPatient } from '../orders/patient-checks.ts'
import type { CoversCharacter } from '../../platform/pdf/extra-fonts.ts'
import { assertPrintable } from '../orders/printable-texts.ts'
import { buildOrder, insertOrder } from '../orders/place-order.ts'
import { resolveOrder, type OrderRequest } from '../orders/resolve-order.ts'
import type { OrderReply } from '../orders/schema.ts'
import { iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import type { PreserializedJson } from '../../platform/http/operation.ts'
import { servicePhysician } from '../../people/physicians/physicians.ts'
import { saveDemographics } from '../../people/users/demographics.ts'
import { findUser } from '../../people/users/users.ts'
import { toPatientAddress, toShippingAddress } from '../../people/person/address.ts'
import type { CreateTestkitOrder, RegisterTestkit } from './schema.ts'
import { isRegistered, kitOf, getShipment } from './shipments.ts'

/**
 * Orders a kit that its patient will register. Writes lab_order. Queues orders.dispatch if the lab's link has to be informed.
 * Emits labtest.order.created, labtest.order.updated.
 * Errors: 404 unknown user or lab test; 400 the test is not a kit or not active, or no lab account accepts the order.
 * Source: interface.md, Observable effects of operations; lab-testing.md 6.6.
 */
export async function createTestkitOrder(tx: Tx, body: CreateTestkitOrder): Promise<PreserializedJson<OrderReply>> {
  const request: OrderRequest = {
    lifecycle: 'registrable_testkit',
    user_id: body.user_id,
    shipping_details: toShippingAddress(body.shipping_details),
    passthrough: body.passthrough,
    lab_account_id: body.lab_account_id,
    withBarcode: true,
  }
  const resolved = await resolveOrder(tx, request, resolveKitTest(tx, body.lab_test_id))
  const newOrder = buildOrder(tx, request, resolved)
  // The API omits the `shipment` key here; it is not even null.
  delete kitOf(newOrder).shipment
  newOrder.transitionTo('awaiting_registration')
  const { document } = await insertOrder(tx, newOrder, resolved)
  return toOrderReply(document, 'Order created successfully')
}

async function resolveKitTest(tx: Tx, id: string): Promise<LabTest> {
  const test = await resolveOrderSet(tx, { lab_test_ids: [id] }, undefined)
  if (test.method !== 'testkit') throw badRequest(`Lab test ${id} has collection method ${test.method}, not testkit`)
  return test
}

/**
 * Assigns a patient to the kit with this barcode. Writes lab_order, user_demographics, and insurance if the request has one.
 * Emits labtest.order.updated twice, for `requisition_created` and `registered`; both name the final user.
 * Errors: 404 unknown kit or user; 400 the kit is already registered or its status does not allow it; 400 neither consents nor a physician,
 * or no physician although the lab account requires one; errors of `insuranceGiven`; 422 a date of birth in the future or more than 130
 * years ago, characters that documents cannot print (`assertPrintable`).
 * Source: lab-testing.md 6.7.
 */
export async function registerTestkit(
  tx: Tx,
  body: RegisterTestkit,
  covers: CoversCharacter,
): Promise<PreserializedJson<OrderReply>> {
  assertPrintable(body, covers)
  const id = await findKitBySample(tx, body.sample_id)
  if (!id) throw notFound('No test kit has this sample_id')
  if (!body.consents?.length && !body.physician) throw badRequest('Either consents or a physician is required')
  const user = body.user_id === undefined ? undefined : await findUser(tx, body.user_id)
  if (body.user_id !== undefined && !user) throw notFound('User does not exist on this team')
  const document = await updateOrder(tx, id, async (lockedOrder) => {
    assertAwaitingRegistration(lockedOrder)
    const user_id = user?.user_id ?? lockedOrder.order.user_id
    const patient_address = toPatientAddress(body.patient_address)
    const patient = await orderPatient(tx, { user_id, patient_address }, body.patient_details)
    await assertPatientAllowed(tx, lockedOrder.order.lab_test.lab!.id, body.patient_details)
    if (lockedOrder.internalData.physician_required && !body.physician)
      throw badRequest('Orders under this lab account must include the ordering physician')
    if (user) lockedOrder.assignToUser(user)
    const { order } = lockedOrder
    const { first_name, last_name, npi } = body.physician ?? (await servicePhysician(tx, body.patient_address.state)) ?? {}
    order.patient_details = patient
    order.patient_address = patient_address
    order.physician = first_name && last_name && npi ? { first_name, last_name, npi } : null
    if (body.health_insurance) await insure(tx, lockedOrder, { ...body, user_id }, body.health_insurance)
    Object.assign(lockedOrder.internalData, {
      consents: body.consents ?? [],
      physician: body.physician ?? null,
      household_income: body.patient_details.household_income ?? null,
      household_size: body.patient_details.household_size ?? null,
    })
    getShipment(tx, lockedOrder)
    kitOf(lockedOrder).updated_at = iso(tx.now)
    saveDemographics(tx, order.user_id, body.patient_details, body.patient_address)
    lockedOrder.transitionTo('requisition_created')
    lockedOrder.transitionTo('registered')
  })
  return toOrderReply(document, 'Kit registered successfully')
}

/** Sets the order's insurance to that of the registration, and stores its data. The billing type does not change. */
async function insure(
  tx: Tx,
  { order, internalData }: LockedOrder,
  patient: InsuredPatient,
  input: HealthInsuranceInput,
): Promise<void> {
  const insurance_id = await insuranceGiven(tx, patient, input)
  order.health_insurance_id = insurance_id ?? null
  order.health_insurace_id = order.health_insurance_id // sic
  order.icd_codes = input.diagnosis_codes ?? order.icd_codes
  internalData.health_insurance = input
}

function assertAwaitingRegistration(lockedOrder: LockedOrder): void {
  if (
    lockedOrder.lifecycle !== 'registrable_testkit' ||
    isRegistered(lockedOrder) ||
    !lockedOrder.canTransitionTo('requisition_created')
  )
    throw badRequest(
      isRegistered(lockedOrder)
        ? 'The test kit is already registered'
        : `A test kit in status ${lockedOrder.lowLevelStatus} cannot be registered`,
    )
}
