// The shapes of reviews: what a person sees of a report that was read, and how it is corrected.
import { Clearable, Fields, Int, Maybe, Nullable, T, Text, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'
import { failureReasons, jobStatuses, Metadata, oneOf, Result } from '../parsing-jobs/schema.ts'

/** Maximum corrections of a job: a report has at most 1,000 results, and each may be corrected twice. */
export const CORRECTIONS_MAX = 2_000
const PER_REQUEST_MAX = 200
const NUMBER_MAX = 1e15

export const ReviewParams = Fields({ job_id: Uuid })
export const PageParams = Fields({ job_id: Uuid, page: Int({ minimum: 1, maximum: 30 }) })

export const ReviewQuery = Fields({
  limit: Maybe(Int({ minimum: 1, maximum: 100, default: 50 })),
  next_cursor: Maybe(Text({ maxLength: 1000 })),
})

const version = Int({ minimum: 0, description: 'How many times the report has been corrected.' })

const Waiting = Fields(
  { job_id: Uuid, user_id: Uuid, version, page_count: T.Integer(), result_count: T.Integer(), created_at: Timestamp },
  { title: 'LabReportInReview' },
)
export const ReviewPage = Fields(
  { data: T.Array(Waiting), next_cursor: Nullable(T.String()) },
  { title: 'ListLabReportReviewsResponse' },
)

const Box = Fields(
  { left: T.Number(), top: T.Number(), right: T.Number(), bottom: T.Number() },
  { title: 'LabReportBox', description: 'In the units of the size of the page, from its upper left corner.' },
)

const MetadataPlace = Nullable(Fields({ page: T.Integer(), box: Box }, { title: 'LabReportMetadataPlace' }))
const MetadataPlaces = Fields(
  {
    patient_first_name: MetadataPlace,
    patient_last_name: MetadataPlace,
    dob: MetadataPlace,
    gender: MetadataPlace,
    lab_name: MetadataPlace,
    date_reported: MetadataPlace,
    date_collected: MetadataPlace,
    specimen_number: MetadataPlace,
  },
  {
    title: 'LabReportMetadataPlaces',
    description: 'Where each field stands that was read; null if the report does not state it.',
  },
)
export type MetadataPlaces = Static<typeof MetadataPlaces>

const ReviewedResult = Fields(
  {
    result_id: T.Integer({ description: 'From 1; added results follow the results that were read.' }),
    is_added: T.Boolean(),
    is_removed: T.Boolean(),
    result: Result,
    as_read: Nullable(Result),
    place: Nullable(Fields({ page: T.Integer(), row: Box, value: Box }, { title: 'LabReportPlace' })),
    confidence: Nullable(
      T.Number({
        description:
          'From 0 to 1, that of the least certain word of the row; less if there is a finding. From 0.9 on a row is right nearly always.',
      }),
    ),
    findings: T.Array(
      Fields({ kind: T.String(), text: T.String() }, { title: 'LabReportFinding', description: 'What is implausible about it.' }),
    ),
    comments: T.Array(T.String(), { description: 'Notes of the report on this result, as printed.' }),
    specimen: Nullable(
      T.String({
        description:
          'What was examined, as the row, its heading or the head of the report says; null if they do not, or if the heading names blood.',
      }),
    ),
    method: Nullable(T.String({ description: 'How it was measured, as printed.' })),
    date: Nullable(T.String({ description: 'The day that is printed in the row or above its column.' })),
    unit_ucum: Nullable(T.String({ description: 'The unit as read, in the spelling of UCUM; null if it is not known.' })),
  },
  { title: 'LabReportReviewedResult', description: '`as_read` is the result before corrections, null if there are none.' },
)

const correctionActions = ['change_metadata', 'change_result', 'add_result', 'remove_result'] as const
export type CorrectionAction = (typeof correctionActions)[number]

const Correction = Fields(
  {
    number: T.Integer(),
    action: oneOf(correctionActions),
    result_id: Nullable(T.Integer()),
    fields: T.Unsafe<Record<string, unknown>>({ type: 'object' }),
    key_id: T.String({ description: 'The key with which it was made.' }),
    created_at: Timestamp,
  },
  { title: 'LabReportCorrection' },
)
export type Correction = Static<typeof Correction>

const ReportFinding = Fields(
  { kind: T.String(), text: T.String(), page: T.Integer(), box: Box },
  { title: 'LabReportPageFinding', description: 'What of a page is in no result.' },
)

const Decision = Fields(
  { key_id: T.String({ description: 'The key with which it was made.' }), created_at: Timestamp },
  { title: 'LabReportDecision', description: 'The approval, or that the report was let fail: `status` says which.' },
)

export const Review = Fields(
  {
    job_id: Uuid,
    user_id: Uuid,
    status: oneOf(jobStatuses),
    failure_reason: Nullable(oneOf(failureReasons)),
    is_reviewed: T.Boolean(),
    version,
    page_count: T.Integer(),
    has_pictures: T.Boolean({
      description: 'Whether pictures of the pages can be drawn: the files are kept for a limited time.',
    }),
    pages: T.Array(Fields({ number: T.Integer(), width: T.Number(), height: T.Number() }, { title: 'LabReportPageSize' })),
    metadata: Metadata,
    metadata_as_read: Nullable(Metadata),
    metadata_places: MetadataPlaces,
    findings: T.Array(ReportFinding, {
      description: 'Why the report waits although its upload did not ask for a person: add, correct or remove results for them.',
    }),
    results: T.Array(ReviewedResult),
    corrections: T.Array(Correction),
    decision: Nullable(Decision),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'LabReportReview' },
)
export type Review = Static<typeof Review>

const text = (maxLength: number) => Text({ minLength: 1, maxLength })
const number = T.Number({ minimum: -NUMBER_MAX, maximum: NUMBER_MAX })
const { gender } = Metadata.properties
const { sample_type, measurement_kind, sensitivity, interpretation, type } = Result.properties

const MetadataChange = Fields(
  {
    patient_first_name: Clearable(text(300)),
    patient_last_name: Clearable(text(300)),
    dob: Clearable(text(100)),
    lab_name: Clearable(text(300)),
    date_reported: Clearable(text(100)),
    date_collected: Clearable(text(100)),
    specimen_number: Clearable(text(100)),
    gender: Maybe(gender),
  },
  { title: 'LabReportMetadataChange' },
)

const changeable = {
  type: Maybe(type),
  units: Clearable(text(100)),
  min_reference_range: Clearable(number),
  max_reference_range: Clearable(number),
  source_panel_name: Clearable(text(300)),
  sample_type: Maybe(sample_type),
  measurement_kind: Maybe(measurement_kind),
  sensitivity: Maybe(sensitivity),
  interpretation: Maybe(interpretation),
  is_above_max_range: Clearable(T.Boolean()),
  is_below_min_range: Clearable(T.Boolean()),
  loinc_code: Clearable(
    Text({ minLength: 3, maxLength: 10, description: 'Becomes the only candidate of the result; null: it has none.' }),
  ),
}
const ChangedResult = Fields(
  { result_id: Int({ minimum: 1 }), test_name: Maybe(text(300)), value: Maybe(text(2000)), ...changeable },
  { title: 'LabReportResultChange' },
)
type ChangedResult = Static<typeof ChangedResult>
const AddedResult = Fields({ test_name: text(300), value: text(2000), ...changeable }, { title: 'LabReportResultAddition' })
type AddedResult = Static<typeof AddedResult>

export const CorrectionBody = Fields(
  {
    version,
    metadata: Maybe(MetadataChange),
    changed: Maybe(T.Array(ChangedResult, { maxItems: PER_REQUEST_MAX })),
    added: Maybe(T.Array(AddedResult, { maxItems: PER_REQUEST_MAX })),
    removed: Maybe(T.Array(Int({ minimum: 1 }), { maxItems: PER_REQUEST_MAX })),
  },
  { title: 'LabReportCorrectionBody' },
)
export type CorrectionBody = Static<typeof CorrectionBody>

export const ApprovalBody = Fields({ version }, { title: 'LabReportApprovalBody' })
export const FailureBody = Fields({ version, failure_reason: oneOf(failureReasons) }, { title: 'LabReportFailureBody' })
