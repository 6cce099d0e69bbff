// Creating an order for a known patient, and importing one that was placed elsewhere. The request is parsed by its schema; each function reads
// from top to bottom: resolve what the request names, build the order in memory, write it. Source: lab-testing.md 3.5, 4, 5, 6.1, 7.
import { validateAoeAnswers } from '../catalog/aoe.ts'
import type { OrderSet } from '../catalog/order-set-members.ts'
import { resolveOrderSet } from '../catalog/order-sets.ts'
import { assertPatientAllowed } from '../catalog/patient-rules.ts'
import type { LabTest } from '../catalog/schema.ts'
import { assertInsured, insuranceGiven } from '../../people/insurance/insurances.ts'
import { labOfAccount } from '../accounts/account-selection.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import type { PreserializedJson } from '../../platform/http/operation.ts'
import { keptDemographics, saveDemographics } from '../../people/users/demographics.ts'
import { toPatientAddress } from '../../people/person/address.ts'
import { toOrderReply } from './orders.ts'
import { orderPatient } from './patient-checks.ts'
import { assertPrintable } from './printable-texts.ts'
import type { CoversCharacter } from '../../platform/pdf/extra-fonts.ts'
import { buildOrder, insertOrder, type PlacedOrder } from './place-order.ts'
import { resolveOrder, type OrderRequest } from './resolve-order.ts'
import type { CreateOrder, ImportOrder, OrderReply } from './schema.ts'

/**
 * Creates an order for a patient. Writes lab_order, user_demographics, insurance if the request has one, and lab_test for order sets.
 * Queues orders.dispatch if the lab's link has to be informed. Emits labtest.order.created.
 * Errors: 400 errors of `resolveTest`, no lab account for the order and its billing type, no insurance although the billing type needs one
 * (`assertInsured`), errors of `insuranceGiven`, missing answers, `activate_by` in the past, a minor without a medical proxy; 404 unknown
 * user or lab test; 422 a date of birth in the future or more than 130 years ago, characters that documents cannot print
 * (`assertPrintable`).
 */
export async function createOrder(tx: Tx, body: CreateOrder, covers: CoversCharacter): Promise<PlacedOrder> {
  assertPrintable(body, covers)
  const patient_address = toPatientAddress(body.patient_address)
  const patient_details = await orderPatient(tx, { user_id: body.user_id, patient_address }, body.patient_details)
  const icd_codes = body.icd_codes ?? body.health_insurance?.diagnosis_codes
  const hasInsurance = body.health_insurance !== undefined || body.billing_type === 'commercial_insurance'
  const health_insurance_id = hasInsurance ? await resolveInsurance(tx, body, icd_codes) : undefined
  const request: OrderRequest = {
    user_id: body.user_id,
    patient_details,
    patient_address,
    physician: body.physician,
    passthrough: body.passthrough,
    clinical_notes: body.clinical_notes,
    priority: body.priority,
    icd_codes,
    activate_by: body.activate_by,
    lab_account_id: body.lab_account_id ?? body.order_set?.lab_account_id,
    billing_type: body.billing_type,
    health_insurance_id,
    internal_data: {
      consents: body.consents ?? [],
      aoe_answers: body.aoe_answers ?? [],
      creator_member_id: body.creator_member_id ?? null,
      ...(body.health_insurance && { health_insurance: body.health_insurance }),
      ...internalDataOf(body),
    },
  }
  const resolved = await resolveOrder(tx, request, resolveTestAndAnswers(tx, body))
  const newOrder = buildOrder(tx, request, resolved)
  const demographics = keptDemographics(tx, resolved.user, body.patient_details, body.patient_address)
  const placed = await insertOrder(tx, newOrder, resolved, demographics)
  if (demographics === undefined) saveDemographics(tx, body.user_id, body.patient_details, body.patient_address)
  return placed
}

/**
 * Imports an order that was placed elsewhere. Writes lab_order. Emits labtest.order.created, labtest.order.updated.
 * Sends nothing to the laboratory. A pending lab account is allowed.
 * Errors: as `createOrder`; 422 the sample id belongs to another order at the laboratory.
 * Source: lab-testing.md 6.5.
 */
