import { failureTypes, resultTypes } from '../links/diagnostic-report.ts'
import { teamInEnvironment } from '../../tenancy/organizations/management-shapes.ts'
import {
  DateOnly,
  Fields,
  Int,
  Maybe,
  Nullable,
  OpenEnum,
  T,
  Text,
  Timestamp,
  Uuid,
  type Static,
} from '../../platform/schema/schema.ts'
import { CollectionMethod, LabSlug } from '../catalog/enums.ts'
import { PatientAddress } from '../../people/person/address.ts'
import { Gender } from '../../people/person/patient.ts'

/** The next step of an order: an action of staff, or waiting. */
const workTypes = ['accept', 'assign_kit', 'ship', 'draw', 'await_sample', 'report', 'problem'] as const
export const WorkType = OpenEnum(workTypes)
export type WorkType = Static<typeof WorkType>

export const OrderParams = Fields({ ...teamInEnvironment, order_id: Uuid })

export const WorkQuery = Fields({
  work_type: Maybe(T.Array(WorkType, { maxItems: 20 })),
  team_id: Maybe(Uuid),
  lab: Maybe(LabSlug),
  method: Maybe(CollectionMethod),
  since: Maybe(T.String({ format: 'date-time', description: 'Orders whose status has not changed after this time.' })),
  limit: Maybe(Int({ minimum: 1, maximum: 250, default: 50 })),
  next_cursor: Maybe(Text({ maxLength: 600 })),
})
export type WorkQuery = Static<typeof WorkQuery>

const nullableText = Nullable(T.String())
const item = {
  order_id: Uuid,
  team_id: Uuid,
  work_type: WorkType,
  status: T.String({ description: 'The low-level status.' }),
  status_detail: nullableText,
  status_at: Timestamp,
  created_at: Timestamp,
  method: CollectionMethod,
  lab: T.String(),
  lab_test: Fields({ id: Uuid, name: T.String() }),
  sample_id: nullableText,
  priority: T.Boolean(),
}
export const WorkItem = Fields(item, { title: 'WorkItem', description: 'Without patient data.' })
export type WorkItem = Static<typeof WorkItem>

export const WorkPage = Fields({ data: T.Array(WorkItem), next_cursor: nullableText }, { title: 'WorkPage' })

const ShownAddress = Fields(PatientAddress.properties, { title: 'WorkAddress' })
const ShownPatient = Fields(
  { first_name: nullableText, last_name: nullableText, dob: DateOnly, gender: Gender, phone_number: nullableText },
  { title: 'WorkPatient' },
)
const ExpectedResult = Fields(
  {
    analyte: T.String({ description: 'Identifies the analyte in a result.' }),
    name: T.String(),
    loinc: nullableText,
    type: Nullable(OpenEnum(resultTypes)),
    unit: nullableText,
    required: T.Boolean(),
  },
  { title: 'WorkExpectedResult' },
)
export const WorkDetails = Fields(
  {
    ...item,
    work_type: Nullable(WorkType),
    notes: nullableText,
    clinical_notes: nullableText,
    patient_details: Nullable(ShownPatient),
    address: Nullable(ShownAddress),
    expected_results: T.Array(ExpectedResult),
  },
  {
    title: 'WorkDetails',
    description:
      'Only the patient data that the next step needs: the address for a parcel or an appointment, the person for a draw or a report.',
  },
)
export type WorkDetails = Static<typeof WorkDetails>

const done = {
  order_id: Uuid,
  status: T.String({ description: 'The low-level status.' }),
  status_detail: nullableText,
  sample_id: nullableText,
  updated_at: Timestamp,
  changed: T.Boolean({ description: 'False: the order was already in this state, and nothing was changed.' }),
}
export const WorkDone = Fields(done, { title: 'WorkDone' })
export type WorkDone = Static<typeof WorkDone>

const SampleId = Text({
  minLength: 1,
  maxLength: 100,
  pattern: '^[A-Za-z0-9][A-Za-z0-9._/-]*$',
  says: 'begin with a letter or digit and have only letters, digits and . _ / -',
})
export const AcceptOrder = Fields(
  {
    sample_id: Maybe(SampleId),
    has_abn: Maybe(
      T.Boolean({ description: 'Whether the patient must sign an advance beneficiary notice. Unchanged if omitted.' }),
    ),
  },
  { title: 'AcceptOrder', description: 'Without a sample id, one is generated.' },
)
export type AcceptOrder = Static<typeof AcceptOrder>
export const AssignKit = Fields({ sample_id: SampleId }, { title: 'PickKit', description: 'The barcode on the kit.' })

const direction = OpenEnum(['outbound', 'inbound'], { description: '`outbound`: to the patient. `inbound`: to the laboratory.' })
export const RecordTracking = Fields(
  {
    direction,
    tracking_number: Text({
      minLength: 1,
      maxLength: 100,
      pattern: '^[A-Za-z0-9][A-Za-z0-9 ._/-]*$',
      says: 'begin with a letter or digit and have only letters, digits, spaces and . _ / -',
    }),
    courier: Text({ minLength: 1, maxLength: 50 }),
    tracking_url: Maybe(
      Text({ maxLength: 500, pattern: '^https?://[^\\s]+$', says: 'be an address that begins with http:// or https://' }),
    ),
    expected_on: Maybe(
      T.String({
        format: 'date',
        description:
          'Expected delivery date of the outbound parcel, from today until 60 days from now. If omitted, no date is known.',
      }),
    ),
  },
  { title: 'RecordTracking' },
)
export type RecordTracking = Static<typeof RecordTracking>

