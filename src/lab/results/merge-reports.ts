// Adds a report to the earlier reports on its order, for laboratories whose reports contain only what is new. Pure.
import type {
  DiagnosticReport,
  MeasuredAnalyte,
  OrderedTest,
  OrderedTestId,
  PerformingLaboratory,
  ReportComment,
  ReportedAnalyte,
  ReportedMissing,
  ReportedPlace,
  ReportedResult,
  ResultState,
} from '../links/diagnostic-report.ts'

/** What the laboratory has said last of an analyte. */
type Entry =
  | { kind: 'result'; item: ReportedResult }
  | { kind: 'missing'; item: ReportedMissing }
  | { kind: 'withdrawn'; item: ReportedAnalyte }

/**
 * The state of an order after a report. A cumulative report replaces the earlier ones. An incremental report adds its results: the newest
 * statement on a result counts, by the time of the report, and of two at one time the one that arrived last. A final result that replaces a
 * different final one is corrected, whether the laboratory says so or not. `ordered_tests` are merged in both cases.
 */
export function mergeReports(earlier: DiagnosticReport | undefined, report: DiagnosticReport): DiagnosticReport {
  if (report.scope !== 'incremental') return earlier && report.ordered_tests ? withPrevious(earlier, report) : report
  const previous = earlier ?? report
  const entries = newestEntries(earlier ? [earlier, report] : [report])
  const ordered_tests = newestTests([...(earlier?.ordered_tests ?? []), ...(report.ordered_tests ?? [])])
  const comments = mergeComments([...(earlier?.comments ?? []), ...(report.comments ?? [])])
  const latest = Date.parse(report.reported_at) >= Date.parse(previous.reported_at) ? report : previous
  return {
    ...report,
    specimen_number: previous.specimen_number,
    collected_at: latest.collected_at ?? previous.collected_at ?? report.collected_at,
    received_at: latest.received_at ?? previous.received_at ?? report.received_at,
    reported_at: latest.reported_at,
    performing_laboratory: previous.performing_laboratory ?? report.performing_laboratory,
    interpretation: report.interpretation ?? previous.interpretation ?? null,
    results: entries.flatMap((entry) => (entry.kind === 'result' ? [entry.item] : [])),
    missing: entries.flatMap((entry) => (entry.kind === 'missing' ? [entry.item] : [])),
    confirmed_results: [],
    withdrawn_results: entries.flatMap((entry) => (entry.kind === 'withdrawn' ? [entry.item] : [])),
    ...((earlier?.ordered_tests ?? report.ordered_tests) && { ordered_tests }),
    ...(comments.length > 0 && { comments }),
    ...((previous.has_document || report.has_document) && { has_document: true }),
    completes_order: previous.completes_order === true || report.completes_order === true,
  }
}

/** A cumulative report with the final values of the earlier one that it has replaced. */
function withPrevious(earlier: DiagnosticReport, report: DiagnosticReport): DiagnosticReport {
  const known = new Map(
    entriesOf(earlier).flatMap((entry) => (entry.kind === 'result' ? [[keyOf(entry.item), entry.item] as const] : [])),
  )
  const results = report.results.map((item) => {
    const replaced = known.get(keyOf(item))
    return replaced ? keepPrevious(replaced, item) : item
  })
  return { ...report, results }
}

/** The newest statement on each result, in the order in which the results appeared. */
function newestEntries(reports: DiagnosticReport[]): Entry[] {
  const entries = new Map<string, Entry>()
  for (const entry of reports.flatMap(entriesOf)) {
    const key = keyOf(entry.item)
    const known = entries.get(key)
    if (!known || !isOlder(entry.item, known.item)) entries.set(key, known ? replaceEntry(known, entry) : entry)
  }
  for (const item of reports.at(-1)!.confirmed_results ?? []) confirmEntry(entries, item, reports.at(-1)!)
  return [...entries.values()]
}

/** Makes a preliminary result final. A result that is not known yet cannot be confirmed. */
function confirmEntry(entries: Map<string, Entry>, item: ReportedAnalyte, report: DiagnosticReport): void {
  const reported_at = item.reported_at ?? report.reported_at
  const entry = entries.get(keyOf(item))
  if (entry?.kind !== 'result' || entry.item.state !== 'preliminary' || isOlder({ reported_at }, entry.item)) return
  entries.set(keyOf(item), { kind: 'result', item: { ...entry.item, state: 'final', reported_at } })
}

