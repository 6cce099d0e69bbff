// Results: a laboratory's report on an order, as the API shows it. Owns lab_result, one row for each order with a result. Does not decide
// what a laboratory is asked to do.
import { expectedResults } from '../catalog/lab-tests.ts'
import { identifiedLab } from '../catalog/lab-identity.ts'
import { findLab } from '../catalog/labs.ts'
import { fastingAnswer, type AoeAnswer } from '../catalog/aoe.ts'
import { collectionZone } from '../orders/collection-zone.ts'
import { isDay, type DiagnosticReport } from '../links/diagnostic-report.ts'
import { transactionStatus, type LockedOrder } from '../orders/locked-order.ts'
import type { Order } from '../orders/schema.ts'
import { paperOf } from '../../settings/cells.ts'
import { pdfFileName } from '../../platform/pdf/render.ts'
import { iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { PreserializedJson } from '../../platform/http/operation.ts'
import { Nullable, T, Timestamp, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { combineResults } from './combined-results.ts'
import { buildResultDocument } from './result-document.ts'
import { expectations, type ExpectedResult } from './expected-results.ts'
import { identifyAnalytes } from './identify-analytes.ts'
import { mergeReports } from './merge-reports.ts'
import { withOrderStatus } from './order-completion.ts'
import { toReportContent, type ReportContent } from './report-content.ts'
import { scheduleCompletion } from './completion-limit.ts'
import { notifyCritical, becomesCritical } from './critical-results.ts'
import { markersToRedraw, placeRedraw } from './redraws.ts'
import { resultReceived } from './result-hooks.ts'
import type { LabResults, LabResultsMetadata, ResultDocument } from './schema.ts'
import { DOCUMENTS_MAX, listUploadedPdfs, saveDocuments, type LabDocument } from './lab-documents.ts'
import { withdrawnResults, type WithdrawnResult } from './withdrawn-results.ts'
import { notDeleted, notDeletedHere } from '../../people/users/users.ts'

/** The maximum number of results in a printed report. */
export const RESULTS_MAX = 2000
export const MISSING_MAX = 500

const PreviousResult = T.Object({
  interpretation: T.String(),
  document: T.String(),
  report: T.String(),
  withdrawn: Nullable(T.String()),
  pdf_ids: T.Array(T.String()),
  created_at: Timestamp,
})

/**
 * Receives a laboratory's report: it becomes or replaces the result of its order, or adds to it (`mergeReports`), and a final one completes
 * the order. A report with `ordered_tests` is final when all of them are (`withOrderStatus`). A report with `follows_final` that says nothing
 * new changes no status, but may bring its document.
 * Writes lab_result, lab_result_pdf, mail. Queues results.complete for a partial report with a time limit. Emits labtest.result.critical at the first critical interpretation and whenever another marker
 * turns critical; then labtest.order.updated for `completed`, for `corrected` if the order was completed before, or for `sample_error` if
 * nothing could be reported. A partial report changes the order to `partial_results`, but changes no status of a kit. If missing results
 * lead to a redraw, the order changes to `redraw_available` instead, and a redraw is placed (redraws.ts).
 * @param documents the laboratory's own of this report; the last one is the PDF of the result
 * Errors: 400 the order is not at the laboratory, or its report is no longer awaited; the laboratory has no identity to print
 * (`identifiedLab`); more than 2,000 results or 500 missing ones.
 * Source: lab-testing.md 12, 13.1, 13.7.
 */
export async function receiveReport(
  tx: Tx,
  lockedOrder: LockedOrder,
  newReport: DiagnosticReport,
  documents: readonly LabDocument[] = [],
): Promise<void> {
  const { order } = lockedOrder
  const { lab } = order.lab_test
  if (lab) await identifiedLab(tx, lab)
  const [earlier, markers, laboratory, time_zone, fasting] = await Promise.all([
    tx.maybe(
      PreviousResult,
      sql`
      select interpretation, document, report, withdrawn, pdf_ids, created_at from lab_result
      where order_id = ${order.id} and team_id = ${tx.team}`,
    ),
    expectedResults(tx, order.lab_test.id),
    lab ? findLab(tx, lab.id) : undefined,
    collectionZone(tx, order),
    fastingAnswer(tx, order.lab_test.id, (lockedOrder.internalData.aoe_answers ?? []) as AoeAnswer[]),
  ])
  const expected = expectations(markers)
  const earlierReport = earlier && (JSON.parse(earlier.report) as DiagnosticReport)
  const report = orderReport(earlierReport, newReport, expected)
  const step = reportStatus(lockedOrder, report)
  const document = buildResultDocument(order, laboratory, report, expected, { time_zone, fasting })
  const { status } = document.metadata
  const interpretation = document.metadata.interpretation!
  const created_at = earlier?.created_at ?? iso(tx.now)
  const withdrawn = earlier && withdrawnBy(earlier, document)
  const isSameStatus = earlierReport?.status === report.status
  const saysNothingNew =
    report.follows_final === true &&
    earlier !== undefined &&
    isSameStatus &&
    isSameContent(JSON.parse(earlier.document) as ResultDocument, document)
  const isOvertaken = earlierReport !== undefined && isOlder(newReport, earlierReport)
  const pdf_ids = await savePdfs(tx, order.id, documents, { earlier, saysNothingNew, isOvertaken })
  tx.defer(sql`
    insert into lab_result (order_id, team_id, status, interpretation, document, report, withdrawn, pdf_ids, created_at, updated_at)
    values (${order.id}, ${tx.team}, ${status}, ${interpretation}, ${JSON.stringify(document)}, ${JSON.stringify(report)},
            ${withdrawn ?? null}, ${pdf_ids}::uuid[], ${created_at}, ${tx.now})
    on conflict (team_id, order_id) do update
    set status = excluded.status, interpretation = excluded.interpretation, document = excluded.document, report = excluded.report,
        withdrawn = excluded.withdrawn, pdf_ids = excluded.pdf_ids, updated_at = excluded.updated_at`)
  scheduleCompletion(tx, order.id, report)
  if (saysNothingNew) return
  if (report.collected_at !== null) lockedOrder.setCollectedAt(collectionInstant(report.collected_at))
  order.interpretation = interpretation
  order.has_missing_results = document.missing_results.length > 0
  if (becomesCritical(document, earlier))
    notifyCritical(tx, lockedOrder, {
      sample_id: order.sample_id ?? report.specimen_number,
      status: report.status,
      created_at,
      time_zone,
    })
  const ends = step === 'completed' || step === 'sample_error'
  const again =
    ends && lockedOrder.canTransitionTo('redraw_available') ? await markersToRedraw(tx, lockedOrder, document, expected) : []
  if (again.length) {
    lockedOrder.transitionTo('redraw_available')
    await placeRedraw(tx, lockedOrder, again)
  } else if (step) lockedOrder.transitionTo(step)
  await tx.notify(resultReceived, lockedOrder)
}

/** Whether a report that adds to another is older: it may repeat values that were corrected since. */
const isOlder = (report: DiagnosticReport, earlier: DiagnosticReport): boolean =>
  report.scope === 'incremental' && Date.parse(report.reported_at) < Date.parse(earlier.reported_at)

interface Novelty {
  earlier: Static<typeof PreviousResult> | undefined
  saysNothingNew: boolean
  /** A newer report came first. */
  isOvertaken: boolean
}

/** Stores the documents of a report. @returns the ids of those that are true of the result, the one to show last */
async function savePdfs(
  tx: Tx,
  order_id: string,
  documents: readonly LabDocument[],
  { earlier, saysNothingNew, isOvertaken }: Novelty,
): Promise<string[]> {
  const ids = documents.length > 0 ? await saveDocuments(tx, order_id, documents, { areOlder: isOvertaken }) : []
  if (earlier && isOvertaken) return saysNothingNew ? earlier.pdf_ids : []
  if (!earlier) return [...(await listUploadedPdfs(tx, order_id)), ...ids]
  return saysNothingNew ? [...earlier.pdf_ids, ...ids].slice(-DOCUMENTS_MAX) : ids
}

/** Noon of a day without a time is on that day in nearly every zone. */
const collectionInstant = (time: string): Date => new Date(isDay(time) ? `${time}T12:00:00Z` : time)

/** Everything that the laboratory has reported on the order, with this report. Errors: 400 too many results. */
function orderReport(
  earlier: DiagnosticReport | undefined,
  newReport: DiagnosticReport,
  expected: ExpectedResult[],
): DiagnosticReport {
  const report = withOrderStatus(mergeReports(earlier, identifyAnalytes(newReport, expected)), expected)
  if (report.results.length > RESULTS_MAX || report.missing.length > MISSING_MAX)
    throw badRequest(`A report must have at most ${RESULTS_MAX} results and ${MISSING_MAX} missing results`)
  return report
}

/** Whether two documents say the same; the times of their reports and blanks around texts do not count. */
function isSameContent(a: ResultDocument, b: ResultDocument): boolean {
  const content = ({ metadata, results, missing_results, sample_information }: ResultDocument) =>
    JSON.stringify(
      [
        { ...metadata, date_reported: null },
        results.map((result) => ({ ...result, timestamp: null })),
        missing_results,
        Object.values(sample_information).map(({ clinical_information }) => clinical_information?.information ?? null),
      ],
      (_, value: unknown) => (typeof value === 'string' ? value.trim() : value),
    )
  return content(a) === content(b)
}

const withdrawnOf = (text: string | null): WithdrawnResult[] => (text === null ? [] : (JSON.parse(text) as WithdrawnResult[]))

/** As it is stored: null if every result that was ever reported is there. */
function withdrawnBy(earlier: Static<typeof PreviousResult>, { results }: ResultDocument): string | null {
  const before = (JSON.parse(earlier.document) as ResultDocument).results
  const withdrawn = withdrawnResults(before, withdrawnOf(earlier.withdrawn), results)
  return withdrawn.length ? JSON.stringify(withdrawn) : null
}

/** The status that the report leads to. Kits have none for a partial report. */
function reportStatus(lockedOrder: LockedOrder, report: DiagnosticReport): string | undefined {
  const isCompleted = lockedOrder.lowLevelStatus === 'completed' || lockedOrder.lowLevelStatus === 'corrected'
  if (isCompleted && (report.status === 'final' || report.ordered_tests)) return 'corrected'
  if (report.status === 'final') {
    return report.results.length === 0 && !report.has_document ? 'sample_error' : 'completed'
  }
  if (lockedOrder.canTransitionTo('partial_results')) return 'partial_results'
  if (lockedOrder.order.details.type === 'testkit' && lockedOrder.canTransitionTo('completed')) return undefined
  throw badRequest(`Transition from ${lockedOrder.lowLevelStatus} to partial_results is not allowed`)
}

const Row = T.Object({ order_document: T.String(), document: Nullable(T.String()), withdrawn: Nullable(T.String()) })

export interface StoredResult {
  order: Order
  /** JSON. */
  document: string
  withdrawnResults: WithdrawnResult[]
}

/** The stored order, its stored result and what reports have withdrawn. Errors: 404 unknown order, no result yet. */
export async function readResult(tx: Tx, order_id: string): Promise<StoredResult> {
  const row = await tx.maybe(
    Row,
    sql`
    select o.document as order_document, r.document, r.withdrawn
    from lab_order o left join lab_result r on r.team_id = o.team_id and r.order_id = o.id
    where o.id = ${order_id} and o.team_id = ${tx.team} and ${notDeletedHere(tx, sql`o.user_id`)}`,
  )
  if (!row) throw notFound('Order not found')
  const order = JSON.parse(row.order_document) as Order
  tx.concerns(order.user_id)
  if (row.document === null) throw notFound('No result is available for this order')
  return { order, document: row.document, withdrawnResults: withdrawnOf(row.withdrawn) }
}

/** Reads the result of an order. Errors: 404 unknown order, no result yet. */
export async function getResult(tx: Tx, order_id: string): Promise<PreserializedJson<LabResults>> {
  const { order, document } = await readResult(tx, order_id)
  return new PreserializedJson(`${document.slice(0, -1)},"order_transaction":${JSON.stringify(order.order_transaction)}}`)
}

/** Reads the metadata of an order's result. Errors: 404 unknown order, no result yet. */
export async function getResultMetadata(tx: Tx, order_id: string): Promise<LabResultsMetadata> {
  return (JSON.parse((await readResult(tx, order_id)).document) as ResultDocument).metadata
}

/** The printed content of an order's result. Errors: 404 unknown order, no result yet. */
export async function getResultPdf(tx: Tx, order_id: string): Promise<ReportContent> {
  const { order, document } = await readResult(tx, order_id)
  return toReportContent(JSON.parse(document) as ResultDocument, order, {
    name: pdfFileName(order.sample_id ?? order.id),
    ...(await printing(tx, order)),
  })
}

const printing = async (tx: Tx, order: Order) => ({
  sandbox: tx.tenant.cell.startsWith('sandbox'),
  paper: paperOf(tx.tenant.cell),
  time_zone: await collectionZone(tx, order),
})

/** More orders than a transaction can have. */
const ORDERS_MAX = 100

const MemberRow = T.Object({ order_document: T.String(), low_level_status: T.String(), document: Nullable(T.String()) })

/** The combined results of a transaction's orders, with the latest order that has any. */
async function readCombined(tx: Tx, transaction_id: string): Promise<{ order: Order; document: ResultDocument }> {
  const rows = await tx.many(
    MemberRow,
    sql`
    select o.document as order_document, o.low_level_status, r.document
    from lab_order o left join lab_result r on r.team_id = o.team_id and r.order_id = o.id
    where o.transaction_id = ${transaction_id} and o.team_id = ${tx.team} and ${notDeleted(tx, sql`o.user_id`)}
    order by o.created_at, o.id limit ${ORDERS_MAX}`,
  )
  if (rows.length === 0) throw notFound('Order transaction not found')
  for (const row of rows) {
    const { id, user_id } = JSON.parse(row.order_document) as Order
    tx.concerns(user_id, id)
  }
  const latest = rows.findLast((row) => row.document !== null)
  if (!latest) throw notFound('No result is available for this order transaction')
  const documents = rows.flatMap((row) => (row.document === null ? [] : [JSON.parse(row.document) as ResultDocument]))
  const completed = transactionStatus(rows.map((row) => row.low_level_status)) === 'completed'
  return { order: JSON.parse(latest.order_document) as Order, document: combineResults(documents, completed) }
}

/** Reads the combined results of a transaction's orders. Errors: 404 unknown transaction, no result of any order yet. */
export async function getTransactionResult(tx: Tx, transaction_id: string): Promise<LabResults> {
  const { order, document } = await readCombined(tx, transaction_id)
  return { ...document, order_transaction: order.order_transaction }
}

/** The printed content of a transaction's results. Errors: 404 unknown transaction, no result of any order yet. */
export async function getTransactionResultPdf(tx: Tx, transaction_id: string): Promise<ReportContent> {
  const { order, document } = await readCombined(tx, transaction_id)
  return toReportContent(document, order, { name: pdfFileName(transaction_id), ...(await printing(tx, order)) })
}

/** Erase the results of a deleted user, when the grace is over; before the orders go. Writes lab_result, lab_result_pdf. */
export async function eraseResults(tx: Tx, user_id: string): Promise<void> {
  await tx.run(sql`
      delete from lab_result_pdf
      where team_id = ${tx.team} and order_id in (select id from lab_order where user_id = ${user_id} and team_id = ${tx.team})`)
  await tx.run(sql`
      delete from lab_result
      where team_id = ${tx.team} and order_id in (select id from lab_order where user_id = ${user_id} and team_id = ${tx.team})`)
}
