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

export interface ReportedResult extends MeasuredAnalyte {
  type: ResultType
  result: string
  unit: string | null
  reference_range: string | null
  /** The laboratory's flag as received, `''` for none. */
  flag: string
  notes: string | null
}

export interface ReportedMissing extends MeasuredAnalyte {
  failure: FailureType
  note: string | null
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

/** Timestamps are ISO 8601 with an offset. */
export interface DiagnosticReport {
  /** A partial report is followed by more; each report includes the results of the earlier ones of the specimen. */
  status: 'final' | 'partial'
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
  results: ReportedResult[]
  missing: ReportedMissing[]
}
