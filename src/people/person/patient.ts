// The patient of an order: shape and checks. Source: lab-testing.md 2, 5.1.
import { RuleError, type Rule } from '../../platform/schema/request-validation.ts'
import {
  DateOfBirth,
  DateOnly,
  Email,
  Fields,
  Int,
  Maybe,
  Nullable,
  OpenEnum,
  T,
  Text,
  type Static,
} from '../../platform/schema/schema.ts'
import type { Guarantor } from './guarantor.ts'
import { countryRule } from './countries.ts'

export const Gender = OpenEnum(['female', 'male', 'other', 'unknown'])
export const Race = OpenEnum([
  'african_american_or_black',
  'asian',
  'indigenous_native_american_alaska_native',
  'other',
  'pacific_islander_or_hawaiian',
  'white_caucasian',
])
export const Ethnicity = OpenEnum(['hispanic', 'non_hispanic', 'ashkenazi_jewish', 'other'])
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

const amount = Int({ minimum: 0, maximum: 2_000_000_000 })

const proxyAddress = {
  first_line: Text({ minLength: 1, maxLength: 200 }),
  second_line: T.Optional(Text({ maxLength: 200 })),
  city: Text({ minLength: 1, maxLength: 200 }),
  // The state is empty only in responses, for a country without states.
  state: Text({ maxLength: 200, rule: (text) => (text ? text : new RuleError('must not be empty')) }),
  zip: Text({ minLength: 1, maxLength: 20 }),
  country: Text({ minLength: 1, maxLength: 80, rule: countryRule }),
  access_notes: Maybe(Text({ maxLength: 1000 })),
}
const aliases = { street: 'first_line', street_number: 'second_line', zip_code: 'zip' }
const ProxyAddress = Fields(proxyAddress, {
  aliases,
  abroad: Fields(
    { ...proxyAddress, state: Maybe(proxyAddress.state) },
    { aliases, finish: (place) => ({ state: '', ...place }) },
  ),
})

/** Parent or guardian of a minor. */
export const MedicalProxy = Fields(
  {
    first_name: Text({ minLength: 1, maxLength: 200 }),
    last_name: Text({ minLength: 1, maxLength: 200 }),
    address: ProxyAddress,
    phone_number: Text({ minLength: 1, maxLength: 50 }),
    household_income: Maybe(amount),
    household_size: Maybe(amount),
    email: Maybe(Email),
  },
  { title: 'MedicalProxy' },
)
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
    household_income: Maybe(amount),
    household_size: Maybe(amount),
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
    race: Nullable(Race),
    ethnicity: Nullable(Ethnicity),
    sexual_orientation: Nullable(SexualOrientation),
    gender_identity: Nullable(GenderIdentity),
  },
  { title: 'Patient' },
)
export type Patient = Static<typeof Patient>

export const toPatient = (given: PatientInput): Patient => ({
  first_name: given.first_name,
  last_name: given.last_name,
  dob: given.dob,
  gender: given.gender,
  phone_number: given.phone_number,
  email: given.email,
  medical_proxy: given.medical_proxy ?? null,
  race: given.race ?? null,
  ethnicity: given.ethnicity ?? null,
  sexual_orientation: given.sexual_orientation ?? null,
  gender_identity: given.gender_identity ?? null,
})
