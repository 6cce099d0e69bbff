// The shapes of parsing jobs as clients see them. Source: lab-testing.md 25.2 and 25.3.
import { Nullable, T, Uuid, type Static } from '../../platform/schema/schema.ts'

export const jobStatuses = ['upload_pending', 'started', 'pending_review', 'completed', 'failed'] as const
export const failureReasons = ['invalid_input', 'not_english', 'low_quality', 'too_many_pages', 'processing_error'] as const
export type JobStatus = (typeof jobStatuses)[number]
export type FailureReason = (typeof failureReasons)[number]

export const oneOf = <const N extends readonly string[]>(names: N) => T.Unsafe<N[number]>({ type: 'string', enum: [...names] })

export const Metadata = T.Object(
  {
    patient_first_name: Nullable(T.String()),
    patient_last_name: Nullable(T.String()),
    dob: Nullable(T.String({ description: 'As `2024-12-30` if the order of day and month is certain; else as printed.' })),
    lab_name: Nullable(T.String()),
    date_reported: Nullable(T.String()),
    date_collected: Nullable(T.String()),
    specimen_number: Nullable(T.String()),
    gender: oneOf(['male', 'female', 'other']),
  },
  { title: 'LabReportMetadata' },
)

const LoincMatch = T.Object({
  loinc_code: T.String(),
  loinc_name: T.String(),
  display_name: T.String(),
  aliases: T.Array(T.String()),
  confidence_score: T.Number({ description: 'From 0 to 1.' }),
})

export const Result = T.Object(
  {
    test_name: T.String({ description: 'As printed.' }),
    value: T.String({ description: 'As printed.' }),
    type: Nullable(oneOf(['numeric', 'range', 'comment', 'ratio', 'percentage', 'boolean', 'duration'])),
    units: Nullable(T.String({ description: 'As printed.' })),
    min_reference_range: Nullable(T.Number()),
    max_reference_range: Nullable(T.Number()),
    source_panel_name: Nullable(T.String()),
    sample_type: oneOf(['urine', 'serum_plasma_blood', 'capillary_blood', 'stool', 'saliva', 'other', 'unknown']),
    measurement_kind: oneOf(['direct', 'calculated', 'ratio', 'unknown']),
    sensitivity: oneOf(['sensitive', 'insensitive', 'unknown']),
    interpretation: oneOf(['normal', 'abnormal', 'critical', 'unknown']),
    is_above_max_range: Nullable(T.Boolean()),
    is_below_min_range: Nullable(T.Boolean()),
    loinc_match_status: Nullable(oneOf(['auto_match', 'needs_review', 'no_match'])),
    loinc_matches: Nullable(T.Array(LoincMatch, { description: 'At most 5, the most likely first.' })),
  },
  { title: 'LabReportResult' },
)

export const ReportData = T.Object({ metadata: Metadata, results: T.Array(Result) })
export type ReportData = Static<typeof ReportData>

export const ParsingJob = T.Object({
  id: Uuid,
  job_id: Uuid,
  status: oneOf(jobStatuses),
  failure_reason: Nullable(oneOf(failureReasons)),
  data: Nullable(ReportData),
  needs_human_review: T.Boolean(),
  is_reviewed: T.Boolean(),
})
export type ParsingJob = Static<typeof ParsingJob>

export const JobParams = T.Object({ job_id: Uuid })
