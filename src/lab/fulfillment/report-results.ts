// The last steps of manual fulfillment: entering a report and uploading the laboratory's own document. Source: lab-testing.md 13.
import { createHash } from 'node:crypto'
import { expectedResults } from '../catalog/lab-tests.ts'
import type { DiagnosticReport } from '../links/diagnostic-report.ts'
import type { LockedOrder } from '../orders/locked-order.ts'
import { iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { expectations } from '../results/expected-results.ts'
import { receiveReport } from '../results/results.ts'
import { storeResultPdf } from '../results/uploaded-pdf.ts'
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

const PDF_BYTES_MAX = 10_000_000
const PADDING = '='.charCodeAt(0)
/** By character: 1 for a digit of Base64, 2 for white space. */
const base64Kinds = new Uint8Array(128)
for (const digit of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/') base64Kinds[digit.charCodeAt(0)] = 1
for (const space of ' \t\n\v\f\r') base64Kinds[space.charCodeAt(0)] = 2

/**
 * Whether a text is Base64 with its padding; white space does not count. Regular expressions of the whole text sometimes ended with a
 * RangeError at 13 MB, in processes that had run for a while.
 */
function isBase64(text: string): boolean {
  let [digits, padding] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const kind = base64Kinds[code]
    if (kind === 2) continue
    if (code === PADDING) padding++
    else if (kind === 1 && padding === 0) digits++
    else return false
  }
  return digits > 0 && padding <= 2 && (digits + padding) % 4 === 0
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
    return storeResultPdf(tx, lockedOrder, bytes)
  })

/** Readers search the last kilobyte for the end of the file, and accept some bytes before the header. */
const EDGE = 1024
const HEAD = /%PDF-(1\.[0-7]|2\.0)[\r\n ]/
const END = /startxref\s+(\d{1,10})\s+%%EOF/g
const TABLE_MAX = 2_000_000

/**
 * Checks that bytes are a PDF that a reader can open: its header, its end, and its cross-reference table, not its content.
 * @returns the error in the document; undefined if it is a PDF
 */
function pdfError(bytes: Buffer): string | undefined {
  const head = HEAD.exec(bytes.subarray(0, EDGE).toString('latin1'))
  if (!head) return 'The document is not a PDF'
  const end = [...bytes.subarray(-EDGE).toString('latin1').matchAll(END)].at(-1)
  if (!end) return 'The PDF has no end: it may have been cut off'
  return hasTrailer(bytes, Number(end[1])) || hasTrailer(bytes, Number(end[1]) + head.index)
    ? undefined
    : 'The PDF has no table of its objects'
}

/** Whether a cross-reference table with a trailer, or a cross-reference stream, is at the offset that the end names, and names the root. */
function hasTrailer(bytes: Buffer, offset: number): boolean {
  if (offset >= bytes.length) return false
  const text = bytes.subarray(offset, offset + TABLE_MAX).toString('latin1')
  const dictionary = /^\s*xref\s/.test(text)
    ? /\btrailer\s*<<([\s\S]*)/.exec(text)?.[1]
    : /^\s*\d+\s+\d+\s+obj\s*<<([\s\S]*?)\bstream\b/.exec(text)?.[1]
  return dictionary !== undefined && /\/Root\s+\d+\s+\d+\s+R/.test(dictionary)
}
