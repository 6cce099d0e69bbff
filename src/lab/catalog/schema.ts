import { Environment, Region } from '../../tenancy/organizations/management-shapes.ts'
import { Fields, Int, Maybe, Nullable, OpenEnum, T, Text, Uuid, type Static } from '../../platform/schema/schema.ts'
import { CollectionMethod, LabTestStatus, MarkerType, SampleType } from './enums.ts'

export const Lab = Fields(
  {
    id: T.Integer(),
    slug: T.String(),
    name: T.String(),
    first_line_address: T.String(),
    city: T.String(),
    zipcode: T.String(),
    collection_methods: T.Array(CollectionMethod),
    sample_types: T.Array(SampleType),
    logo_url: Nullable(T.String()),
  },
  { title: 'Lab' },
)
export type Lab = Static<typeof Lab>

/** A question that a lab asks at order entry. */
export const Question = Fields(
  {
    id: T.Integer(),
    required: T.Boolean(),
    code: T.String(),
    value: T.String({ description: 'The text of the question.' }),
    type: OpenEnum(['choice', 'text', 'numeric', 'multi_choice']),
    sequence: T.Integer(),
    answers: T.Array(Fields({ id: T.Integer(), code: T.String(), value: T.String() }), {
      description: 'Empty for questions answered with text or a number.',
    }),
    constraint: Nullable(T.String({ description: 'A hint; not enforced.' })),
    default: Nullable(T.String()),
  },
  { title: 'Question' },
)
export type Question = Static<typeof Question>

const marker = {
  id: T.Integer(),
  name: T.String(),
  slug: T.String(),
  description: Nullable(T.String()),
  lab_id: Nullable(T.Integer()),
  provider_id: Nullable(T.String({ description: "The lab's own test code; the same in every environment." })),
  type: Nullable(MarkerType),
  unit: Nullable(T.String()),
  price: Nullable(T.String({ description: 'In dollars; `N/A` if there is no price.' })),
  aoe: Nullable(Fields({ questions: T.Array(Question) }, { title: 'AoE' })),
  a_la_carte_enabled: T.Boolean(),
  common_tat_days: Nullable(T.Integer({ description: '95th percentile of the days from collection to result.' })),
  worst_case_tat_days: Nullable(T.Integer({ description: '99th percentile of the days from collection to result.' })),
  is_orderable: Nullable(
    T.Boolean({ description: 'False for a reflex marker, which the lab runs if another result requires it.' }),
  ),
}

export const Marker = Fields(marker, { title: 'Marker' })
export type Marker = Static<typeof Marker>

const Loinc = Fields(
  { id: T.Integer(), name: T.String(), slug: T.String(), code: T.String(), unit: Nullable(T.String()) },
  { title: 'Loinc' },
)

const ExpectedResult = Fields(
  {
    id: T.Integer(),
    name: T.String(),
    slug: T.String(),
    lab_id: Nullable(T.Integer()),
    provider_id: Nullable(T.String()),
    required: T.Boolean({ description: 'False for a result that the lab reports in some cases only.' }),
    loinc: Nullable(Loinc),
  },
  { title: 'ExpectedResult' },
)

export const MarkerComplete = Fields({ ...marker, expected_results: T.Array(ExpectedResult) }, { title: 'MarkerComplete' })
export type MarkerComplete = Static<typeof MarkerComplete>

export const LabTest = Fields(
  {
    id: Uuid,
    slug: T.String(),
    name: T.String(),
    description: T.String(),
    sample_type: SampleType,
    method: CollectionMethod,
    price: T.Number(),
    is_active: T.Boolean({ deprecated: true, description: 'Whether `status` is `active`.' }),
    status: LabTestStatus,
    fasting: T.Boolean(),
    lab: Nullable(Lab),
    markers: Nullable(T.Array(Marker)),
    is_delegated: T.Boolean({ deprecated: true, description: 'Always false.' }),
    auto_generated: T.Boolean(),
    has_collection_instructions: Nullable(T.Boolean()),
    common_tat_days: Nullable(T.Integer({ description: 'The longest of its markers; null when one is unknown.' })),
    worst_case_tat_days: Nullable(T.Integer({ description: 'The longest of its markers; null when one is unknown.' })),
  },
  { title: 'LabTest' },
)
export type LabTest = Static<typeof LabTest>

const Modifier = Fields({
  delta_amount_minor: T.Union([T.Integer(), Fields({ minimum: T.Integer(), maximum: T.Integer() })]),
  conditions: Fields({ us_state: Nullable(Fields({ any_of: T.Array(T.String()) })), reflex: Nullable(Fields({})) }),
})

export const Price = T.Union([
  Fields(
    { base_amount_minor: T.Integer({ description: 'Cents.' }), modifiers: Nullable(T.Array(Modifier)) },
    { title: 'SpecifiedPrice' },
  ),
  Fields({ unspecified: OpenEnum(['refer_to_contract', 'price_unavailable']) }, { title: 'UnspecifiedPrice' }),
])
export type Price = Static<typeof Price>

