// Creating an order for a known patient. Source: lab-testing.md 3.5, 4, 5, 6.1, 7.
import { createHash } from 'node:crypto'
import { assertAnswered } from '../catalog/aoe.ts'
import { findLabTest } from '../catalog/lab-tests.ts'
import type { LabTest } from '../catalog/schema.ts'
import type { Tx } from '../platform/db.ts'
import { badRequest, notFound } from '../platform/errors.ts'
import { claim, keep, release } from '../platform/idempotency.ts'
import { JsonText } from '../platform/operation.ts'
import { T } from '../platform/schema.ts'
import { sql } from '../platform/sql.ts'
import { toPatientAddress } from '../wire/address.ts'
import type { CollectionMethod } from '../wire/enums.ts'
import { toPatient } from '../wire/patient.ts'
import { orderReply } from './orders.ts'
import { assertPatient } from './patients.ts'
import { placeOrder } from './placing.ts'
import type { CreateOrder, ImportOrder, OrderReply } from './schema.ts'

const DAY_S = 86_400

/** Keys of both paths of order creation are of one scope and kept for a day. */
export const createOrderIdempotency = { scope: 'create_order', retention_s: DAY_S }

/**
 * Place an order for a patient. Writes lab_order. Queues orders.dispatch where somebody has to be told. Emits labtest.order.created.
 * 400: neither or contradicting lab tests, another collection method than the test's, no lab account that takes the order and its
 * billing, an insurance, an inactive test, unanswered questions, a past `activate_by`, a minor without a proxy. 404: no such user or
 * lab test.
 * 422: a date of birth in the future or more than 130 years ago.
 */
export async function createOrder(tx: Tx, body: CreateOrder): Promise<JsonText<OrderReply>> {
  const { document } = await create(tx, body)
  return orderReply(document, 'Order created successfully')
}

async function create(tx: Tx, body: CreateOrder): Promise<{ id: string; document: string }> {
  const lab_test_id = chosenTest(body)
  assertPatient(tx, body.patient_details)
  if (body.billing_type === 'commercial_insurance')
    throw badRequest('Orders billed to an insurance are not offered by this server yet')
  return placeOrder(
    tx,
    {
      user_id: body.user_id,
      patient_details: toPatient(body.patient_details),
      patient_address: toPatientAddress(body.patient_address),
      physician: body.physician,
      passthrough: body.passthrough,
      clinical_notes: body.clinical_notes,
      priority: body.priority,
      icd_codes: body.icd_codes,
      activate_by: body.activate_by,
      lab_account_id: body.lab_account_id ?? body.order_set?.lab_account_id,
      billing_type: body.billing_type,
      facts: {
        consents: body.consents ?? [],
        aoe_answers: body.aoe_answers ?? [],
        creator_member_id: body.creator_member_id ?? null,
        ...factsOf(body),
      },
    },
    async () => {
      const test = await orderable(tx, lab_test_id, body.collection_method)
      await assertAnswered(tx, test.id, body.aoe_answers ?? [])
      return test
    },
  )
}

/** What is kept of a patient and a physician beside what an order shows of them. */
const factsOf = ({ physician, patient_details }: Pick<CreateOrder, 'physician' | 'patient_details'>) => ({
  physician: physician ?? null,
  household_income: patient_details.household_income ?? null,
  household_size: patient_details.household_size ?? null,
})

/**
 * Track an order that was placed elsewhere. Writes lab_order. Emits labtest.order.created, labtest.order.updated.
 * The laboratory is told nothing; an account that is still being set up takes it too.
 * 400: as `createOrder`. 404: no such user or lab test. 422: the sample id is that of another order at the laboratory.
 * Source: lab-testing.md 6.5.
 */
export async function importOrder(tx: Tx, body: ImportOrder): Promise<JsonText<OrderReply>> {
  const lab_test_id = chosenTest(body)
  assertPatient(tx, body.patient_details)
  const { document } = await placeOrder(
    tx,
    {
      user_id: body.user_id,
      patient_details: toPatient(body.patient_details),
      patient_address: toPatientAddress(body.patient_address),
      physician: body.physician,
      lab_account_id: body.lab_account_id ?? body.order_set.lab_account_id,
      billing_type: body.billing_type,
      sample_id: body.sample_id,
      statuses: ['active', 'pending'],
      facts: { imported: true, ...factsOf(body) },
    },
    () => orderable(tx, lab_test_id, body.collection_method),
    (open) => open.advance('requisition_bypassed'),
  )
  return orderReply(document, 'Order created successfully')
}