export const scans = ['picked_up', 'in_transit', 'out_for_delivery', 'delivered', 'exception', 'returned', 'lost'] as const
export const RecordScan = Fields({ direction, event: OpenEnum(scans) }, { title: 'RecordScan' })
export type RecordScan = Static<typeof RecordScan>

export const RecordVisit = Fields(
  { status: OpenEnum(['appointment_pending', 'appointment_scheduled', 'appointment_cancelled']) },
  { title: 'RecordVisit' },
)
export const RecordDraw = Fields({ collected_at: Maybe(Timestamp) }, { title: 'RecordDraw' })

export const RejectSample = Fields(
  {
    status_detail: Maybe(
      OpenEnum([
        'sample_quantity_not_sufficient',
        'sample_contaminated',
        'sample_improper_collection',
        'sample_hemolyzed',
        'sample_stability_exceeded',
      ]),
    ),
  },
  { title: 'RejectSample' },
)
export const BlockProcessing = Fields(
  {
    status_detail: Maybe(
      OpenEnum(['date_of_collection_unspecified', 'demographic_information_unspecified', 'demographic_information_mismatch']),
    ),
  },
  { title: 'BlockProcessing' },
)

export const OrderNotes = Fields({ notes: Nullable(Text({ maxLength: 2000 })) }, { title: 'OrderNotes' })

export const ReplaceOrder = Fields(
  {
    lab_test_id: Uuid,
    notes: Maybe(Text({ maxLength: 2000, description: 'Notes of the new order.' })),
  },
  { title: 'ReplaceOrder', description: 'The lab test that should have been ordered.' },
)
export type ReplaceOrder = Static<typeof ReplaceOrder>

export const OrderReplaced = Fields(
  { ...done, parent_id: T.String({ format: 'uuid', description: 'The order that was replaced.' }) },
  { title: 'OrderReplaced', description: 'The new order.' },
)
export type OrderReplaced = Static<typeof OrderReplaced>

const analyte = Text({
  minLength: 1,
  maxLength: 100,
  description: 'An expected result of the order: its slug, its LOINC code, or the code of a marker that has one result.',
})
const note = Maybe(Text({ maxLength: 4000 }))
export const EnterReport = Fields(
  {
    status: OpenEnum(['partial', 'final']),
    amended: Maybe(T.Boolean({ description: 'The report replaces a final report.' })),
    collected_at: Maybe(Timestamp),
    received_at: Maybe(Timestamp),
    reported_at: Maybe(Timestamp),
    results: T.Array(
      Fields({
        analyte,
        value: Text({ minLength: 1, maxLength: 2000, description: '`5.4`, `<0.3`, or text if no number is expected.' }),
        unit: Maybe(Text({ maxLength: 50 })),
        reference_range: Maybe(Text({ maxLength: 200 })),
        flag: Maybe(Text({ maxLength: 20, description: "The laboratory's flag: `H`, `LL`, …" })),
        notes: note,
      }),
      { maxItems: 2000 },
    ),
    missing: Maybe(T.Array(Fields({ analyte, failure: OpenEnum(failureTypes), note }), { maxItems: 500 })),
  },
  { title: 'EnterReport', description: 'A report includes the results of earlier reports of the order.' },
)
export type EnterReport = Static<typeof EnterReport>

/** Larger than a document may be, so that a document that is too large gets its own error. */
export const UPLOAD_BYTES_MAX = 20_000_000
export const UploadPdf = Fields(
  { pdf: Text({ minLength: 1, maxLength: UPLOAD_BYTES_MAX, description: 'The document in Base64.' }) },
  { title: 'UploadPdf' },
)

/** A PDF of one empty page, in Base64, for the OpenAPI document. */
export const examplePdf = [
  'JVBERi0xLjQKMSAwIG9iago8PC9UeXBlL0NhdGFsb2cvUGFnZXMgMiAwIFI+PgplbmRvYmoKMiAwIG9iago8PC9UeXBlL1BhZ2Vz',
  'L0tpZHNbMyAwIFJdL0NvdW50IDE+PgplbmRvYmoKMyAwIG9iago8PC9UeXBlL1BhZ2UvUGFyZW50IDIgMCBSL01lZGlhQm94WzAg',
  'MCA2MTIgNzkyXT4+CmVuZG9iagp4cmVmCjAgNAowMDAwMDAwMDAwIDY1NTM1IGYgCjAwMDAwMDAwMDkgMDAwMDAgbiAKMDAwMDAw',
  'MDA1NCAwMDAwMCBuIAowMDAwMDAwMTA1IDAwMDAwIG4gCnRyYWlsZXIKPDwvU2l6ZSA0L1Jvb3QgMSAwIFI+PgpzdGFydHhyZWYK',
  'MTcwCiUlRU9GCg==',
].join('')
