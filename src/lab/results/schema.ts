import { failureTypes, resultTypes } from '../links/diagnostic-report.ts'
import { Interpretation, OrderTransaction } from '../orders/schema.ts'
import { Fields, Nullable, OpenEnum, T, Timestamp, type Static } from '../../platform/schema/schema.ts'

const text = Nullable(T.String())
const number = Nullable(T.Number())
const flag = Nullable(T.Boolean())

export const LabResultsMetadata = Fields(
  {
    age: T.String({ description: 'Age in whole years on the day when the sample was collected, by the calendar of that place.' }),
    dob: T.String({ description: '`YYYY-MM-DD`' }),
    'clia_#': text,
    clia_number: Nullable(T.String({ description: 'The same as `clia_#`.' })),
    patient: T.String(),
    provider: text,
    laboratory: text,
    date_reported: T.String({ deprecated: true }),
    date_collected: Nullable(T.String({ deprecated: true })),
    specimen_number: T.String(),
    date_received: Nullable(T.String({ deprecated: true })),
    status: OpenEnum(['final', 'partial']),
    interpretation: Nullable(Interpretation),
    patient_id: text,
    account_id: text,
  },
  { title: 'LabResultsMetadata' },
)
export type LabResultsMetadata = Static<typeof LabResultsMetadata>

const SourceMarker = Fields(
  { marker_id: T.Integer(), name: T.String(), slug: T.String(), provider_id: text },
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
    unit: text,
    timestamp: Nullable(Timestamp),
    notes: text,
    reference_range: text,
    min_range_value: number,
    max_range_value: number,
    is_above_max_range: flag,
    is_below_min_range: flag,
    interpretation: Interpretation,
    source_interpretation: T.String({ description: "The laboratory's flag as received." }),
    loinc: text,
    loinc_slug: text,
    provider_id: text,
    source_markers,
    performing_laboratory: Nullable(T.String({ description: 'A key of `performing_laboratories`.' })),
    source_sample_id: Nullable(T.String({ description: 'A key of `sample_information`.' })),
  },
  { title: 'BiomarkerResult' },
)
export type BiomarkerResult = Static<typeof BiomarkerResult>

export const MissingResult = Fields(
  {
    name: T.String(),
    slug: T.String(),
    inferred_failure_type: OpenEnum(failureTypes),
    note: text,
    loinc: text,
    loinc_slug: text,
    provider_id: text,
    source_markers,
  },
  { title: 'MissingResult' },
)
export type MissingResult = Static<typeof MissingResult>

const PerformingLaboratory = Fields(
  {
    name: T.String(),
    phone_number: text,
    medical_director: text,
    accreditation: T.Optional(T.String({ description: 'Other than CLIA; absent if there is none.' })),
    address: Nullable(
      Fields({
        first_line: T.String(),
        second_line: text,
        country: T.String(),
        zip: T.String(),
        city: T.String(),
        state: T.String(),
        access_notes: text,
      }),
    ),
  },
  { title: 'PerformingLaboratory' },
)

export const SampleData = Fields(
  {
    sample_id: text,
    control_number: text,
    date_collected: text,
    date_received: text,
    date_reported: text,
    performing_laboratories: Nullable(T.Record(T.String(), PerformingLaboratory)),
    clinical_information: Nullable(
      Fields(
        {
          fasting: T.Optional(
            T.Boolean({
              description: 'As the patient answered; absent without an answer. The lab test says whether fasting is required.',
            }),
          ),
          notes: text,
          information: text,
          total_volume: text,
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
