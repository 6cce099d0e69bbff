import { LabTest } from '../catalog/schema.ts'
import { HealthInsuranceInput, IcdCodes } from '../../people/insurance/schema.ts'
import {
  DateOnly,
  Email,
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
import { ImportedAddressInput, PatientAddress, PatientAddressInput, ShippingAddress } from '../../people/person/address.ts'
import { Billing, CollectionMethod } from '../catalog/enums.ts'
import { Npi } from '../../people/person/contact-fields.ts'
import { Physician } from '../../people/physicians/schema.ts'
import { Image } from '../../people/person/image.ts'
import { Patient, PatientInput } from '../../people/person/patient.ts'
import { lowLevelStatuses } from './lifecycle.ts'
import { topLevelStatuses } from './status-machine.ts'

export const Interpretation = OpenEnum(['normal', 'abnormal', 'critical', 'unknown'])
const Origin = OpenEnum(['initial', 'redraw', 'recreation'])
const TransactionStatus = OpenEnum(['active', 'completed', 'cancelled'])

const OrderEvent = Fields(
  {
    id: T.Integer(),
    created_at: Timestamp,
    status: T.String({ description: '`<top-level>.<method>.<low-level>`' }),
    status_detail: Nullable(T.String()),
  },
  { title: 'OrderEvent' },
)
type OrderEvent = Static<typeof OrderEvent>

const OrderInTransaction = Fields(
  {
    id: Uuid,
    created_at: Timestamp,
    updated_at: Timestamp,
    low_level_status: T.String(),
    low_level_status_created_at: Timestamp,
    origin: Origin,
    parent_id: Nullable(Uuid),
  },
  { title: 'OrderInTransaction' },
)

export const OrderTransaction = Fields(
  { id: Uuid, status: TransactionStatus, orders: T.Array(OrderInTransaction) },
  { title: 'OrderTransaction' },
)
export type OrderTransaction = Static<typeof OrderTransaction>

export const Shipment = Fields(
  {
    id: Uuid,
    outbound_tracking_number: Nullable(T.String()),
    outbound_tracking_url: Nullable(T.String()),
    outbound_courier: Nullable(T.String()),
    inbound_tracking_number: Nullable(T.String()),
    inbound_tracking_url: Nullable(T.String()),
    inbound_courier: Nullable(T.String()),
    notes: Nullable(T.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Shipment' },
)
export type Shipment = Static<typeof Shipment>

const timestampFields = { id: Uuid, created_at: Timestamp, updated_at: Timestamp }
const TestkitDetails = Fields(
  { type: T.Literal('testkit'), data: Fields({ ...timestampFields, shipment: T.Optional(Nullable(Shipment)) }) },
  { title: 'TestkitDetails' },
)
export type TestkitDetails = Static<typeof TestkitDetails>

const visit = Fields({ ...timestampFields, appointment_id: Nullable(Uuid) })
const WalkInDetails = Fields({ type: T.Literal('walk_in_test'), data: visit }, { title: 'WalkInDetails' })
const AtHomeDetails = Fields({ type: T.Literal('at_home_phlebotomy'), data: visit }, { title: 'AtHomeDetails' })
const OnSiteDetails = Fields({ type: T.Literal('on_site_collection'), data: Fields(timestampFields) }, { title: 'OnSiteDetails' })

export const Order = Fields(
  {
    id: Uuid,
    team_id: Uuid,
    user_id: Uuid,
    patient_details: Nullable(Patient),
    patient_address: Nullable(PatientAddress),
    shipping_details: Nullable(ShippingAddress),
    lab_test: LabTest,
    details: T.Union([TestkitDetails, WalkInDetails, AtHomeDetails, OnSiteDetails]),
    sample_id: Nullable(T.String()),
    notes: Nullable(T.String()),
    clinical_notes: Nullable(T.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
    events: T.Array(OrderEvent),
    last_event: OrderEvent,
    status: OpenEnum(topLevelStatuses),
    physician: Nullable(Physician),
    health_insurance_id: Nullable(Uuid),
    health_insurace_id: Nullable(Uuid), // sic
    requisition_form_url: Nullable(T.String()),
    priority: T.Boolean(),
    activate_by: Nullable(DateOnly),
    passthrough: Nullable(T.String()),
    billing_type: Billing,
    icd_codes: Nullable(T.Array(T.String())),
    has_abn: T.Boolean(),
    interpretation: Nullable(Interpretation),
    has_missing_results: Nullable(T.Boolean()),
    expected_result_by_date: Nullable(DateOnly),
    worst_case_result_by_date: Nullable(DateOnly),
    origin: Origin,
    order_transaction: OrderTransaction,
    lab_account_id: Nullable(Uuid),
  },
  { title: 'Order' },
)
export type Order = Static<typeof Order>

export const OrderReply = Fields({ order: Order, status: T.String(), message: T.String() }, { title: 'OrderReply' })
export type OrderReply = Static<typeof OrderReply>

export const OrderPage = Fields(
  { orders: T.Array(Order), total: T.Integer(), page: T.Integer(), size: T.Integer() },
  { title: 'OrderPage' },
)
export type OrderPage = Static<typeof OrderPage>

const personName = Text({ minLength: 1, maxLength: 100 })
export const PhysicianInput = Fields(
  {
    first_name: personName,
    last_name: personName,
    npi: Npi,
    email: Maybe(Email),
    licensed_states: Maybe(T.Array(Text({ maxLength: 50 }), { maxItems: 100 })),
    signature_image: Maybe(Image),
  },
  { title: 'PhysicianInput' },
)
export type PhysicianInput = Static<typeof PhysicianInput>

const Consent = Fields(
  {
    consentType: OpenEnum([
      'terms-of-use',
      'telehealth-informed-consent',
      'mobile-terms-and-conditions',
      'notice-of-privacy-practices',
      'privacy-policy',
      'hipaa-authorization',
    ]),
    version: Maybe(Text({ minLength: 1, maxLength: 20 })),
    timeOfConsent: Maybe(Timestamp),
  },
  { title: 'Consent' },
)
export const Consents = T.Array(Consent, { maxItems: 20 })

export const LabTestId = Uuid
export const Passthrough = Text({ maxLength: 5000 })

const AddOn = Fields({
  marker_ids: Maybe(T.Array(Int(), { maxItems: 200 })),
  provider_ids: Maybe(T.Array(Text({ minLength: 1, maxLength: 100 }), { maxItems: 200 })),
})
const OrderSet = Fields({
  lab_test_ids: Maybe(T.Array(Uuid, { maxItems: 50 })),
  add_on: Maybe(AddOn),
  lab_account_id: Maybe(Uuid),
})

export const CreateOrder = Fields(
  {
    user_id: Uuid,
    patient_details: PatientInput,
    patient_address: PatientAddressInput,
    order_set: Maybe(OrderSet),
    lab_test_id: Maybe(Uuid),
    collection_method: Maybe(CollectionMethod),
    physician: Maybe(PhysicianInput),
    priority: Maybe(T.Boolean()),
    billing_type: Maybe(Billing),
    icd_codes: Maybe(IcdCodes),
    health_insurance: Maybe(HealthInsuranceInput),
    consents: Maybe(Consents),
    activate_by: Maybe(DateOnly),
    aoe_answers: Maybe(
      T.Array(
        Fields({
          marker_id: Int(),
          question_id: T.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
          answer: Text({ maxLength: 1000 }),
        }),
        {
          maxItems: 500,
        },
      ),
    ),
    passthrough: Maybe(Passthrough),
    clinical_notes: Maybe(Text({ maxLength: 1000, description: '`comments` is accepted too.' })),
    lab_account_id: Maybe(Uuid),
    creator_member_id: Maybe(Uuid),
  },
  { title: 'CreateOrder', aliases: { comments: 'clinical_notes' } },
)
export type CreateOrder = Static<typeof CreateOrder>

export const ImportOrder = Fields(
  {
    user_id: Uuid,
    billing_type: Billing,
    order_set: OrderSet,
    collection_method: CollectionMethod,
    physician: Maybe(PhysicianInput),
    patient_details: PatientInput,
    patient_address: ImportedAddressInput,
    sample_id: Text({ minLength: 1, maxLength: 100, description: 'Requisition number at the laboratory.' }),
    lab_account_id: Maybe(Uuid),
  },
  { title: 'ImportOrder' },
)
export type ImportOrder = Static<typeof ImportOrder>

/** The filters of lists of orders. */
const orderFilters = {
  search_input: Maybe(Text({ maxLength: 200 })),
  start_date: Maybe(Text({ maxLength: 40 })),
  end_date: Maybe(Text({ maxLength: 40 })),
  updated_start_date: Maybe(Text({ maxLength: 40 })),
  updated_end_date: Maybe(Text({ maxLength: 40 })),
  status: Maybe(T.Array(OpenEnum([...lowLevelStatuses, 'testkit_registered']), { maxItems: 50 })),
  order_type: Maybe(T.Array(CollectionMethod, { maxItems: 10 })),
  is_critical: Maybe(T.Boolean()),
  interpretation: Maybe(Interpretation),
  order_activation_types: Maybe(T.Array(OpenEnum(['current', 'scheduled']), { maxItems: 10 })),
  user_id: Maybe(Uuid),
  patient_name: Maybe(Text({ maxLength: 200 })),
  shipping_recipient_name: Maybe(Text({ maxLength: 200 })),
  order_ids: Maybe(T.Array(Uuid, { maxItems: 500 })),
  order_transaction_id: Maybe(Uuid),
}
const OrderFilters = Fields(orderFilters)
export type OrderFilters = Static<typeof OrderFilters>
const Direction = Maybe(OpenEnum(['asc', 'desc']))

export const OrderQuery = Fields({
  ...orderFilters,
  order_key: Maybe(OpenEnum(['created_at', 'patient_name', 'last_status'])),
  order_direction: Direction,
  page: Maybe(Int({ minimum: 1, maximum: 10_000_000, default: 1 })),
  size: Maybe(Int({ minimum: 1, maximum: 100, default: 50 })),
})
export type OrderQuery = Static<typeof OrderQuery>

/** The number at which the matches of a list of rows are no longer counted. */
export const COUNTED_ORDERS_MAX = 10_000

export const OrderRowQuery = Fields({
  ...orderFilters,
  state: Maybe(T.Array(OpenEnum(topLevelStatuses), { maxItems: 6, description: 'Top-level statuses.' })),
  lab_test_id: Maybe(Uuid),
  order_direction: Direction,
  limit: Maybe(Int({ minimum: 1, maximum: 250, default: 50 })),
  next_cursor: Maybe(Text({ maxLength: 1000 })),
})
export type OrderRowQuery = Static<typeof OrderRowQuery>

export const OrderRow = Fields(
  {
    id: Uuid,
    user_id: Uuid,
    order_transaction_id: Uuid,
    patient_name: Nullable(T.String()),
    patient_dob: Nullable(DateOnly),
    patient_gender: Nullable(T.String()),
    lab_test_id: Uuid,
    lab_test_name: T.String(),
    lab_name: Nullable(T.String()),
    method: CollectionMethod,
    status: OpenEnum(topLevelStatuses),
    low_level_status: T.String(),
    low_level_status_created_at: Timestamp,
    status_detail: Nullable(T.String()),
    interpretation: Nullable(Interpretation),
    sample_id: Nullable(T.String()),
    priority: T.Boolean(),
    activate_by: Nullable(DateOnly),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'OrderRow' },
)
export type OrderRow = Static<typeof OrderRow>
export const OrderRowPage = Fields(
  {
    data: T.Array(OrderRow),
    total: T.Integer({ description: `Orders that match the filters; with filters, counting stops at ${COUNTED_ORDERS_MAX}.` }),
    is_total_exact: T.Boolean({ description: 'False if counting has stopped.' }),
    next_cursor: Nullable(T.String()),
  },
  { title: 'OrderRowPage' },
)

export const OrdersByDay = Fields(
  {
    data: T.Array(
      Fields(
        { date: DateOnly, ...Object.fromEntries(topLevelStatuses.map((status) => [status, T.Integer()])) },
        { title: 'OrdersOfDay', description: 'The number of orders of a day by their present top-level status.' },
      ),
      { description: 'Oldest first, without gaps.' },
    ),
  },
  { title: 'OrdersByDay' },
)

const ProgressStatus = {
  low_level_status: T.String(),
  state: OpenEnum(topLevelStatuses),
}
export const OrderProgress = Fields(
  {
    lifecycle: T.String({ description: 'The lifecycle of the collection method; test kits have two.' }),
    steps: T.Array(
      Fields(
        {
          ...ProgressStatus,
          phase: OpenEnum(['passed', 'current', 'expected']),
          reached_at: Nullable(Timestamp),
        },
        { title: 'OrderStep' },
      ),
      { description: 'In the order of time: the statuses that the order has had, and those on the shortest way to `completed`.' },
    ),
    next: T.Array(
      Fields(
        { ...ProgressStatus, published_status: T.String({ description: 'As `order_process_simulate` takes it.' }) },
        { title: 'NextOrderStatus' },
      ),
      { description: 'The statuses that may follow.' },
    ),
  },
  { title: 'OrderProgress' },
)
export type OrderProgress = Static<typeof OrderProgress>

export const PatchOrder = Fields({ activate_by: Nullable(DateOnly) }, { title: 'PatchOrder' })

export const ResendEvents = Fields(
  { order_ids: Maybe(T.Array(Uuid, { maxItems: 1000 })), start_at: Maybe(Timestamp), end_at: Maybe(Timestamp) },
  { title: 'ResendEvents' },
)
export type ResendEvents = Static<typeof ResendEvents>
export const ResentEvents = Fields({ order_ids: T.Array(Uuid) }, { title: 'ResentEvents' })

export const TransactionReply = Fields(
  {
    id: Uuid,
    team_id: Uuid,
    status: TransactionStatus,
    orders: T.Array(
      Fields({
        id: Uuid,
        origin: Origin,
        parent_id: Nullable(Uuid),
        last_status: T.String(),
        last_status_created_at: Timestamp,
        low_level_status: T.String(),
        low_level_status_created_at: Timestamp,
        created_at: Timestamp,
        updated_at: Timestamp,
      }),
    ),
  },
  { title: 'TransactionReply' },
)

export const TeamMetrics = Fields(
  {
    team_id: Uuid,
    number_of_connected_sources: T.Integer(),
    number_of_users: T.Integer(),
    number_of_errored_connected_sources: T.Integer(),
    number_of_connected_sources_by_week: T.Array(Fields({ date: Timestamp, value: T.Integer(), all: T.Integer() })),
    number_of_ordered_tests: T.Integer(),
  },
  { title: 'TeamMetrics' },
)
