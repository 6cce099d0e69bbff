// Shapes of patient service centers and areas. Source: lab-testing.md 2, 16; openapi-0.4.687.json.
import { Fields, Int, Maybe, Nullable, OpenEnum, T, Uuid, type Static } from '../../platform/schema/schema.ts'
import { ZipOfFiveDigits } from '../../people/person/contact-fields.ts'
import { LngLat } from '../appointments/schema.ts'
import { Billing, LabSlug } from '../../lab/catalog/enums.ts'
import { labSlugs } from '../../people/users/sources.ts'

/** Labs that have fictional sites in sandboxes. */
export const sandboxPscLabs = ['quest', 'labcorp', 'bioreference', 'sonora_quest'] as const

export const BOOKABLE_VIA_API = 'appointment_scheduling_via_service'
/** The other spelling of `BOOKABLE_VIA_API`; it is shown in addition and accepted instead. */
export const BOOKABLE_VIA_API_ALIAS = 'appointment_scheduling_via_junction'

const Capability = OpenEnum(['stat', BOOKABLE_VIA_API, BOOKABLE_VIA_API_ALIAS, 'appointment_scheduling_with_lab'])

const SiteMetadata = Fields(
  {
    name: T.String(),
    state: T.String(),
    city: T.String(),
    zip_code: T.String(),
    first_line: T.String(),
    second_line: Nullable(T.String()),
    phone_number: Nullable(T.String()),
    fax_number: Nullable(T.String()),
    hours: Nullable(T.Record(T.String(), T.Unknown(), { description: 'In the format of the laboratory; null if unknown.' })),
    website: Nullable(T.String()),
  },
  { title: 'LabLocationMetadata' },
)

const Site = Fields(
  {
    metadata: SiteMetadata,
    distance: T.Integer({ description: 'Miles, rounded.' }),
    supported_bill_types: T.Array(Billing),
    site_code: T.String(),
    location: LngLat,
    capabilities: T.Array(Capability, {
      description: 'A bookable site has both spellings of the capability.',
    }),
  },
  { title: 'ClientFacingLabLocation' },
)

export const PscInfo = Fields(
  { lab_id: T.Integer(), slug: LabSlug, patient_service_centers: T.Array(Site) },
  { title: 'PSCInfo' },
)
export type PscInfo = Static<typeof PscInfo>

const Provider = Fields(
  {
    name: T.String(),
    service_types: T.Array(T.String()),
    tier: T.Array(T.String({ description: 'The same as `service_types`.' })),
  },
  { title: 'PhlebotomyProviderInfo' },
)

const LabInArea = Fields(
  {
    patient_service_centers: Fields(
      {
        appointment_with_vital: T.Boolean({ description: 'Whether one of the sites can be booked here.' }),
        within_radius: T.Integer(),
        radius: T.String(),
        capabilities: T.Array(Capability, { description: 'Capabilities of all sites together.' }),
      },
      { title: 'PSCAreaInfoDetails' },
    ),
    supported_bill_types: T.Array(Billing),
    lab_id: T.Integer(),
  },
  { title: 'PSCAreaInfo' },
)
export type LabInArea = Static<typeof LabInArea>

export const AreaInfo = Fields(
  {
    zip_code: T.String(),
    phlebotomy: Fields({ is_served: T.Boolean(), providers: T.Array(Provider) }, { title: 'PhlebotomyAreaInfo' }),
    central_labs: T.Record(T.String(), LabInArea),
  },
  { title: 'AreaInfo' },
)
export type AreaInfo = Static<typeof AreaInfo>

export const ZipCode = ZipOfFiveDigits({ example: '85004' })
const radius = Maybe(OpenEnum(['10', '20', '25', '50', '100'], { default: '25', description: 'Miles.' }))
const capabilities = Maybe(T.Array(Capability, { maxItems: 10, description: 'Only sites that have all of these.' }))
const lab_account_id = Maybe(Uuid)

export const OrderPscQuery = Fields({ radius, capabilities })
export type OrderPscQuery = Static<typeof OrderPscQuery>

export const PscQuery = Fields({ zip_code: ZipCode, lab_id: Int({ example: 4 }), radius, capabilities, lab_account_id })
export type PscQuery = Static<typeof PscQuery>

export const AreaQuery = Fields({
  zip_code: ZipCode,
  radius,
  lab: Maybe(OpenEnum(labSlugs, { deprecated: true, description: 'Use `labs`.' })),
  labs: Maybe(T.Array(LabSlug, { maxItems: 20 })),
  lab_account_id,
})
export type AreaQuery = Static<typeof AreaQuery>
