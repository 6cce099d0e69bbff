// What a laboratory says of a specimen, as a neutral record: every link delivers this, whatever it was sent. No orders in it, and
// no judgement of ours: flags and ranges stand as the laboratory wrote them.

/** `numeric`: a decimal number. `range`: `<1.2`, `>=40`, `3-5`. `comment`: words. `coded_value`: a constant. */
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

export type Interpretation = 'normal' | 'abnormal' | 'critical' | 'unknown'

/** A marker of the catalog that a result belongs to. */
export interface SourceMarker {
  marker_id: number
  name: string
  slug: string
  provider_id: string | null
}

/** What was measured. */
export interface MeasuredAnalyte {
  name: string
  /** The catalog's slug of the analyte where the link knows it, else one of the link's making. */
  slug: string
  /** The laboratory's own code. */
  provider_id: string | null
  loinc: string | null
  loinc_slug: string | null
  /** Several when ordered markers share the result; null when nobody ordered it. */
  source_markers: SourceMarker[] | null
}

export interface ReportedResult extends MeasuredAnalyte {
  type: ResultType
  result: string
  unit: string | null
  reference_range: string | null
  /** The laboratory's flag as it was sent, `''` when there was none. */
  flag: string
  notes: string | null
}

export interface ReportedMissing extends MeasuredAnalyte {
  failure: FailureType
  note: string | null
}

/** The site that did the work. */
export interface PerformingLaboratory {
  /** By which results refer to it. */
  id: string
  name: string
  clia: string | null
  phone_number: string | null
  medical_director: string | null
  address: { first_line: string; second_line: string | null; city: string; state: string; zip: string; country: string } | null
}

/** Instants are ISO 8601 with an offset. */
export interface DiagnosticReport {
  /** A partial report is followed by more; each report repeats what the earlier ones of the specimen said. */
  status: 'final' | 'partial'
  /** It takes the place of a report that was final. */
  amended: boolean
  specimen_number: string
  collected_at: string | null
  received_at: string | null
  reported_at: string
  /** Null: the laboratory that was asked. */
  performing_laboratory: PerformingLaboratory | null
  /** The laboratory's judgement of the whole, where it gives one. */
  interpretation?: Interpretation | null
  results: ReportedResult[]
  missing: ReportedMissing[]
}
