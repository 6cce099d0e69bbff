// The patient of an order: shape and checks. Source: lab-testing.md 2, 5.1.
import { RuleError, type Rule } from '../../platform/schema/request-validation.ts'
import {
  DateOfBirth,
  DateOnly,
  Email,
  Fields,
  Maybe,
  Nullable,
  OpenEnum,
  T,
  Text,
  withNulls,
  type Static,
} from '../../platform/schema/schema.ts'
import { AccessNotes, addressAliases, Amount, AnyPostalCode, contactPerson, street } from './contact-fields.ts'
import type { Guarantor } from './guarantor.ts'
import { countryRule } from './countries.ts'

export const genders = ['female', 'male', 'other', 'unknown'] as const
export const Gender = OpenEnum(genders)
export const races = [
  'african_american_or_black',
  'asian',
  'indigenous_native_american_alaska_native',
  'other',
  'pacific_islander_or_hawaiian',
  'white_caucasian',
] as const
export const Race = OpenEnum(races)
export const ethnicities = ['hispanic', 'non_hispanic', 'ashkenazi_jewish', 'other'] as const
export const Ethnicity = OpenEnum(ethnicities)
export const SexualOrientation = OpenEnum([
  'lesbian_gay_or_homosexual',
  'heterosexual_or_straight',
  'bisexual',
  'dont_know',
  'other',
])
export const GenderIdentity = OpenEnum([
  'male',
  'female',
  'female_to_male_ftm_transgender_male_trans_man',
  'male_to_female_mtf_transgender_female_trans_woman',
  'genderqueer',
  'other',
])

/** What is known about a person besides contact details, in responses. */
export const shownBackground = {
  race: Nullable(Race),
  ethnicity: Nullable(Ethnicity),
  sexual_orientation: Nullable(SexualOrientation),
  gender_identity: Nullable(GenderIdentity),
}

/** The characters that laboratories print: letters, digits, `- . , '` and single spaces between words. */
export const PersonName = Text({
  minLength: 1,
  maxLength: 50,
  pattern: "^[a-zA-Z0-9][a-zA-Z0-9.,'\\-]*( [a-zA-Z0-9.,'\\-]+)*$",
  says: "begin with a letter or digit and have only letters without accents, digits, - . , ' and single spaces between words",
})

const phoneRule: Rule = (text) => {
  const digits = text.replace(/[ ().-]/g, '')
  return /^\+[1-9]\d{6,14}$/.test(digits) ? digits : new RuleError('not a phone number in international format, +15550100199')
}
const Phone = Text({ minLength: 1, maxLength: 40, rule: phoneRule, description: 'International format with a leading `+`.' })

const proxyAddress = {
  ...street,
  // The state is empty only in responses, for a country without states.
  state: Text({ maxLength: 200, rule: (text) => (text ? text : new RuleError('must not be empty')) }),
  zip: AnyPostalCode,
  country: Text({ minLength: 1, maxLength: 80, rule: countryRule }),
  access_notes: Maybe(AccessNotes),
}
const aliases = { ...addressAliases, zip_code: 'zip' }
const ProxyAddress = Fields(proxyAddress, {
  aliases,
  abroad: Fields(
    { ...proxyAddress, state: Maybe(proxyAddress.state) },
    { aliases, finish: (place) => ({ state: '', ...place }) },
  ),
})

/** Parent or guardian of a minor. */
export const MedicalProxy = Fields(contactPerson(ProxyAddress), { title: 'MedicalProxy' })
export type MedicalProxy = Static<typeof MedicalProxy>

/** Converts a user's guarantor to the proxy that orders show, without absent fields. */
export const toMedicalProxy = ({ address, household_income, household_size, email, ...person }: Guarantor): MedicalProxy => {
  const { second_line, access_notes, ...place } = address
  return {
    ...person,
    address: { ...place, ...(second_line && { second_line }), ...(access_notes !== null && { access_notes }) },
    ...(household_income !== null && { household_income }),
    ...(household_size !== null && { household_size }),
    ...(email !== null && { email }),
  }
}

export const PatientInput = Fields(
  {
    first_name: PersonName,
    last_name: PersonName,
    dob: DateOfBirth,
    gender: Gender,
    phone_number: Phone,
    email: Email,
    medical_proxy: Maybe(MedicalProxy),
    race: Maybe(Race),
    ethnicity: Maybe(Ethnicity),
    sexual_orientation: Maybe(SexualOrientation),
    gender_identity: Maybe(GenderIdentity),
    household_income: Maybe(Amount),
    household_size: Maybe(Amount),
  },
  { title: 'PatientInput' },
)
export type PatientInput = Static<typeof PatientInput>

export const Patient = Fields(
  {
    first_name: Nullable(T.String()),
    last_name: Nullable(T.String()),
    dob: DateOnly,
    gender: Gender,
    phone_number: Nullable(T.String()),
    email: Nullable(T.String()),
    medical_proxy: Nullable(MedicalProxy),
    ...shownBackground,
  },
  { title: 'Patient' },
)
export type Patient = Static<typeof Patient>

export const toPatient = (input: PatientInput): Patient => withNulls(Patient, input)
