// Shapes of insurances, insurers and diagnoses. Source: lab-testing.md 2, 26; openapi-0.4.687.json.
import { DateOfBirth, DateOnly, Fields, Maybe, Nullable, OpenEnum, T, Text, type Static } from '../../platform/schema/schema.ts'
import { ContactAddress, ContactAddressInput } from '../person/address.ts'
import { AnyPhone, Line } from '../person/contact-fields.ts'
import { Guarantor, GuarantorInput } from '../person/guarantor.ts'
import { Image } from '../person/image.ts'
import { Gender, PersonName } from '../person/patient.ts'

/** Clearinghouses that have codes of their own for insurers. */
export const clearinghouses = ['change_healthcare', 'availity', 'stedi', 'waystar', 'claim_md', 'apero', 'pverify'] as const
export const Clearinghouse = OpenEnum(clearinghouses)
export type Clearinghouse = Static<typeof Clearinghouse>

const PayorSource = OpenEnum(['platform', 'team'])

const payor = { name: T.String(), aliases: T.Array(T.String()), org_address: ContactAddress, source: PayorSource }
export const Payor = Fields({ payor_code: T.String(), ...payor }, { title: 'Payor' })
export type Payor = Static<typeof Payor>
/** Has the code under both field names: public examples read the older one. */
export const FoundPayor = Fields({ payor_code: T.String(), code: T.String(), ...payor }, { title: 'FoundPayor' })
export const FoundPayorByCode = Fields({ code: T.String(), ...payor }, { title: 'FoundPayorByCode' })

const SearchName = Text({ minLength: 1, maxLength: 200, example: 'Aetna' })
const ExternalCode = Text({ minLength: 1, maxLength: 50 })

export const PayorQuery = Fields({
  insurance_name: Maybe(SearchName),
  provider: Maybe(Clearinghouse),
  provider_payor_id: Maybe(ExternalCode),
})
export const PayorSearch = Fields(
  { insurance_name: Maybe(SearchName), provider: Maybe(Clearinghouse), provider_id: Maybe(ExternalCode) },
  { title: 'PayorSearch' },
)

export const CreatePayor = Fields(
  {
    name: Line,
    address: ContactAddressInput,
    provider: Maybe(Clearinghouse),
    provider_payor_id: Maybe(ExternalCode),
  },
  { title: 'CreatePayor' },
)
export type CreatePayor = Static<typeof CreatePayor>

export const DiagnosisQuery = Fields({ diagnosis_query: Text({ minLength: 1, maxLength: 200, example: 'diabetes' }) })
export const Diagnosis = Fields(
  {
    diagnosis_code: T.String(),
    description: T.String(),
    is_secondary: T.Boolean({ description: 'Whether another diagnosis causes this one, so that it can never be the first.' }),
  },
  { title: 'Diagnosis' },
)
export type Diagnosis = Static<typeof Diagnosis>

/** Maximum number of diagnoses that are checked together. */
const CODES_MAX = 100
export const ValidateCodes = Fields(
  { codes: T.Array(Text({ maxLength: 50 }), { maxItems: CODES_MAX }) },
  { title: 'ValidateCodes' },
)
export const ValidatedCodes = Fields(
  {
    valid: T.Boolean({ description: 'Whether every code can be billed and none excludes another.' }),
    errors: T.Array(T.String()),
    violations: T.Array(Fields({ code: T.String(), conflicts_with: T.String(), type: T.String() })),
    warnings: T.Array(Fields({ code: T.String(), overlaps_with: T.String(), type: T.String() })),
  },
  { title: 'ValidatedCodes' },
)
export type ValidatedCodes = Static<typeof ValidatedCodes>

/** Codes of diagnoses in orders. */
export const IcdCodes = T.Array(Text({ minLength: 1, maxLength: 16 }), { maxItems: 50 })

/** Relationship of the insured person to the patient. */
const Relationship = OpenEnum(['Self', 'Spouse', 'Other'])

const contact = { email: Text({ minLength: 1, maxLength: 254 }), phone_number: AnyPhone }

const InsuredInput = Fields(
  { first_name: PersonName, last_name: PersonName, gender: Gender, address: ContactAddressInput, dob: DateOfBirth, ...contact },
  { title: 'InsuredInput' },
)

export const CreateInsurance = Fields(
  {
    payor_code: Text({
      minLength: 1,
      maxLength: 100,
      description:
        "Of `/v3/insurance/search/payor`; `MEDFED` and `MAIDFED` stand for Medicare and Medicaid of the patient's state.",
    }),
    member_id: Text({ minLength: 1, maxLength: 100 }),
    group_id: Maybe(Text({ maxLength: 100 })),
    relationship: Relationship,
    insured: InsuredInput,
    guarantor: Maybe(GuarantorInput),
    is_primary: T.Optional(T.Boolean({ default: true })),
  },
  { title: 'CreateInsurance' },
)
export type CreateInsurance = Static<typeof CreateInsurance>

/** The insured person if it is not the patient. */
const ResponsibleInput = Fields(
  {
    first_name: Line,
    last_name: Line,
    address: ContactAddressInput,
    phone_number: AnyPhone,
    phone_type: Maybe(Text({ maxLength: 50 })),
  },
  { title: 'ResponsibleInput' },
)

const Narrative = Text({ maxLength: 5000 })

/** An insurance that comes with an order or with the registration of a kit. */
export const HealthInsuranceInput = Fields(
  {
    front_image: Maybe(Image),
    back_image: Maybe(Image),
    patient_signature_image: Maybe(Image),
    subjective: Maybe(Narrative),
    assessment_plan: Maybe(Narrative),
    payor_code: Maybe(Text({ minLength: 1, maxLength: 100, description: 'Requires `insurance_id`.' })),
    insurance_id: Maybe(Text({ minLength: 1, maxLength: 100, description: 'The member number.' })),
    responsible_relationship: Maybe(Relationship),
    responsible_details: Maybe(ResponsibleInput),
    diagnosis_codes: Maybe(IcdCodes),
  },
  {
    title: 'HealthInsuranceInput',
    description: 'With `payor_code` and `insurance_id` it becomes the primary insurance of the user.',
  },
)
export type HealthInsuranceInput = Static<typeof HealthInsuranceInput>

const Insured = Fields(
  {
    first_name: T.String(),
    last_name: T.String(),
    gender: Gender,
    address: ContactAddress,
    dob: DateOnly,
    email: T.String(),
    phone_number: T.String(),
  },
  { title: 'Insured' },
)

export const Insurance = Fields(
  {
    member_id: T.String(),
    payor_code: T.String(),
    relationship: Relationship,
    insured: Insured,
    company: Fields({ name: T.String(), address: ContactAddress }, { title: 'Company' }),
    group_id: Nullable(T.String()),
    guarantor: Nullable(Guarantor),
    is_primary: T.Boolean(),
  },
  { title: 'Insurance' },
)
export type Insurance = Static<typeof Insurance>

export const LatestQuery = Fields({ is_primary: T.Optional(T.Boolean({ default: true })) })
