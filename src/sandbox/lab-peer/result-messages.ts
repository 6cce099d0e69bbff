// Messages with which the simulated laboratory reports on an order: its status, and results with plausible values of the catalog. Pure: the same
// order and step give the same values.
import { encodeText } from '../../lab/hl7/charsets.ts'
import { writeSegments, type Hl7Fields } from '../../lab/hl7/writer.ts'
import type { ExpectedMarker } from '../../lab/catalog/analytes.ts'
import type { DiagnosticReport, ReportedMissing, ReportedResult } from '../../lab/links/diagnostic-report.ts'
import type { Interpretation } from '../../lab-values/interpret.ts'
import { generateReport } from '../simulator/generate-report.ts'
import { headerSegment, type MessageContext } from './message-parts.ts'
import type { OrderedCode, OrderMessage } from './order-message.ts'

/**
 * `status`: the specimen is there. `partial`: about half of the results. `final`: all of them. `incomplete`: all but some, which are not performed.
 * `correct`: one result has another value. `reject`: the specimen cannot be tested. `cancel`: the laboratory cancels the order.
 */
export const reportSteps = ['status', 'partial', 'final', 'incomplete', 'correct', 'reject', 'cancel'] as const
export type ReportStep = (typeof reportSteps)[number]

/** An order as the laboratory has it. */
export interface LaboratoryOrder extends Pick<
  OrderMessage,
  'header' | 'placer' | 'tests' | 'patient' | 'dob' | 'gender' | 'specimen'
> {
  /** The laboratory's number of each test. */
  fillers: readonly string[]
  receivedAt: string
  isCancelled: boolean
}

interface ReportOptions {
  markersOf: (codes: readonly OrderedCode[]) => ExpectedMarker[]
  interpretation: Interpretation
  /** A PDF of the report, which follows the results of the last test. */
  pdf?: Buffer
}

/** The bytes of the message of a step. */
export function writeReport(order: LaboratoryOrder, step: ReportStep, context: MessageContext, options: ReportOptions): Buffer {
  const isWithoutResults = step === 'status' || step === 'reject' || step === 'cancel'
  const report = isWithoutResults ? undefined : createReport(order, step, options, context)
  const earlier = step === 'correct' ? createReport(order, 'final', options, context) : undefined
  const groups = order.tests.map((test, i) => groupSegments({ order, test, i, step, report, earlier }, context))
  const segments: Hl7Fields[] = [
    headerSegment(order.header, order.header.version.startsWith('2.3') ? ['ORU', 'R01'] : ['ORU', 'R01', 'ORU_R01'], context),
    order.patient,
    ...groups.flat(),
    ...(options.pdf && report ? [pdfSegment(options.pdf, context)] : []),
  ]
  return encodeText(writeSegments(segments), 'UNICODE UTF-8')
}

function createReport(
  order: LaboratoryOrder,
  step: ReportStep,
  { markersOf, interpretation }: ReportOptions,
  { time }: MessageContext,
) {
  const dob = order.dob === undefined ? null : order.dob.slice(0, 8).replace(/^(\d{4})(\d{2})(\d{2})$/u, '$1-$2-$3')
  const patient_details = { dob, gender: order.gender } as never
  const reported_at = time.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d).*$/u, '$1-$2-$3T$4:$5:$6Z')
  return generateReport(
    { id: order.placer, sample_id: order.specimen ?? null, patient_details },
    markersOf(order.tests),
    {
      interpretation,
      result_types: null,
      has_missing_results: step === 'incomplete',
      partial: step === 'partial',
      amended: step === 'correct',
    },
    { collected_at: null, received_at: null, reported_at },
  )
}

interface Group {
  order: LaboratoryOrder
  test: OrderedCode
  i: number
  step: ReportStep
  report: DiagnosticReport | undefined
  /** What the laboratory reported before a correction. */
  earlier: DiagnosticReport | undefined
}

