// Builds the result document of an order from a laboratory's report. Pure. Source: lab-testing.md 13.2 to 13.5.
import type { LabRecord } from '../catalog/labs.ts'
import type {
  DiagnosticReport,
  MeasuredAnalyte,
  PerformingLaboratory,
  PreviousValue,
  ReportedResult,
  SourceMarker,
} from '../links/diagnostic-report.ts'
import type { Order } from '../orders/schema.ts'
import { mostSevere, type Interpretation } from '../../lab-values/interpret.ts'
import type { Patient } from '../../lab-values/ranges.ts'
import { iso, ageOn } from '../../platform/runtime/clock.ts'
import { dayIn } from '../../platform/runtime/zoned-time.ts'
import { UNKNOWN_ZONE } from '../orders/collection-zone.ts'
import type { ExpectedResult } from './expected-results.ts'
import { performingLaboratories } from './merge-reports.ts'
import { isDay } from '../links/diagnostic-report.ts'
import { judgeResult, patientOn } from './judge-result.ts'
import type { BiomarkerResult, LabResultsMetadata, MissingResult, ResultDocument, SampleData } from './schema.ts'

/** What the report does not say itself. */
export interface CollectionFacts {
  /** Time zone of the place of collection. */
  time_zone: string
  /** Whether the patient has fasted, by the given answer; null without one. */
  fasting: boolean | null
}

/** Builds the result document of an order. `lab` is the laboratory the order was placed with. */
export function buildResultDocument(
  order: Order,
  lab: LabRecord | undefined,
  report: DiagnosticReport,
  expected: ExpectedResult[],
  facts: CollectionFacts,
): ResultDocument {
  const sample_id = order.sample_id ?? report.specimen_number
  const performingLab = report.performing_laboratory ?? (lab && orderingLaboratory(lab))
  const day = collectionDay(report, facts.time_zone)
  const context: ResultContext = {
    report,
    sample_id,
    laboratory: performingLab?.id ?? null,
    patient: patientOn(order.patient_details ?? {}, day),
  }
  const results = applyCancerSignal(
    report.results.map((result) => biomarker({ ...result, source_markers: sourceMarkers(result, expected) }, context)),
  )
  return {
    metadata: {
      ...patientMetadata(order, day),
      'clia_#': performingLab?.clia ?? null,
      clia_number: performingLab?.clia ?? null,
      provider: order.physician && `${order.physician.first_name} ${order.physician.last_name}`,
      laboratory: lab?.name ?? performingLab?.name ?? null,
      date_reported: normalizeTimestamp(report.reported_at),
      date_collected: report.collected_at && normalizeTimestamp(report.collected_at),
      date_received: report.received_at && normalizeTimestamp(report.received_at),
      specimen_number: report.specimen_number,
      // A result that may change makes the whole preliminary, even if the order is completed without it.
      status: results.some(({ state }) => state === 'preliminary') ? 'partial' : report.status,
      interpretation: overallInterpretation(report, results),
      patient_id: order.user_id,
      account_id: null,
    },
    results,
    missing_results: missingResults(report, expected),
    sample_information: { [sample_id]: sample(order, report, { sample_id, performingLab, fasting: facts.fasting }) },
  }
}

/**
 * The markers of a result: as the link names them, else those with the code of the test that it is reported below, else the ordered markers
 * that expect a result of this name or code.
 */
function sourceMarkers(result: ReportedResult, expected: ExpectedResult[]): SourceMarker[] | null {
  const { source_markers, ordered_test, slug, provider_id } = result
  if (source_markers) return source_markers
  if (ordered_test) {
    const markers = expected.flatMap((item) => item.source_markers).filter((marker) => marker.provider_id === ordered_test.code)
    return markers.length ? [...new Map(markers.map((marker) => [marker.marker_id, marker])).values()] : null
  }
  const isSame = (item: ExpectedResult) =>
    (slug !== '' && item.slug === slug) || (provider_id !== null && item.provider_id === provider_id)
  return expected.find(isSame)?.source_markers ?? null
}

