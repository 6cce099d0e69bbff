// A laboratory's report on a specimen, as a neutral record: every link delivers this form, whatever it received. It does not name orders
// and contains no interpretation of ours: flags and ranges are as the laboratory wrote them.

import type { Interpretation } from '../../lab-values/interpret.ts'

/** `numeric`: a decimal number. `range`: `<1.2`, `>=40`, `3-5`. `comment`: text. `coded_value`: a constant. */
export const resultTypes = ['numeric', 'range', 'comment', 'coded_value'] as const
export type ResultType = (typeof resultTypes)[number]

/** Why a result is missing. Source: lab-testing.md 13.5. */
export const failureTypes = [
  'quantity_not_sufficient_failure',
  'collection_process_failure',
  'drop_off_failure',
  'internal_lab_failure',
  'order_entry_failure',
  'non_failure',
  'unknown_failure',
  'patient_condition_failure',
  'missing_result_calc_failure',
  'missing_demo_aoe_calc_failure',
  'insufficient_volume',
] as const
export type FailureType = (typeof failureTypes)[number]

/** A marker of the catalog that a result belongs to. */
export interface SourceMarker {
  marker_id: number
  name: string
  slug: string
  provider_id: string | null
}

/** A measured analyte. */
export interface MeasuredAnalyte {
  name: string
  /** The analyte's slug in the catalog if the link knows it, else one that the link derives. */
  slug: string
  /** The laboratory's own code. */
  provider_id: string | null
  loinc: string | null
  loinc_slug: string | null
  /** Several if ordered markers share the result; null if it was not ordered. */
  source_markers: SourceMarker[] | null
}

/** How far a result is: `preliminary` may change, `corrected` replaces a final one. */
export const resultStates = ['preliminary', 'final', 'corrected'] as const
export type ResultState = (typeof resultStates)[number]

/** A result that another one specifies: of a susceptibility, the organism. */
interface ParentResult {
  /** The laboratory's code. */
  code: string
  sub_id: string | null
}

/** Where and when a laboratory reported an analyte. Absent fields: as the report. */
export interface ReportedPlace {
  /** The ordered test that it belongs to, as the laboratory names it. */
  ordered_test?: OrderedTestId
  /** Tells results of one code apart, such as those of two isolates. */
  sub_id?: string | null
  parent?: ParentResult | null
  performing_laboratory?: PerformingLaboratory | null
  reported_at?: string
}

export interface OrderedTestId {
  /** The laboratory's code of the test. */
  code: string
  /** The laboratory's number for the test in this order. */
  filler: string | null
}

export interface ReportedResult extends MeasuredAnalyte, ReportedPlace {
  /** Absent: by the status of the report. */
  state?: ResultState
  type: ResultType
  result: string
  unit: string | null
  reference_range: string | null
  /** The laboratory's flag as received, `''` for none. */
  flag: string
  notes: string | null
  /** The final value that this one has replaced. */
  previous?: PreviousValue
}

/** What a laboratory had reported as final, and corrected. */
export interface PreviousValue {
  result: string
  unit: string | null
  reported_at: string
}

export interface ReportedMissing extends MeasuredAnalyte, ReportedPlace {
  failure: FailureType
  note: string | null
}

/** A result without its value: the laboratory withdraws it, because it was reported by mistake, or confirms it. */
export type ReportedAnalyte = MeasuredAnalyte & ReportedPlace

/** `unfinished`: more results follow. `cancelled`: by the laboratory or at its word, not performed. */
type OrderedTestState = 'unfinished' | 'final' | 'cancelled'

/** What the laboratory says of an ordered test as a whole. */
export interface OrderedTest extends OrderedTestId {
  state: OrderedTestState
  reported_at: string
}

/** A comment of the laboratory on an ordered test, or on the whole report if it names none. */
export interface ReportComment {
  ordered_test: OrderedTestId | null
  /** Of the test. */
  name: string | null
  text: string
}

/** The site that performed the test. */
export interface PerformingLaboratory {
  /** Results refer to the site by this id. */
  id: string
  name: string
  clia: string | null
  /** Other than CLIA. */
  accreditation?: string | null
  phone_number: string | null
  medical_director: string | null
  address: { first_line: string; second_line: string | null; city: string; state: string; zip: string; country: string } | null
}

/** Whether the laboratory gave a day without a time of day. */
export const isDay = (time: string): boolean => time.length === 'YYYY-MM-DD'.length

/**
 * What a message without results says of the order. `received`: the laboratory has the sample. `expected`: it has the order and waits for the
 * sample. `refused`: it does not carry out the order, of which it has no sample.
 */
export type OrderStatement = 'received' | 'expected' | 'refused'

/** Timestamps are ISO 8601 with an offset. The times of collection and receipt may be a day, `YYYY-MM-DD`. */
export interface DiagnosticReport {
  /** A partial report is followed by more. If `ordered_tests` are given, these decide whether the order is completed. */
  status: 'final' | 'partial'
  /** `cumulative`, and absent: the report includes the results of the earlier ones. `incremental`: it adds to them. */
  scope?: 'cumulative' | 'incremental'
  /** Present: the order is completed when all of its tests are. */
  ordered_tests?: OrderedTest[]
  /** The laboratory says that it has nothing more to report on the order, whatever its tests are. */
  completes_order?: boolean
  /** The report may follow a final one without amending it, because the laboratory adds tests and corrects results without saying so. */
  follows_final?: boolean
  /** A partial result completes the order so many days after the last report on it. */
  completes_after_days?: number
  /** Present: the message is about the order and has no results. */
  order_statement?: OrderStatement
  withdrawn_results?: ReportedAnalyte[]
  /** Preliminary results of earlier reports that are final now, for incremental reports that do not repeat them. */
  confirmed_results?: ReportedAnalyte[]
  /** The report replaces a final report. */
  amended: boolean
  specimen_number: string
  collected_at: string | null
  received_at: string | null
  reported_at: string
  /** Null: the ordered laboratory. */
  performing_laboratory: PerformingLaboratory | null
  /** The laboratory's overall interpretation, if it gives one. */
  interpretation?: Interpretation | null
  comments?: ReportComment[]
  /** The laboratory sent a document, which may contain results that are not given here. */
  has_document?: boolean
  results: ReportedResult[]
  missing: ReportedMissing[]
}