/** The lab test by which something is ordered. 404: the team has none such. 400: it is not active, or collected otherwise. */
export async function orderable(tx: Tx, id: string, method: CollectionMethod | undefined): Promise<LabTest> {
  const test = await tx.remember(`lab test ${id}`, () => findLabTest(tx, id))
  if (!test) throw notFound('Test does not exist')
  if (test.status !== 'active') throw badRequest(`Lab test ${test.id} is not active`)
  if (method !== undefined && test.method !== method)
    throw badRequest(`Lab test ${test.id} is collected by ${test.method}, not by ${method}`)
  return test
}

/** The one lab test an order is for; the conflicts of section 3.5 in their published words. */
function chosenTest(
  body: Partial<Pick<CreateOrder, 'order_set' | 'lab_test_id' | 'collection_method' | 'lab_account_id'>>,
): string {
  const { order_set, lab_test_id, collection_method } = body
  const add_on = order_set?.add_on
  if (add_on && !collection_method) throw badRequest('collection_method must be set if add_on is set')
  if (add_on && !add_on.marker_ids?.length && !add_on.provider_ids?.length)
    throw badRequest('marker_ids or provider_ids must be set in add_on')
  if (add_on?.marker_ids?.length && add_on.provider_ids?.length)
    throw badRequest('cannot set both marker_ids and provider_ids in add_on')
  const ids = [...new Set(order_set?.lab_test_ids ?? [])]
  if (lab_test_id !== undefined && ids.length && (ids.length > 1 || ids[0] !== lab_test_id))
    throw badRequest('lab_test_id and order_set name different tests')
  if (lab_test_id === undefined && order_set && !ids.length && !add_on)
    throw badRequest('order_set must name at least one lab test or marker')
  if (add_on || ids.length > 1)
    throw badRequest('Orders of several lab tests or of single markers are not offered by this server yet')
  const id = lab_test_id ?? ids[0]
  if (id === undefined) throw badRequest('order_set or lab_test_id must be set')
  if (body.lab_account_id && order_set?.lab_account_id && body.lab_account_id !== order_set.lab_account_id)
    throw badRequest('lab_account_id and order_set.lab_account_id differ')
  return id
}

const GUARD = 'create_order.content'
const Status = T.Object({ low_status: T.String() })
const GONE = new Set([
  'cancelled',
  'do_not_process',
  'sample_error',
  'failure_to_deliver_to_customer',
  'failure_to_deliver_to_lab',
  'lost',
])

/**
 * As `createOrder`, and the same body within a day answers with the same order, unless that order was cancelled or failed since.
 * Source: lab-testing.md 7, interface.md «idempotent against duplicate orders».
 */
export async function createOrderOnce(tx: Tx, body: CreateOrder): Promise<JsonText<OrderReply>> {
  const key = createHash('sha256').update(canonical(body)).digest('base64url')
  const kept = await claim(tx, GUARD, key, DAY_S)
  if (kept) {
    if (!(await isGone(tx, kept.object_id))) return new JsonText(kept.text)
    // The day counts from the order that takes the place.
    await release(tx, GUARD, key)
    await claim(tx, GUARD, key, DAY_S)
  }
  const { id, document } = await create(tx, body)
  const reply = orderReply(document, 'Order created successfully')
  keep(tx, GUARD, key, { status: 200, text: reply.text }, id)
  return reply
}

async function isGone(tx: Tx, order_id: string | null): Promise<boolean> {
  const row = await tx.maybe(Status, sql`select low_status from lab_order where id = ${order_id} and team_id = ${tx.team}`)
  return !row || GONE.has(row.low_status)
}

/** JSON with sorted keys. The body has been read, so spellings of addresses, states and enumerations are one already; phones become so. */
function canonical(value: unknown, name = ''): string {
  if (name === 'phone_number' && typeof value === 'string') return JSON.stringify(value.replace(/[ ().-]/g, ''))
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonical(item, key)}`)
    .join(',')}}`
}
