// Applies a result that a reviewer accepted: to the order itself, to a new order if the order can no longer receive it, or to a new order
// of the user. Orders are changed through their own module. Source: lab-testing.md 12, 14.
import { testOfMarkers } from '../catalog/order-sets.ts'
import type { LabTest } from '../catalog/schema.ts'
import type { DiagnosticReport } from '../links/diagnostic-report.ts'
import { saveOrder } from '../orders/change-order.ts'
import type { LockedOrder } from '../orders/locked-order.ts'
import { addNotes, showFailure } from '../orders/order-problems.ts'
import { buildFollowUpOrder, buildOrder, insertOrder } from '../orders/place-order.ts'
import { resolveOrder, type OrderRequest } from '../orders/resolve-order.ts'
import { utcDate } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { T, withNulls } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { receiveReport } from '../results/results.ts'
import type { CollectionMethod } from '../catalog/enums.ts'
import { Patient } from '../../people/person/patient.ts'
import { documentsOf, type IncomingResult, type ReceivedResult } from './incoming-result.ts'
import { orderState, stepsToDelivery, stepsToResult } from './matching-orders.ts'

export interface AppliedResult {
  order_id: string
  user_id: string
  /** The order as JSON text. */
  document: string
}

/** Maximum number of events of an order that is created with its result. */
const EVENT_COUNT_MAX = 8

/**
 * Advances the order to the laboratory, because the laboratory has the sample even if earlier steps were not reported.
 * Errors: 400 an order without a patient, or without a path to that status.
 */
function advanceToLab(lockedOrder: LockedOrder): void {
  if (!lockedOrder.order.patient_details) throw badRequest('The kit of this order has not been registered')
  const steps = stepsToResult(lockedOrder.lifecycle, lockedOrder.lowLevelStatus)
  if (!steps) throw badRequest(`An order in status ${lockedOrder.lowLevelStatus} cannot receive a result`)
  for (const step of steps) lockedOrder.transitionTo(step)
}

/**
 * Applies a report to its order. The caller writes the order. A report without results advances a kit to the laboratory, or shows that the
 * laboratory refuses the order, with its words in the notes.
 * Writes lab_result, lab_result_pdf. Emits labtest.order.updated for each step. Errors: 400 the order cannot receive a report.
 */
export async function applyReport(tx: Tx, lockedOrder: LockedOrder, content: ReceivedResult): Promise<void> {
  const { report } = content.delivery
  if (report.order_statement !== undefined) return applyStatement(lockedOrder, report)
  advanceToLab(lockedOrder)
  await receiveReport(tx, lockedOrder, report, documentsOf(content))
}

/** An order that has ended is not changed. */
function applyStatement(lockedOrder: LockedOrder, { order_statement, comments = [], missing }: DiagnosticReport): void {
  const state = orderState(lockedOrder.lifecycle, lockedOrder.lowLevelStatus)
  if (state !== 'awaiting' && state !== 'early') return
  const statements = [...comments.map(({ text }) => text), ...missing.map(({ note }) => note ?? '')].filter((text) => text !== '')
  const texts = [...new Set(statements)].map((text) => text.replaceAll('\n', ' '))
  if (order_statement === 'refused') {
    showFailure(lockedOrder)
    addNotes(
      lockedOrder,
      texts.map((text) => `The laboratory refuses the order: ${text}`).join('\n') || 'The laboratory refuses the order',
    )
    return
  }
  if (texts.length > 0) addNotes(lockedOrder, texts.map((text) => `The laboratory: ${text}`).join('\n'))
  if (order_statement === 'received') for (const step of stepsToDelivery(lockedOrder)) lockedOrder.transitionTo(step)
}

/**
 * Applies an incoming result to the order that a reviewer chose, or to a new order in its place: if the order was cancelled, failed or
 * awaits a redraw, or belongs to a different laboratory than the result. In the last case the order is cancelled if its status allows it.
 * Writes lab_order, lab_result. Emits labtest.order.updated; labtest.order.created for a new order.
 * Errors: 400 none of this is possible.
 */