export async function importOrder(tx: Tx, body: ImportOrder, covers: CoversCharacter): Promise<PlacedOrder> {
  assertPrintable(body, covers)
  const patient_address = toPatientAddress(body.patient_address)
  const request: OrderRequest = {
    user_id: body.user_id,
    patient_details: await orderPatient(tx, { user_id: body.user_id, patient_address }, body.patient_details),
    patient_address,
    physician: body.physician,
    lab_account_id: body.lab_account_id ?? body.order_set.lab_account_id,
    billing_type: body.billing_type,
    sample_id: body.sample_id,
    account_statuses: ['active', 'pending'],
    reason: 'import',
    internal_data: { imported: true, ...internalDataOf(body) },
  }
  const resolved = await resolveOrder(tx, request, resolveTest(tx, body))
  const newOrder = buildOrder(tx, request, resolved)
  newOrder.transitionTo('requisition_bypassed')
  return insertOrder(tx, newOrder, resolved)
}

/** The response of the operations that create an order. */
export const createdReply = ({ document }: PlacedOrder): PreserializedJson<OrderReply> =>
  toOrderReply(document, 'Order created successfully')

/** The internal data from the request: details of patient and physician that the order does not show. */
const internalDataOf = ({ physician, patient_details }: Pick<CreateOrder, 'physician' | 'patient_details'>) => ({
  physician: physician ?? null,
  household_income: patient_details.household_income ?? null,
  household_size: patient_details.household_size ?? null,
})

/**
 * The insurance of an order: the one that its request brings with it; for an order billed to insurance, else the user's primary one. Writes
 * insurance if the request has a new one.
 * Errors: those of `insuranceGiven`, then those of `assertInsured`.
 */
async function resolveInsurance(tx: Tx, body: CreateOrder, icd_codes: string[] | undefined): Promise<string | undefined> {
  const { user_id, health_insurance, billing_type } = body
  const insurance_id = health_insurance && (await insuranceGiven(tx, body, health_insurance))
  return billing_type === 'commercial_insurance' ? assertInsured(tx, { user_id, icd_codes, insurance_id }) : insurance_id
}

type RequestedTest = Pick<CreateOrder, 'order_set' | 'collection_method' | 'lab_account_id' | 'patient_details'> & {
  lab_test_id?: string
}

/**
 * The lab test of a request, checked for this patient. May write lab_test (`resolveOrderSet`).
 * Errors: 400 and 404 of `resolveOrderSet` and `assertPatientAllowed`; 400 no test, contradicting tests, or two lab accounts.
 */
async function resolveTest(tx: Tx, request: RequestedTest): Promise<LabTest> {
  const account = request.lab_account_id ?? request.order_set?.lab_account_id
  const lab_id = account === undefined ? undefined : await labOfAccount(tx, account)
  const test = await resolveOrderSet(tx, orderSetOf(request), request.collection_method, lab_id)
  await assertPatientAllowed(tx, test.lab!.id, request.patient_details)
  return test
}

/** As `resolveTest`, with the answers to the questions of the laboratory. Errors: also those of `validateAoeAnswers`. */
async function resolveTestAndAnswers(tx: Tx, body: CreateOrder): Promise<LabTest> {
  const test = await resolveTest(tx, body)
  await validateAoeAnswers(tx, test.id, body.aoe_answers ?? [])
  return test
}

/** Combines the two forms in which a request can name tests into one order set. */
function orderSetOf({ order_set, lab_test_id, lab_account_id }: RequestedTest): OrderSet {
  if (lab_account_id && order_set?.lab_account_id && lab_account_id !== order_set.lab_account_id)
    throw badRequest('lab_account_id and order_set.lab_account_id differ')
  if (lab_test_id === undefined) {
    if (!order_set) throw badRequest('order_set or lab_test_id must be set')
    return order_set
  }
  const ids = new Set(order_set?.lab_test_ids)
  if (ids.size > 1 || (ids.size === 1 && !ids.has(lab_test_id)))
    throw badRequest('lab_test_id and order_set name different tests')
  return { ...order_set, lab_test_ids: [lab_test_id] }
}
