// Addresses as requests give them and as orders show them.
import { Refusal, type Finish } from '../platform/read.ts'
import { Fields, Maybe, Nullable, T, Text, type Static } from '../platform/schema.ts'
import { countryRule, knownCountry, stateCode, UNITED_STATES } from './places.ts'

const Line = Text({ minLength: 1, maxLength: 200 })
const Name = Text({ minLength: 1, maxLength: 200 })
const Zip = Text({ pattern: '^\\d{5}(-\\d{4})?$', says: 'be a ZIP code of five digits, or ZIP+4', description: 'ZIP or ZIP+4.' })
const Country = Text({
  minLength: 1,
  maxLength: 80,
  rule: countryRule,
  description: 'Two-letter code or English name; shown as the full name.',
})

const aliases = { street: 'first_line', street_number: 'second_line', zip_code: 'zip' }

/** A US state is kept as its two-letter code; elsewhere any text is a state. */
const finish: Finish = (address) => {
  if (address.country !== UNITED_STATES) return address
  const state = stateCode(address.state as string)
  return state ? { ...address, state } : { field: 'state', refusal: new Refusal('not a US state') }
}

/** The code of a US state where it is known to be one. */
const shortState = ({ country, state }: Record<string, unknown>): string =>
  (country === UNITED_STATES ? stateCode(state as string) : undefined) ?? (state as string)

export const PatientAddressInput = Fields(
  {
    receiver_name: Maybe(Text({ maxLength: 200 })),
    first_line: Line,
    second_line: Maybe(Text({ maxLength: 200 })),
    city: Line,
    state: Line,
    zip: Zip,
    country: Country,
    access_notes: Maybe(Text({ maxLength: 1000, description: 'How to get in, for visits at home.' })),
    phone_number: Maybe(Text({ maxLength: 50 })),
  },
  { title: 'PatientAddressInput', aliases, finish },
)
export type PatientAddressInput = Static<typeof PatientAddressInput>

/** Of an order placed elsewhere: taken as it stands there. */
export const ImportedAddressInput = Fields(
  {
    receiver_name: Text({ maxLength: 200 }),
    first_line: Line,
    second_line: Maybe(Text({ maxLength: 200 })),
    city: Line,
    state: Line,
    zip: Text({ minLength: 1, maxLength: 20 }),
    country: Text({ minLength: 1, maxLength: 80, rule: knownCountry }),
    access_notes: Maybe(Text({ maxLength: 1000 })),
    phone_number: Maybe(Text({ maxLength: 50 })),
  },
  { title: 'ImportedAddressInput', aliases, finish: (address) => ({ ...address, state: shortState(address) }) },
)

export const ShippingAddressInput = Fields(
  {
    receiver_name: Name,
    first_line: Line,
    second_line: Maybe(Text({ maxLength: 200 })),
    city: Line,
    state: Line,
    zip: Zip,
    country: Country,
    phone_number: Text({ minLength: 1, maxLength: 50 }),
  },
  { title: 'ShippingAddressInput', aliases, finish },
)
export type ShippingAddressInput = Static<typeof ShippingAddressInput>

export const PatientAddress = Fields(
  {
    receiver_name: T.String(),
    first_line: T.String(),
    second_line: Nullable(T.String()),
    city: T.String(),
    state: T.String(),
    zip: T.String(),
    country: T.String(),
    access_notes: Nullable(T.String()),
    phone_number: Nullable(T.String()),
  },
  { title: 'PatientAddress' },
)
export type PatientAddress = Static<typeof PatientAddress>

export const ShippingAddress = Fields(
  {
    receiver_name: T.String(),
    first_line: T.String(),
    second_line: Nullable(T.String()),
    city: T.String(),
    state: T.String(),
    zip: T.String(),
    country: T.String(),
    phone_number: T.String(),
  },
  { title: 'ShippingAddress' },
)
export type ShippingAddress = Static<typeof ShippingAddress>

export const toPatientAddress = (given: PatientAddressInput): PatientAddress => ({
  receiver_name: given.receiver_name ?? '',
  first_line: given.first_line,
  second_line: given.second_line ?? null,
  city: given.city,
  state: given.state,
  zip: given.zip,
  country: given.country,
  access_notes: given.access_notes ?? null,
  phone_number: given.phone_number ?? null,
})

export const toShippingAddress = (given: ShippingAddressInput): ShippingAddress => ({
  receiver_name: given.receiver_name,
  first_line: given.first_line,
  second_line: given.second_line ?? null,
  city: given.city,
  state: given.state,
  zip: given.zip,
  country: given.country,
  phone_number: given.phone_number,
})

/** Where somebody can be reached by letter. Less is asked of it than of where samples are taken: the ZIP may have any form. */
export const ContactAddressInput = Fields(
  {
    first_line: Line,
    second_line: Maybe(Text({ maxLength: 200 })),
    city: Line,
    state: Line,
    zip: Text({ minLength: 1, maxLength: 20 }),
    country: T.Optional(Text({ minLength: 1, maxLength: 80, rule: countryRule, default: UNITED_STATES })),
    access_notes: Maybe(Text({ maxLength: 1000 })),
  },
  { title: 'ContactAddressInput', aliases, finish },
)
export type ContactAddressInput = Static<typeof ContactAddressInput>

export const ContactAddress = Fields(
  {
    first_line: T.String(),
    second_line: T.String(),
    city: T.String(),
    state: T.String(),
    zip: T.String(),
    country: T.String(),
    access_notes: Nullable(T.String()),
  },
  { title: 'ContactAddress' },
)
export type ContactAddress = Static<typeof ContactAddress>

export const toContactAddress = (given: ContactAddressInput): ContactAddress => ({
  first_line: given.first_line,
  second_line: given.second_line ?? '',
  city: given.city,
  state: given.state,
  zip: given.zip,
  country: given.country ?? UNITED_STATES,
  access_notes: given.access_notes ?? null,
})
