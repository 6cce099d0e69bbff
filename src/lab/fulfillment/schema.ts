import { failureTypes, resultTypes } from '../links/diagnostic-report.ts'
import { Environment, Region } from '../../platform/http/management-shapes.ts'
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
import { Gender } from '../../people/person/patient.ts'

/** What somebody has to do for an order, or to wait for. */
export const workTypes = ['accept', 'pick_kit', 'ship', 'draw', 'await_sample', 'report', 'problem'] as const
export const WorkType = OpenEnum(workTypes)
export type WorkType = Static<typeof WorkType>

export const CellParams = Fields({ org_id: Uuid, env: Environment, region: Region })
export const OrderParams = Fields({ org_id: Uuid, team_id: Uuid, environment: Environment, order_id: Uuid })

export const WorkQuery = Fields({
  todo: Maybe(T.Array(WorkType, { maxItems: 20 })),
  team_id: Maybe(Uuid),
  lab: Maybe(LabSlug),
  method: Maybe(CollectionMethod),
  since: Maybe(T.String({ format: 'date-time', description: 'Orders that have had their status since then.' })),
  limit: Maybe(Int({ minimum: 1, maximum: 250, default: 50 })),
  next_cursor: Maybe(Text({ maxLength: 600 })),
})
export type WorkQuery = Static<typeof WorkQuery>

const text = Nullable(T.String())
const item = {
  order_id: Uuid,
  team_id: Uuid,
  todo: WorkType,
  status: T.String({ description: 'The low-level status.' }),
  status_detail: text,
  status_at: Timestamp,
  created_at: Timestamp,
  method: CollectionMethod,
  lab: T.String(),
  lab_test: Fields({ id: Uuid, name: T.String() }),
  sample_id: text,
  priority: T.Boolean(),
}
export const WorkItem = Fields(item, { title: 'WorkItem', description: 'Nothing of the patient.' })
export type WorkItem = Static<typeof WorkItem>

export const WorkPage = Fields({ data: T.Array(WorkItem), next_cursor: text }, { title: 'WorkPage' })

const ShownAddress = Fields(
  {
    receiver_name: T.String(),
    first_line: T.String(),
    second_line: text,
    city: T.String(),
    state: T.String(),
    zip: T.String(),
    country: T.String(),
    access_notes: text,
    phone_number: text,
  },
  { title: 'WorkAddress' },
)
const ShownPatient = Fields(
  { first_name: text, last_name: text, dob: DateOnly, gender: Gender, phone_number: text },
  { title: 'WorkPatient' },
)
export const ExpectedResult = Fields(
  {
    analyte: T.String({ description: 'By which a result names it.' }),
    name: T.String(),
    loinc: text,
    type: Nullable(OpenEnum(resultTypes)),
    unit: text,
    required: T.Boolean(),
  },
  { title: 'WorkExpectedResult' },
)
export const WorkDetails = Fields(
  {
    ...item,
    todo: Nullable(WorkType),
    notes: text,
    clinical_notes: text,
    patient_details: Nullable(ShownPatient),
    address: Nullable(ShownAddress),
    expected_results: T.Array(ExpectedResult),
  },
  {
    title: 'WorkDetails',
    description: 'Of the patient only what is needed now: the address to send or go to, the person to draw from or report on.',
  },
)
export type WorkDetails = Static<typeof WorkDetails>

const done = {
  order_id: Uuid,
  status: T.String({ description: 'The low-level status.' }),
  status_detail: text,
  sample_id: text,
  updated_at: Timestamp,
  changed: T.Boolean({ description: 'False: it was so already, and nothing was done.' }),
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
    has_abn: Maybe(T.Boolean({ description: 'The patient is to sign an advance beneficiary notice. As it was, if left out.' })),
  },
  { title: 'AcceptOrder', description: 'Without a number one is made.' },
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
        description: 'When the outbound parcel should arrive: from today until 60 days from now. Without it none is known.',
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
    notes: Maybe(Text({ maxLength: 2000, description: 'What the new order shows as its notes.' })),
  },
  { title: 'ReplaceOrder', description: 'The lab test that should have been ordered.' },
)
export type ReplaceOrder = Static<typeof ReplaceOrder>

export const OrderReplaced = Fields(
  { ...done, parent_id: T.String({ format: 'uuid', description: 'The order that was replaced.' }) },
  { title: 'OrderReplaced', description: 'Of the new order.' },
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
    amended: Maybe(T.Boolean({ description: 'It takes the place of a final report.' })),
    collected_at: Maybe(Timestamp),
    received_at: Maybe(Timestamp),
    reported_at: Maybe(Timestamp),
    results: T.Array(
      Fields({
        analyte,
        value: Text({ minLength: 1, maxLength: 2000, description: '`5.4`, `<0.3`, or words where no number is expected.' }),
        unit: Maybe(Text({ maxLength: 50 })),
        reference_range: Maybe(Text({ maxLength: 200 })),
        flag: Maybe(Text({ maxLength: 20, description: "The laboratory's: `H`, `LL`, …" })),
        notes: note,
      }),
      { maxItems: 2000 },
    ),
    missing: Maybe(T.Array(Fields({ analyte, failure: OpenEnum(failureTypes), note }), { maxItems: 500 })),
  },
  { title: 'EnterReport', description: 'A report repeats what earlier ones of the order said.' },
)
export type EnterReport = Static<typeof EnterReport>

/** Room for more than a document may have, so that who sends one that is too large is told so. */
export const UPLOAD_BYTES_MAX = 20_000_000
export const UploadPdf = Fields(
  { pdf: Text({ minLength: 1, maxLength: UPLOAD_BYTES_MAX, description: 'The document in Base64.' }) },
  { title: 'UploadPdf' },
)