const priceList = <S extends ReturnType<typeof Fields> | typeof Price>(price: S) =>
  Fields({ currency: T.Literal('USD'), data: T.Record(T.String(), price) })

export const MarkerPricing = priceList(Price)
export type MarkerPricing = Static<typeof MarkerPricing>

export const LabTestPricing = priceList(
  Fields({ pricing: Price, marker_breakdown: T.Record(T.String(), Price) }, { title: 'LabTestPrice' }),
)
export type LabTestPricing = Static<typeof LabTestPricing>

export const MarkerPage = Fields(
  {
    markers: T.Array(MarkerComplete),
    total: T.Integer(),
    page: T.Integer(),
    size: T.Integer(),
    pages: T.Integer(),
    pricing: Nullable(MarkerPricing),
  },
  { title: 'MarkerPage' },
)
export type MarkerPage = Static<typeof MarkerPage>

export const LabTestPage = Fields(
  { data: T.Array(LabTest), next_cursor: Nullable(T.String()), pricing: Nullable(LabTestPricing) },
  { title: 'LabTestPage' },
)
export type LabTestPage = Static<typeof LabTestPage>

export const LabTestInCell = Fields({ org_id: Uuid, env: Environment, region: Region, lab_test_id: Uuid })

const account = { lab_account_id: Maybe(Uuid) }
const paging = { page: Maybe(Int({ minimum: 1, default: 1 })), size: Maybe(Int({ minimum: 1, maximum: 100, default: 50 })) }
const name = Maybe(Text({ maxLength: 200, description: 'Part of the name, in any letter case.' }))
const LabSlugFilter = Maybe(Text({ maxLength: 100, description: 'An unknown slug returns an empty list.' }))

export const AccountQuery = Fields(account)

export const MarkerPageQuery = Fields({ ...account, ...paging })
export type MarkerPageQuery = Static<typeof MarkerPageQuery>

export const OrderSetRequest = Fields(
  {
    lab_test_ids: Maybe(T.Array(Uuid, { maxItems: 50 })),
    add_on: Maybe(
      Fields({
        marker_ids: Maybe(T.Array(Int(), { maxItems: 200 })),
        provider_ids: Maybe(T.Array(Text({ minLength: 1, maxLength: 100 }), { maxItems: 200 })),
      }),
    ),
    ...account,
  },
  { title: 'OrderSetRequest' },
)

export const CreateLabTest = Fields(
  {
    name: Text({ minLength: 1, maxLength: 200 }),
    method: CollectionMethod,
    description: Text({ maxLength: 2000 }),
    marker_ids: Maybe(T.Array(Int(), { maxItems: 200, description: 'Either `marker_ids` or `provider_ids`; all of one lab.' })),
    provider_ids: Maybe(T.Array(Text({ minLength: 1, maxLength: 100 }), { maxItems: 200 })),
    fasting: Maybe(T.Boolean({ default: false })),
    lab_slug: Maybe(Text({ maxLength: 100, description: 'The lab of the `provider_ids`, if several labs use them.' })),
    ...account,
  },
  { title: 'CreateLabTest' },
)
export type CreateLabTest = Static<typeof CreateLabTest>

export const UpdateLabTest = Fields(
  { name: Maybe(Text({ minLength: 1, maxLength: 200 })), active: Maybe(T.Boolean()) },
  { title: 'UpdateLabTest' },
)
export type UpdateLabTest = Static<typeof UpdateLabTest>

export const PageQuery = Fields(paging)
export type PageQuery = Static<typeof PageQuery>

export const MarkersQuery = Fields({
  lab_id: Maybe(T.Array(Int(), { maxItems: 100 })),
  lab_slug: LabSlugFilter,
  name,
  a_la_carte_enabled: Maybe(T.Boolean()),
  include_pricing: Maybe(T.Boolean({ default: false })),
  ...account,
  ...paging,
})
export type MarkersQuery = Static<typeof MarkersQuery>

const labTestFilter = {
  generation_method: Maybe(OpenEnum(['auto', 'manual', 'all'], { default: 'manual' })),
  lab_slug: LabSlugFilter,
  collection_method: Maybe(CollectionMethod),
  status: Maybe(LabTestStatus),
  marker_ids: Maybe(T.Array(Int(), { maxItems: 100, description: 'Tests that contain all these markers.' })),
  provider_ids: Maybe(T.Array(Text({ maxLength: 100 }), { maxItems: 100, description: 'Tests that contain all these codes.' })),
  name,
  order_key: Maybe(OpenEnum(['price', 'created_at', 'updated_at'], { default: 'created_at' })),
  order_direction: Maybe(OpenEnum(['asc', 'desc'], { default: 'asc' })),
}

export const LabTestQuery = Fields(labTestFilter)
export type LabTestQuery = Static<typeof LabTestQuery>

export const LabTestPageQuery = Fields({
  lab_test_limit: Maybe(Int({ minimum: 1, maximum: 500, default: 50 })),
  next_cursor: Maybe(Text({ maxLength: 1000 })),
  include_pricing: Maybe(T.Boolean({ default: false })),
  ...account,
  ...labTestFilter,
})
export type LabTestPageQuery = Static<typeof LabTestPageQuery>