/** The laboratory's overall interpretation may be more severe than that of the results, but not less. */
function overallInterpretation({ interpretation: said }: DiagnosticReport, results: BiomarkerResult[]): Interpretation {
  return mostSevere([...(said ? [said] : []), ...results.map(({ interpretation }) => interpretation)])
}

/** The day of collection there, for ages. The offset of the laboratory's time counts where the place is unknown. */
function collectionDay({ collected_at, reported_at }: DiagnosticReport, time_zone: string): string {
  const at = collected_at ?? reported_at
  return isDay(at) || time_zone === UNKNOWN_ZONE ? at.slice(0, 10) : dayIn(new Date(at), time_zone)
}

/** A day without a time of day stays a day. */
const normalizeTimestamp = (time: string): string => (isDay(time) ? time : iso(new Date(time)))

function patientMetadata({ patient_details: patient }: Order, date: string): Pick<LabResultsMetadata, 'patient' | 'dob' | 'age'> {
  if (!patient) return { patient: '', dob: '', age: '' }
  const name = `${patient.first_name ?? ''} ${patient.last_name ?? ''}`.trim()
  return { patient: name, dob: patient.dob, age: String(ageOn(patient.dob, date)) }
}

/** The laboratory of the order, as the one that performed its tests. */
const orderingLaboratory = (lab: LabRecord): PerformingLaboratory => ({
  id: lab.slug,
  name: lab.name,
  clia: lab.clia,
  accreditation: lab.accreditation,
  phone_number: null,
  medical_director: lab.medical_director,
  address: {
    first_line: lab.first_line_address,
    second_line: null,
    city: lab.city,
    state: lab.state,
    zip: lab.zipcode,
    country: lab.country,
  },
})

/** What the results of a report share. */
interface ResultContext {
  report: DiagnosticReport
  sample_id: string
  laboratory: string | null
  patient: Patient
}

function biomarker(result: ReportedResult, { report, sample_id, laboratory, patient }: ResultContext): BiomarkerResult {
  const { value, ...judgment } = judgeResult(result, patient)
  return {
    name: result.name,
    slug: result.slug,
    value,
    result: result.result,
    type: result.type,
    unit: result.unit,
    timestamp: normalizeTimestamp(result.reported_at ?? report.reported_at),
    notes: notesOf(result),
    reference_range: result.reference_range,
    ...judgment,
    source_interpretation: result.flag,
    loinc: result.loinc,
    loinc_slug: result.loinc_slug,
    provider_id: result.provider_id,
    source_markers: result.source_markers,
    performing_laboratory: result.performing_laboratory?.id ?? laboratory,
    source_sample_id: sample_id,
    ...(result.state && { state: result.state }),
    ...(result.sub_id && { sub_id: result.sub_id }),
    ...(result.parent && { parent: result.parent }),
    ...(result.previous && { previous: toPrevious(result.previous) }),
  }
}

const toPrevious = ({ result, unit, reported_at }: PreviousValue) => ({
  result,
  unit,
  timestamp: normalizeTimestamp(reported_at),
})

/** Results of type range and comment repeat their text; the laboratory's notes follow below. */
function notesOf({ type, result, notes }: ReportedResult): string | null {
  if (type !== 'range' && type !== 'comment') return notes
  return notes === null || notes.trim() === result.trim() ? result : `${result}\n${notes}`
}

