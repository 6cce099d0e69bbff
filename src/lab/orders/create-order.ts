// Creating an order for a known patient. Source: lab-testing.md 3.5, 4, 5, 6.1, 7.
import { createHash } from 'node:crypto'
import { validateAoeAnswers } from '../catalog/aoe.ts'
import type { OrderSet } from '../catalog/order-set-members.ts'
import { resolveOrderSet } from '../catalog/order-sets.ts'
import { assertPatientAllowed } from '../catalog/patient-rules.ts'
import type { LabTest } from '../catalog/schema.ts'
import { assertInsured, insuranceGiven } from '../../people/insurance/insurances.ts'
import { labOfAccount } from '../accounts/account-selection.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { claimKey, storeResponse, releaseKey } from '../../platform/http/idempotency.ts'
import { PreserializedJson } from '../../platform/http/operation.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { saveDemographics } from '../../people/users/demographics.ts'
import { notDeletedHere } from '../../people/users/users.ts'
import { toPatientAddress } from '../../people/person/address.ts'
import { toOrderReply } from './orders.ts'
import { orderPatient } from './patient-checks.ts'
import { placeOrder } from './place-order.ts'
import type { CreateOrder, ImportOrder, OrderReply } from './schema.ts'

const DAY_S = 86_400

/** Idempotency keys of both creation paths share one scope and are stored for a day. */
export const createOrderIdempotency = { scope: 'create_order', retention_s: DAY_S }

/**
 * Creates an order for a patient. Writes lab_order, user_demographics, insurance if the request has one, and lab_test for order sets.
 * Queues
 * orders.dispatch if the lab's link has to be informed. Emits labtest.order.created.
 * Errors: 400 errors of `chooseTest`, no lab account for the order and its billing type, no insurance although the billing type needs one
 * (`assertInsured`), errors of `insuranceGiven`, missing answers, `activate_by` in the past, a minor without a medical proxy; 404 unknown
 * user or lab test; 422 a date of birth in the future or more than 130 years ago.
 */
export async function createOrder(tx: Tx, body: CreateOrder): Promise<PreserializedJson<OrderReply>> {
  const { document } = await create(tx, body)
  return toOrderReply(document, 'Order created successfully')
}

async function create(tx: Tx, body: CreateOrder): Promise<{ id: string; document: string }> {
  const patient = await orderPatient(tx, body.user_id, body.patient_details)
  const { health_insurance } = body
  const insurance_id = health_insurance && (await insuranceGiven(tx, body, health_insurance))
  const icd_codes = body.icd_codes ?? health_insurance?.diagnosis_codes
  const health_insurance_id =
    body.billing_type === 'commercial_insurance'
      ? await assertInsured(tx, { user_id: body.user_id, icd_codes, insurance_id })
      : insurance_id
  const placed = await placeOrder(
    tx,
    {
      user_id: body.user_id,
      patient_details: patient,
      patient_address: toPatientAddress(body.patient_address),
      physician: body.physician,
      passthrough: body.passthrough,
      clinical_notes: body.clinical_notes,
      priority: body.priority,
      icd_codes,
      activate_by: body.activate_by,
      lab_account_id: body.lab_account_id ?? body.order_set?.lab_account_id,
      billing_type: body.billing_type,
      health_insurance_id,
      facts: {
        consents: body.consents ?? [],
        aoe_answers: body.aoe_answers ?? [],
        creator_member_id: body.creator_member_id ?? null,
        ...(health_insurance && { health_insurance }),
        ...internalDataOf(body),
      },
    },
    async () => {
      const test = await chooseTest(tx, body)
      await validateAoeAnswers(tx, test.id, body.aoe_answers ?? [])
      return test
    },
  )
  saveDemographics(tx, body.user_id, body.patient_details, body.patient_address)
  return placed
}

/** The internal data from the request: details of patient and physician that the order does not show. */
const internalDataOf = ({ physician, patient_details }: Pick<CreateOrder, 'physician' | 'patient_details'>) => ({
  physician: physician ?? null,
  household_income: patient_details.household_income ?? null,
  household_size: patient_details.household_size ?? null,
})