function groupSegments({ order, test, i, step, report, earlier }: Group, { time }: MessageContext): Hl7Fields[] {
  const isOfTest = (item: ReportedResult | ReportedMissing) => item.source_markers?.[0]?.provider_id === test.code
  const results = report?.results.filter(isOfTest) ?? []
  const missing = report?.missing.filter(isOfTest) ?? []
  const before = new Map(earlier?.results.map((item) => [item.slug, item.result]))
  const isChanged = (item: ReportedResult) => before.has(item.slug) && before.get(item.slug) !== item.result
  const status = statusOfTest(step, results.length > 0, results.some(isChanged))
  const filler = order.fillers[i]
  return [
    ['ORC', step === 'cancel' ? 'OC' : 'RE', test.placer, filler, undefined, orderStatuses[step]],
    [
      'OBR',
      String(i + 1),
      test.placer,
      filler,
      test.components,
      ...blanks(2),
      order.receivedAt,
      ...blanks(6),
      order.receivedAt,
      ...blanks(7),
      time,
      ...blanks(2),
      status,
    ],
    ...(step === 'reject' ? [['NTE', '1', 'L', 'QNS: quantity not sufficient'] satisfies Hl7Fields] : []),
    ...results.map((item, n) => resultSegment(item, n, isChanged(item) ? 'C' : 'F', order.receivedAt)),
    ...missing.map((item, n) => missingSegment(item, results.length + n)),
  ]
}

/** ORC-5, table 0038. */
const orderStatuses: Record<ReportStep, string> = {
  status: 'IP',
  partial: 'A',
  final: 'CM',
  incomplete: 'CM',
  correct: 'CM',
  reject: 'CA',
  cancel: 'CA',
}

/** OBR-25, table 0123. Of a partial report the tests without a result are in process. */
function statusOfTest(step: ReportStep, hasResults: boolean, isCorrected: boolean): string {
  if (step === 'status') return 'I'
  if (step === 'reject' || step === 'cancel') return 'X'
  if (step === 'partial') return hasResults ? 'A' : 'I'
  return isCorrected ? 'C' : 'F'
}

const blanks = (count: number): undefined[] => Array<undefined>(count).fill(undefined)

const resultSegment = (item: ReportedResult, n: number, status: string, observedAt: string): Hl7Fields => {
  const { type, value } = toValue(item)
  return [
    'OBX',
    String(n + 1),
    type,
    codeOf(item),
    undefined,
    value,
    item.unit ?? undefined,
    item.reference_range ?? undefined,
    item.flag,
    ...blanks(2),
    status,
    ...blanks(2),
    observedAt,
  ]
}

const missingSegment = (item: ReportedMissing, n: number): Hl7Fields => [
  'OBX',
  String(n + 1),
  'ST',
  codeOf(item),
  undefined,
  'Test not performed',
  ...blanks(5),
  'X',
]

/** The laboratory's code, which is that of the ordered test for a single test, and LOINC. */
const codeOf = ({ provider_id, slug, name, loinc }: ReportedResult | ReportedMissing): string[] => [
  provider_id ?? slug,
  name,
  'L',
  ...(loinc === null ? [] : [loinc, name, 'LN']),
]

const COMPARISON = /^(<=|>=|<|>)(.+)$/u
const INTERVAL = /^(\d[\d.]*)-(\d[\d.]*)$/u

/** A number as NM; one that is compared, or an interval, as SN; a text as ST. */
function toValue({ type, result }: ReportedResult): { type: string; value: string | (string | undefined)[] } {
  if (type === 'numeric') return { type: 'NM', value: result }
  const comparison = COMPARISON.exec(result)
  if (comparison) return { type: 'SN', value: [comparison[1], comparison[2]] }
  const interval = INTERVAL.exec(result)
  if (interval) return { type: 'SN', value: [undefined, interval[1], '-', interval[2]] }
  return { type: 'ST', value: result }
}

const pdfSegment = (pdf: Buffer, { time }: MessageContext): Hl7Fields => [
  'OBX',
  '999',
  'ED',
  ['PDF', 'Report', 'L'],
  undefined,
  [undefined, 'application', 'pdf', 'Base64', pdf.toString('base64')],
  ...blanks(5),
  'F',
  ...blanks(2),
  time,
]