export async function attachToOrder(
  tx: Tx,
  lockedOrder: LockedOrder,
  lab_id: number,
  content: ReceivedResult,
): Promise<AppliedResult> {
  const { delivery } = content
  const { order } = lockedOrder
  const elsewhere = order.lab_test.lab?.id !== lab_id
  const state = orderState(lockedOrder.lifecycle, lockedOrder.lowLevelStatus)
  const takesIt = state === 'awaiting' || state === 'early' || (state === 'completed' && lockedOrder.canTransitionTo('corrected'))
  if (takesIt && !elsewhere) {
    await applyReport(tx, lockedOrder, content)
    return { order_id: order.id, user_id: order.user_id, document: await saveOrder(tx, lockedOrder) }
  }
  if (!order.patient_details) throw badRequest('The kit of this order has not been registered')
  const lab_test = elsewhere ? await resolveReportedTest(tx, lab_id, delivery.report, order.lab_test.method) : order.lab_test
  // Cancelled first, so that the new order shows it.
  if (elsewhere && lockedOrder.canTransitionTo('cancelled')) lockedOrder.transitionTo('cancelled')
  const following = await buildFollowUpOrder(tx, lockedOrder, { origin: 'recreation', lab_test, event_count: EVENT_COUNT_MAX })
  await applyReport(tx, following.newOrder, content)
  const { id: order_id, document } = await insertOrder(tx, following.newOrder, following)
  await saveOrder(tx, lockedOrder)
  return { order_id, user_id: order.user_id, document }
}

/**
 * Applies an incoming result to a new order of the user, with the patient that the laboratory reported.
 * Writes lab_order, lab_result. Emits labtest.order.created, labtest.order.updated.
 * Errors: 400 the laboratory reported too little patient data, or no test of its catalog; no lab account accepts the order.
 */
export async function attachToUser(tx: Tx, user_id: string, lab_id: number, content: ReceivedResult): Promise<AppliedResult> {
  const { delivery } = content
  const patient_details = toPatient(tx, delivery)
  const request: OrderRequest = { user_id, patient_details, event_count: EVENT_COUNT_MAX, reason: 'result' }
  const resolved = await resolveOrder(tx, request, resolveReportedTest(tx, lab_id, delivery.report))
  const newOrder = buildOrder(tx, request, resolved)
  await applyReport(tx, newOrder, content)
  const { id: order_id, document } = await insertOrder(tx, newOrder, resolved)
  return { order_id, user_id, document }
}

function toPatient(tx: Tx, { patient }: IncomingResult): Patient {
  const { first_name, last_name, dob, gender } = patient ?? {}
  if (!first_name || !last_name || !dob) throw badRequest('The laboratory did not report enough patient data to create an order')
  if (dob > utcDate(tx.now)) throw badRequest('The reported date of birth is in the future')
  const reportedPatient = gender?.toLowerCase()
  return withNulls(Patient, {
    first_name,
    last_name,
    dob,
    gender:
      reportedPatient === 'female' || reportedPatient === 'male' || reportedPatient === 'other' ? reportedPatient : 'unknown',
  })
}

const Lab = T.Object({ collection_methods: T.Array(T.Unsafe<CollectionMethod>({ type: 'string' })) })

/** The collection method of a sample without an order: walk-in, if the laboratory has service centers. */
async function chooseMethod(tx: Tx, lab_id: number): Promise<CollectionMethod> {
  const { collection_methods } = await tx.one(Lab, sql`select collection_methods from lab where id = ${lab_id}`)
  return collection_methods.includes('walk_in_test') ? 'walk_in_test' : collection_methods[0]!
}

const Marker = T.Object({ id: T.Integer() })

/**
 * The lab test of a report, by the laboratory's codes and by the markers that the link knows; by default with the collection method of a
 * sample without an order. Errors: 400 the report contains no test of the laboratory's catalog.
 */
async function resolveReportedTest(
  tx: Tx,
  lab_id: number,
  { results, missing, ordered_tests = [] }: DiagnosticReport,
  method?: CollectionMethod,
): Promise<LabTest> {
  const reportedCodes = [...results, ...missing]
  const known = reportedCodes.flatMap(({ source_markers }) => (source_markers ?? []).map(({ marker_id }) => marker_id))
  const codes = [
    ...reportedCodes.flatMap(({ provider_id }) => (provider_id === null ? [] : [provider_id])),
    ...ordered_tests.map(({ code }) => code),
  ]
  const markers = await tx.many(
    Marker,
    sql`
    select id from marker
    where lab_id = ${lab_id} and (id = any (${known}::integer[]) or provider_id = any (${codes}::text[])) order by id limit 200`,
  )
  if (markers.length === 0)
    throw badRequest("The report contains no test of the laboratory's catalog, so an order cannot be created")
  return testOfMarkers(tx, {
    lab_id,
    marker_ids: markers.map(({ id }) => id),
    method: method ?? (await chooseMethod(tx, lab_id)),
    fasting: false,
  })
}
