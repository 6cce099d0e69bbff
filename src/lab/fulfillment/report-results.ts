// The last steps of manual fulfillment: entering a report and uploading the laboratory's own document. Source: lab-testing.md 13.
import { createHash } from 'node:crypto'
import { expectedResults } from '../catalog/lab-tests.ts'
import type { DiagnosticReport } from '../links/diagnostic-report.ts'
import type { LockedOrder } from '../orders/locked-order.ts'
import { iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { isBase64, pdfError, PDF_BYTES_MAX } from '../../platform/pdf/pdf-file.ts'
import { expectations } from '../results/expected-results.ts'
import { receiveReport } from '../results/results.ts'
import { storeUploadedPdf } from '../results/lab-documents.ts'
import { parseManualReport } from './report-entry.ts'
import { collectedAt } from './samples.ts'
import type { EnterReport, WorkDone } from './schema.ts'
import { transitionError, runStep } from './work-step.ts'

const isReported = ({ lowLevelStatus }: LockedOrder): boolean => lowLevelStatus === 'completed' || lowLevelStatus === 'corrected'

/**
 * Receives a manually entered report, as every other report (`receiveReport`). The same report again changes nothing.
 * Writes lab_result, lab_result_pdf. Emits what `receiveReport` emits.
 * Errors: 400 the order is not at the laboratory, a final report exists and this one does not amend it, or there is no final report to
 * amend; 404 unknown order; 422 errors of `parseManualReport`.
 */
export const enterManualReport = (tx: Tx, order_id: string, body: EnterReport): Promise<WorkDone> =>
  runStep(tx, order_id, async (lockedOrder) => {
    const { order, internalData } = lockedOrder
    const expected = expectations(await expectedResults(tx, order.lab_test.id))
    const report = parseManualReport(body, expected, {
      number: order.sample_id ?? order.id,
      collected_at: collectedAt(lockedOrder) ?? firstTimeIn(lockedOrder, 'draw_completed', 'transit_lab', 'delivered_to_lab'),
      received_at: firstTimeIn(lockedOrder, 'delivered_to_lab'),
      now: iso(tx.now),
    })
    const digest = reportDigest(report, body)
    if (internalData.report_digest === digest) return false
    if (report.amended !== isReported(lockedOrder))
      throw report.amended
        ? badRequest('There is no final report to amend')
        : transitionError(lockedOrder, lockedOrder.lowLevelStatus)
    internalData.report_digest = digest
    await receiveReport(tx, lockedOrder, report)
    return true
  })

/** When an order first had one of these statuses. */
const firstTimeIn = ({ order }: LockedOrder, ...lows: string[]): string | null =>
  order.events.find(({ status }) => lows.includes(status.split('.').at(-1)!))?.created_at ?? null

/** Identifies a repeated report; timestamps count only if they were given. */
function reportDigest({ status, amended, results, missing }: DiagnosticReport, entry: EnterReport): string {
  const { collected_at, received_at, reported_at } = entry
  const said = [status, amended, results, missing, collected_at, received_at, reported_at]
  return createHash('sha256').update(JSON.stringify(said)).digest('base64url')
}

/**
 * Stores the laboratory's own document of an order's result; it is shown instead of the generated one, from the first report on. The same
 * document again changes nothing. Writes lab_result_pdf. Emits no event, because reports emit their own.
 * Errors: 400 not a PDF, truncated, more than 10 MB, or the order is not at the laboratory; 404 unknown order.
 */
export const uploadPdf = (tx: Tx, order_id: string, base64: string): Promise<WorkDone> =>
  runStep(tx, order_id, async (lockedOrder) => {
    if (!isBase64(base64)) throw badRequest('pdf must be a Base64-encoded document')
    const bytes = Buffer.from(base64, 'base64')
    if (bytes.length > PDF_BYTES_MAX) throw badRequest('pdf must be at most 10 MB')
    const fault = pdfError(bytes)
    if (fault) throw badRequest(fault)
    if (!isReported(lockedOrder) && !lockedOrder.canTransitionTo('completed'))
      throw badRequest(`An order in status ${lockedOrder.lowLevelStatus} has no result yet`)
    return storeUploadedPdf(tx, lockedOrder, bytes)
  })
