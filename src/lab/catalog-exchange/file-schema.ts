// The file format for editing a catalog: one JSON document, described in docs/CATALOG.md. Omitted fields are null or have the default given
// here; undeclared keys are rejected.
import { RuleError, type Rule } from '../../platform/schema/request-validation.ts'
import { Fields, Int, OpenEnum, T, Text, type Static, type TSchema } from '../../platform/schema/schema.ts'
import { bounds } from '../catalog/analytes.ts'
import { collectionMethods, markerTypes, sampleTypes } from '../catalog/enums.ts'
import { countryRule, UNITED_STATES, usStates } from '../../people/person/countries.ts'

export const FORMAT_VERSION = 'drawbridge-catalog-1'

/** Maximum number of rows of one kind in a file. */
const ROWS_MAX = 100_000

const defaultNull = <S extends TSchema>(schema: S) =>
  T.Optional(T.Union([schema, T.Null()], { default: null }) as TSchema) as unknown as WithDefaults<S>
/** An absent field is read as null. */
type WithDefaults<S extends TSchema> = ReturnType<typeof T.Union<[S, ReturnType<typeof T.Null>]>>

const closed = { additionalProperties: false }
/** Empty for a laboratory without an identity. */
const part = (maxLength: number) => T.String({ maxLength, default: '' })
const boundedText = (maxLength: number) => Text({ minLength: 1, maxLength })
const Slug = (pattern: string) => Text({ minLength: 1, maxLength: 200, pattern })
const days = defaultNull(Int({ minimum: 0, maximum: 1000 }))
const Id = defaultNull(Int({ minimum: 1 }))
const nameLength = defaultNull(Int({ minimum: 1, maximum: 50 }))
const booleanWithDefault = (value: boolean) => T.Boolean({ default: value })
const listSchema = <S extends TSchema>(item: S, maxItems: number) => T.Array(item, { maxItems, default: [] })

const LabEntry = Fields(
  {
    id: Id,
    slug: Slug('^[a-z][a-z0-9_]*$'),
    name: boundedText(200),
    first_line_address: part(200),
    city: part(200),
    state: part(200),
    zipcode: part(20),
    country: Text({ minLength: 1, maxLength: 80, rule: countryRule, default: UNITED_STATES }),
    collection_methods: T.Array(OpenEnum(collectionMethods), { minItems: 1, maxItems: 10 }),
    sample_types: T.Array(OpenEnum(sampleTypes), { minItems: 1, maxItems: 20 }),
    logo_url: defaultNull(boundedText(2083)),
    clia: defaultNull(boundedText(50)),
    accreditation: defaultNull(boundedText(200)),
    medical_director: defaultNull(boundedText(200)),
    max_first_name: nameLength,
    max_last_name: nameLength,
    allowed_genders: defaultNull(T.Array(OpenEnum(['female', 'male', 'other', 'unknown']), { minItems: 1, maxItems: 4 })),
  },
  closed,
)
export type LabEntry = Static<typeof LabEntry>

export const AnalyteDefinition = Fields(
  {
    type: OpenEnum(['numeric', 'range', 'comment', 'coded_value']),
    unit: defaultNull(boundedText(50)),
    decimals: defaultNull(Int({ minimum: 0, maximum: 10 })),
    ...bounds(defaultNull(T.Number())),
    range_text: defaultNull(boundedText(500)),
    specimen: defaultNull(boundedText(50)),
    description: defaultNull(boundedText(2000)),
  },
  closed,
)

const AnalyteEntry = Fields(
  {
    slug: Slug('^[a-z0-9][a-z0-9-]*$'),
    name: boundedText(200),
    loinc: defaultNull(Slug('^\\d{1,7}-\\d$')),
    loinc_name: defaultNull(boundedText(500)),
    definition: AnalyteDefinition,
  },
  closed,
)
export type AnalyteEntry = Static<typeof AnalyteEntry>

const QuestionEntry = Fields(
  {
    id: T.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    required: T.Boolean(),
    code: boundedText(50),
    value: boundedText(500),
    type: OpenEnum(['choice', 'text', 'numeric', 'multi_choice']),
    sequence: Int({ minimum: 0 }),
    answers: listSchema(
      Fields(
        { id: T.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), code: boundedText(50), value: boundedText(500) },
        closed,
      ),
      200,
    ),
    constraint: defaultNull(boundedText(500)),
    default: defaultNull(boundedText(200)),
  },
  closed,
)
export type QuestionEntry = Static<typeof QuestionEntry>

const cents = Int({ minimum: -100_000_000, maximum: 100_000_000 })

const Pricing = T.Union([
  Fields(
    {
      base_amount_minor: Int({ minimum: 0, maximum: 100_000_000 }),
      modifiers: defaultNull(
        T.Array(
          Fields(
            {
              delta_amount_minor: T.Union([cents, Fields({ minimum: cents, maximum: cents }, closed)]),
              conditions: Fields(
                {
                  us_state: defaultNull(Fields({ any_of: T.Array(OpenEnum(usStates), { minItems: 1, maxItems: 50 }) }, closed)),
                  reflex: defaultNull(Fields({}, closed)),
                },
                closed,
              ),
            },
            closed,
          ),
          { maxItems: 100 },
        ),
      ),
    },
    closed,
  ),
  Fields({ unspecified: OpenEnum(['refer_to_contract', 'price_unavailable']) }, closed),
])

const priceRule: Rule = (price) =>
  price === 'N/A' || /^\d{1,9}(\.\d{1,2})?$/.test(price) ? price : new RuleError('must be dollars such as 12.50, or N/A')

export const MarkerEntry = Fields(
  {
    id: Id,
    lab: boundedText(200),
    provider_id: boundedText(100),
    name: boundedText(200),
    slug: Slug('^[a-z0-9][a-z0-9-]*$'),
    description: defaultNull(boundedText(2000)),
    type: OpenEnum(markerTypes),
    unit: defaultNull(boundedText(50)),
    price: Text({ rule: priceRule, maxLength: 20 }),
    pricing: defaultNull(Pricing),
    cpt_codes: listSchema(boundedText(20), 100),
    aoe: defaultNull(Fields({ questions: T.Array(QuestionEntry, { maxItems: 100 }) }, closed)),
    a_la_carte_enabled: booleanWithDefault(false),
    is_orderable: booleanWithDefault(true),
    common_tat_days: days,
    worst_case_tat_days: days,
    results: listSchema(Fields({ analyte: boundedText(200), required: booleanWithDefault(true) }, closed), 300),
  },
  closed,
)
export type MarkerEntry = Static<typeof MarkerEntry>

export const CatalogFile = Fields(
  {
    format: OpenEnum([FORMAT_VERSION]),
    labs: listSchema(LabEntry, 1000),
    analytes: listSchema(AnalyteEntry, ROWS_MAX),
    markers: listSchema(MarkerEntry, ROWS_MAX),
  },
  closed,
)
export type CatalogFile = Static<typeof CatalogFile>