/** The statements of a report, each with what it would lose among those of other reports. */
function entriesOf(report: DiagnosticReport): Entry[] {
  const place = (item: ReportedPlace) => ({
    reported_at: item.reported_at ?? report.reported_at,
    performing_laboratory: item.performing_laboratory ?? report.performing_laboratory,
  })
  return [
    ...report.results.map((item): Entry => ({
      kind: 'result',
      item: { ...item, ...place(item), state: item.state ?? stateOf(report) },
    })),
    ...report.missing.map((item): Entry => ({ kind: 'missing', item: { ...item, ...place(item) } })),
    ...(report.withdrawn_results ?? []).map((item): Entry => ({ kind: 'withdrawn', item: { ...item, ...place(item) } })),
  ]
}

const stateOf = ({ status, amended }: DiagnosticReport): ResultState =>
  status === 'partial' ? 'preliminary' : amended ? 'corrected' : 'final'

/** Identifies a result within an order: ordered test, parent, code and sub-id. */
function keyOf({ ordered_test, parent, provider_id, slug, sub_id }: MeasuredAnalyte & ReportedPlace): string {
  return JSON.stringify([
    ordered_test?.code,
    ordered_test?.filler,
    parent?.code,
    parent?.sub_id,
    provider_id ?? slug,
    sub_id ?? null,
  ])
}

const isOlder = (a: ReportedPlace, b: ReportedPlace): boolean => Date.parse(a.reported_at!) < Date.parse(b.reported_at!)

function replaceEntry(previous: Entry, entry: Entry): Entry {
  if (previous.kind !== 'result' || entry.kind !== 'result') return entry
  const item = keepPrevious(previous.item, entry.item)
  if (item.state !== 'final') return { kind: 'result', item }
  const isCorrection = isFinal(previous.item) && (previous.item.state === 'corrected' || !isSameResult(previous.item, entry.item))
  return { kind: 'result', item: { ...item, state: isCorrection ? 'corrected' : 'final' } }
}

const isFinal = ({ state }: ReportedResult): boolean => state === 'final' || state === 'corrected'

/** The newer result, with the final value before it: the replaced one, or if that says the same, the one that it had replaced. */
function keepPrevious(earlier: ReportedResult, item: ReportedResult): ReportedResult {
  const isSame = isSameText(earlier.result, item.result) && isSameText(earlier.unit, item.unit)
  const previous =
    isFinal(earlier) && !isSame
      ? { result: earlier.result, unit: earlier.unit, reported_at: earlier.reported_at! }
      : earlier.previous
  return previous ? { ...item, previous } : item
}

const isSameResult = (a: ReportedResult, b: ReportedResult): boolean =>
  (['type', 'result', 'unit', 'reference_range', 'flag', 'notes'] as const).every((field) => isSameText(a[field], b[field]))

/** Blanks around a text are no correction. */
const isSameText = (a: string | null, b: string | null): boolean => a === b || (a ?? '').trim() === (b ?? '').trim()

/** Every comment stays, once: the laboratory says of none that it replaces another. */
const mergeComments = (comments: readonly ReportComment[]): ReportComment[] => [
  ...new Map(comments.map((comment) => [JSON.stringify([comment.ordered_test, comment.text]), comment])).values(),
]

const testKey = ({ code, filler }: OrderedTestId): string => JSON.stringify([code, filler])

function newestTests(tests: OrderedTest[]): OrderedTest[] {
  const merged = new Map<string, OrderedTest>()
  for (const test of tests) {
    const known = merged.get(testKey(test))
    if (!known || Date.parse(test.reported_at) >= Date.parse(known.reported_at)) merged.set(testKey(test), test)
  }
  return [...merged.values()]
}

/** The laboratories that performed the results of a report, each once. */
export function performingLaboratories({ performing_laboratory, results }: DiagnosticReport): PerformingLaboratory[] {
  const all = [performing_laboratory, ...results.map((result) => result.performing_laboratory)]
  return [...new Map(all.flatMap((lab) => (lab ? [[lab.id, lab] as const] : []))).values()]
}
