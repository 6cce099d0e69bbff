import { failureTypes, resultStates, resultTypes } from '../links/diagnostic-report.ts'
import { Interpretation, OrderTransaction } from '../orders/schema.ts'
import { Fields, Nullable, OpenEnum, T, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'

const nullableText = Nullable(T.String())
const nullableNumber = Nullable(T.Number())
const nullableBoolean = Nullable(T.Boolean())

export const LabResultsMetadata = Fields(
  {
    age: T.String({ description: 'Age in whole years on the day when the sample was collected, by the calendar of that place.' }),
    dob: T.String({ description: '`YYYY-MM-DD`' }),
    'clia_#': nullableText,
    clia_number: Nullable(T.String({ description: 'The same as `clia_#`.' })),
    patient: T.String(),
    provider: nullableText,
    laboratory: nullableText,
    date_reported: T.String({ deprecated: true }),
    date_collected: Nullable(T.String({ deprecated: true })),
    specimen_number: T.String(),
    date_received: Nullable(T.String({ deprecated: true })),
    status: OpenEnum(['final', 'partial']),
    interpretation: Nullable(Interpretation),
    patient_id: nullableText,
    account_id: nullableText,
  },
  { title: 'LabResultsMetadata' },
)
export type LabResultsMetadata = Static<typeof LabResultsMetadata>

const SourceMarker = Fields(
  { marker_id: T.Integer(), name: T.String(), slug: T.String(), provider_id: nullableText },
  { title: 'SourceMarker' },
)
const source_markers = Nullable(
  T.Array(SourceMarker, { description: 'The ordered markers the result belongs to; null for a result that was not ordered.' }),
)

export const BiomarkerResult = Fields(
  {
    name: T.String(),
    slug: T.String(),
    value: Nullable(T.Number({ deprecated: true, description: 'The number of a numeric result, -1 for every other type.' })),
    result: T.String(),
    type: OpenEnum(resultTypes),
    unit: nullableText,
    timestamp: Nullable(Timestamp),
    notes: nullableText,
    reference_range: nullableText,
    min_range_value: nullableNumber,
    max_range_value: nullableNumber,
    is_above_max_range: nullableBoolean,
    is_below_min_range: nullableBoolean,
    interpretation: Interpretation,
    source_interpretation: T.String({ description: "The laboratory's flag as received." }),
    loinc: nullableText,
    loinc_slug: nullableText,
    provider_id: nullableText,
    source_markers,
    performing_laboratory: Nullable(T.String({ description: 'A key of `performing_laboratories`.' })),
    source_sample_id: Nullable(T.String({ description: 'A key of `sample_information`.' })),
    state: T.Optional(
      OpenEnum(resultStates, {
        description: 'Given by laboratories that report results one by one. Absent: the status of the report.',
      }),
    ),
    sub_id: T.Optional(T.String({ description: 'Tells results of one code apart, such as those of two isolates.' })),
    parent: T.Optional(
      Fields(
        { code: T.String({ description: 'Its `provider_id`.' }), sub_id: nullableText },
        { title: 'ParentResult', description: 'The result that this one specifies: of a susceptibility, the organism.' },
      ),
    ),
    previous: T.Optional(
      Fields(
        { result: T.String(), unit: nullableText, timestamp: Timestamp },
        { title: 'PreviousResult', description: 'The final value that the laboratory reported before and has corrected.' },
      ),
    ),
  },
  { title: 'BiomarkerResult' },
)
export type BiomarkerResult = Static<typeof BiomarkerResult>

export const MissingResult = Fields(
  {
    name: T.String(),
    slug: T.String(),
    inferred_failure_type: OpenEnum(failureTypes),
    note: nullableText,
    loinc: nullableText,
    loinc_slug: nullableText,
    provider_id: nullableText,
    source_markers,
  },
  { title: 'MissingResult' },
)
export type MissingResult = Static<typeof MissingResult>

const PerformingLaboratory = Fields(
  {
    name: T.String(),
    phone_number: nullableText,
    medical_director: nullableText,
    accreditation: T.Optional(T.String({ description: 'Other than CLIA; absent if there is none.' })),
    clia_number: T.Optional(T.String()),
    address: Nullable(
      Fields({
        first_line: T.String(),
        second_line: nullableText,
        country: T.String(),
        zip: T.String(),
        city: T.String(),
        state: T.String(),
        access_notes: nullableText,
      }),
    ),
  },
  { title: 'PerformingLaboratory' },
)

export const SampleData = Fields(
  {
    sample_id: nullableText,
    control_number: nullableText,
    date_collected: nullableText,
    date_received: nullableText,
    date_reported: nullableText,
    performing_laboratories: Nullable(T.Record(T.String(), PerformingLaboratory)),
    clinical_information: Nullable(
      Fields(
        {
          fasting: T.Optional(
            T.Boolean({
              description: 'As the patient answered; absent without an answer. The lab test says whether fasting is required.',
            }),
          ),
          notes: nullableText,
          information: nullableText,
          total_volume: nullableText,
        },
        { title: 'ClinicalInformation' },
      ),
    ),
  },
  { title: 'SampleData' },
)
export type SampleData = Static<typeof SampleData>

const document = {
  metadata: LabResultsMetadata,
  results: T.Array(BiomarkerResult),
  missing_results: T.Array(MissingResult),
  sample_information: T.Record(T.String(), SampleData),
}

/** The stored part of a result. The order's transaction changes later, so it is added when the result is read. */
const ResultDocument = Fields(document)
export type ResultDocument = Static<typeof ResultDocument>

export const LabResults = Fields({ ...document, order_transaction: Nullable(OrderTransaction) }, { title: 'LabResults' })
export type LabResults = Static<typeof LabResults>

export const ResultDocumentEntry = Fields(
  {
    id: Uuid,
    report_number: Nullable(T.String({ description: "The laboratory's number of the report (OBR-3)." })),
    test_code: Nullable(T.String({ description: "The laboratory's code of the test that the document belongs to (OBR-4)." })),
    code: Nullable(T.String({ description: "The laboratory's code of the document; null if staff uploaded it." })),
    name: nullableText,
    bytes: T.Integer(),
    received_at: Timestamp,
    is_of_latest_report: T.Boolean({
      description: 'False: the laboratory has reported on the order since. Results in the document may have been corrected.',
    }),
    is_result_pdf: T.Boolean({ description: 'The document is the PDF of the result.' }),
  },
  { title: 'ResultDocumentEntry' },
)
export const ResultDocuments = Fields({ documents: T.Array(ResultDocumentEntry) }, { title: 'ResultDocuments' })
export type ResultDocuments = Static<typeof ResultDocuments>