/** The results that the laboratory could not measure and, for a final report, the required results that it does not mention. */
function missingResults(report: DiagnosticReport, expected: ExpectedResult[]): MissingResult[] {
  const slugs = new Set(report.results.map(({ slug }) => slug))
  const expectedSlugs = new Set(expected.map(({ slug }) => slug))
  // Codes are compared only for results that no expectation has by name: two expected results may share a code.
  const codes = new Set(report.results.filter(({ slug }) => !expectedSlugs.has(slug)).map(({ loinc }) => loinc))
  const reported = report.missing.filter(({ slug }) => !slugs.has(slug))
  const named = new Set(reported.map(({ slug }) => slug))
  // What a document without results contains is not known.
  const isOnlyDocument = report.has_document && report.results.length === 0
  const silent =
    report.status === 'final' && !isOnlyDocument
      ? expected.filter(
          ({ required, slug, loinc }) =>
            required && !slugs.has(slug) && !named.has(slug) && (loinc === null || !codes.has(loinc)),
        )
      : []
  return [
    ...reported.map((item): MissingResult => ({ ...identity(item), inferred_failure_type: item.failure, note: item.note })),
    ...silent.map((item): MissingResult => ({ ...identity(item), inferred_failure_type: 'unknown_failure', note: null })),
  ]
}

const identity = ({ name, slug, loinc, loinc_slug, provider_id, source_markers }: MeasuredAnalyte) => ({
  name,
  slug,
  loinc,
  loinc_slug,
  provider_id,
  source_markers,
})

/** A laboratory that performed tests, as a result shows it. */
const shownLaboratory = ({ name, clia, phone_number, medical_director, accreditation, address }: PerformingLaboratory) => ({
  name,
  phone_number,
  medical_director,
  ...(clia && { clia_number: clia }),
  ...(accreditation && { accreditation }),
  address: address && { ...address, access_notes: null },
})

function sample(
  order: Order,
  report: DiagnosticReport,
  details: { sample_id: string; performingLab: PerformingLaboratory | undefined; fasting: boolean | null },
): SampleData {
  const { sample_id, performingLab, fasting } = details
  const laboratories = [...(performingLab ? [performingLab] : []), ...performingLaboratories(report)]
  return {
    sample_id,
    control_number: null,
    date_collected: report.collected_at && normalizeTimestamp(report.collected_at),
    date_received: report.received_at && normalizeTimestamp(report.received_at),
    date_reported: normalizeTimestamp(report.reported_at),
    performing_laboratories: laboratories.length
      ? Object.fromEntries(laboratories.map((laboratory) => [laboratory.id, shownLaboratory(laboratory)]))
      : null,
    clinical_information: {
      ...(fasting !== null && { fasting }),
      notes: order.clinical_notes,
      information: commentsOf(report),
      total_volume: null,
    },
  }
}

/** What the laboratory says of ordered tests and of the whole report. */
function commentsOf({ comments = [] }: DiagnosticReport): string | null {
  const names = new Set(comments.map(({ name }) => name))
  return comments.map(({ name, text }) => (name !== null && names.size > 1 ? `${name}: ${text}` : text)).join('\n\n') || null
}

const SIGNAL = 'galleri-cancer-signal'
const TEST_CODE = '86038987'

/** Whether a result belongs to the multi-cancer test: `86038987`, or one of its parts, `86038987_1`. */
const isOfTest = ({ slug, provider_id }: BiomarkerResult): boolean =>
  slug.startsWith('galleri-') || provider_id === TEST_CODE || (provider_id ?? '').startsWith(`${TEST_CODE}_`)

/**
 * The multi-cancer test has neither flags nor ranges: a detected signal makes its results critical, and one that was not detected is
 * normal. Results that the laboratory has interpreted stay as they are.
 */
function applyCancerSignal(results: BiomarkerResult[]): BiomarkerResult[] {
  const signal = results.find(({ slug }) => slug === SIGNAL)?.result.trim()
  const interpretation = signal === 'DETECTED' ? 'critical' : signal === 'NOT_DETECTED' ? 'normal' : undefined
  if (!interpretation) return results
  return results.map((result) =>
    isOfTest(result) && result.source_interpretation.trim() === '' ? { ...result, interpretation } : result,
  )
}