/**
 * Imports an order that was placed elsewhere. Writes lab_order. Emits labtest.order.created, labtest.order.updated.
 * Sends nothing to the laboratory. A pending lab account is allowed.
 * Errors: as `createOrder`; 422 the sample id belongs to another order at the laboratory.
 * Source: lab-testing.md 6.5.
 */
export async function importOrder(tx: Tx, body: ImportOrder): Promise<PreserializedJson<OrderReply>> {
  const patient = await orderPatient(tx, body.user_id, body.patient_details)
  const { document } = await placeOrder(
    tx,
    {
      user_id: body.user_id,
      patient_details: patient,
      patient_address: toPatientAddress(body.patient_address),
      physician: body.physician,
      lab_account_id: body.lab_account_id ?? body.order_set.lab_account_id,
      billing_type: body.billing_type,
      sample_id: body.sample_id,
      statuses: ['active', 'pending'],
      comesFrom: 'import',
      facts: { imported: true, ...internalDataOf(body) },
    },
    () => chooseTest(tx, body),
    (open) => open.transitionTo('requisition_bypassed'),
  )
  return toOrderReply(document, 'Order created successfully')
}

type RequestedTest = Pick<CreateOrder, 'order_set' | 'collection_method' | 'lab_account_id' | 'patient_details'> & {
  lab_test_id?: string
}

/**
 * The lab test of a request, checked for this patient. May write lab_test (`resolveOrderSet`).
 * Errors: 400 and 404 of `resolveOrderSet` and `assertPatientAllowed`; 400 no test, contradicting tests, or two lab accounts.
 */
async function chooseTest(tx: Tx, asked: RequestedTest): Promise<LabTest> {
  const account = asked.lab_account_id ?? asked.order_set?.lab_account_id
  const only = account === undefined ? undefined : await labOfAccount(tx, account)
  const test = await resolveOrderSet(tx, orderSetOf(asked), asked.collection_method, only)
  await assertPatientAllowed(tx, test.lab!.id, asked.patient_details)
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

const CONTENT_SCOPE = 'create_order.content'
const Status = T.Object({ low_status: T.String(), shown: T.Boolean() })
const REPLACEABLE_STATUSES = new Set([
  'cancelled',
  'do_not_process',
  'sample_error',
  'failure_to_deliver_to_customer',
  'failure_to_deliver_to_lab',
  'lost',
])

/**
 * As `createOrder`, but the same body within a day returns the same order, unless that order was cancelled or has failed.
 * Source: lab-testing.md 7, interface.md «idempotent against duplicate orders».
 */
export async function createOrderOnce(tx: Tx, body: CreateOrder): Promise<PreserializedJson<OrderReply>> {
  const key = createHash('sha256').update(canonicalJson(body)).digest('base64url')
  const kept = await claimKey(tx, CONTENT_SCOPE, key, DAY_S)
  if (kept) {
    if (!(await canBeReordered(tx, kept.object_id))) return new PreserializedJson(kept.text)
    // The 24-hour window restarts with the replacing order.
    await releaseKey(tx, CONTENT_SCOPE, key)
    await claimKey(tx, CONTENT_SCOPE, key, DAY_S)
  }
  const { id, document } = await create(tx, body)
  const reply = toOrderReply(document, 'Order created successfully')
  storeResponse(tx, CONTENT_SCOPE, key, { status: 200, text: reply.text }, { object_id: id, user_ids: [body.user_id] })
  return reply
}

/** Whether a request with the same content may create a new order. Errors: 404 the order's user is deleted. */
async function canBeReordered(tx: Tx, order_id: string | null): Promise<boolean> {
  const row = await tx.maybe(
    Status,
    sql`
    select low_status, ${notDeletedHere(tx, sql`user_id`)} as shown from lab_order where id = ${order_id} and team_id = ${tx.team}`,
  )
  if (row && !row.shown) throw notFound('User does not exist on this team')
  return !row || REPLACEABLE_STATUSES.has(row.low_status)
}

/** JSON with sorted keys. The parsed body already has one spelling for addresses, states and enum values; phone numbers are normalized here. */
function canonicalJson(value: unknown, name = ''): string {
  if (name === 'phone_number' && typeof value === 'string') return JSON.stringify(value.replace(/[ ().-]/g, ''))
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item, key)}`)
    .join(',')}}`
}
