// Addresses in requests and in orders.
import { RuleError, type FinalizeObject } from '../../platform/schema/request-validation.ts'
import type { TProperties } from 'typebox'
import { Fields, Maybe, Nullable, T, Text, withNulls, type Static } from '../../platform/schema/schema.ts'
import { AccessNotes, addressAliases, AnyPhone, AnyPostalCode, Line, shownStreet, street, Zip } from './contact-fields.ts'
import { countryCode, countryRule, knownCountry, stateCode, UNITED_STATES } from './countries.ts'
import { isPostalCode } from './postal-codes.ts'

const PostalCode = Zip('ZIP or ZIP+4; in cells of the EU the postal code of the country.')
const Country = Text({
  minLength: 1,
  maxLength: 80,
  rule: countryRule,
  description: 'Two-letter code or English name; shown as the full name.',
})

const aliases = { ...addressAliases, zip_code: 'zip' }

/** Stores a US state as its two-letter code; elsewhere any text is a state. */
const finalize: FinalizeObject = (address) => {
  if (address.country !== UNITED_STATES) return address
  const state = stateCode(address.state as string)
  return state ? { ...address, state } : { field: 'state', refusal: new RuleError('not a US state') }
}

/** Countries whose addresses have a state. */
const WITH_STATES = new Set(['AU', 'BR', 'CA', 'CN', 'IN', 'JP', 'MX', 'US'])

const abroadFields = { state: Maybe(Line), zip: AnyPostalCode }

/** Requires a state if the country has states; converts a US state to its code. */
const stateAbroad: FinalizeObject = (address) => {
  const { country, state } = address as { country: string; state?: string }
  if (state === undefined && WITH_STATES.has(countryCode(country) ?? ''))
    return { field: 'state', refusal: new RuleError('is required in this country') }
  return finalize({ ...address, state: state ?? '' })
}

/** Like `stateAbroad`, and checks the format of the country's postal codes. */
const finishAbroad: FinalizeObject = (address) => {
  const { country, zip } = address as { country: string; zip: string }
  const plain = zip.trim().toUpperCase().replace(/\s+/g, ' ')
  if (!isPostalCode(countryCode(country), plain))
    return { field: 'zip', refusal: new RuleError('not a postal code of this country') }
  return stateAbroad({ ...address, zip: plain })
}

/** Returns the input shapes of an address in the United States and elsewhere. */
const twoFold = <P extends TProperties>(fields: P, title: string, finishForeign: FinalizeObject = finishAbroad) =>
  Fields(fields, {
    title,
    aliases,
    finish: finalize,
    abroad: Fields({ ...fields, ...abroadFields }, { aliases, finish: finishForeign }),
  })

/** The two-letter code of a known US state. */
const shortState = ({ country, state }: Record<string, unknown>): string =>
  (country === UNITED_STATES ? stateCode(state as string) : undefined) ?? (state as string)

export const PatientAddressInput = twoFold(
  {
    receiver_name: Maybe(Text({ maxLength: 200 })),
    ...street,
    zip: PostalCode,
    country: Country,
    access_notes: Maybe(Text({ maxLength: 1000, description: 'Access notes for at-home visits.' })),
    phone_number: Maybe(Text({ maxLength: 50 })),
  },
  'PatientAddressInput',
)
export type PatientAddressInput = Static<typeof PatientAddressInput>

const importedAddress = {
  receiver_name: Text({ maxLength: 200 }),
  ...street,
  zip: AnyPostalCode,
  country: Text({ minLength: 1, maxLength: 80, rule: knownCountry }),
  access_notes: Maybe(AccessNotes),
  phone_number: Maybe(Text({ maxLength: 50 })),
}

/** The address of an imported order, stored unchanged. */
export const ImportedAddressInput = Fields(importedAddress, {
  title: 'ImportedAddressInput',
  aliases,
  finish: (address) => ({ ...address, state: shortState(address) }),
  abroad: Fields(
    { ...importedAddress, state: Maybe(Line) },
    { aliases, finish: (address) => ({ ...address, state: address.state === undefined ? '' : shortState(address) }) },
  ),
})

export const ShippingAddressInput = twoFold(
  {
    receiver_name: Line,
    ...street,
    zip: PostalCode,
    country: Country,
    phone_number: AnyPhone,
  },
  'ShippingAddressInput',
)
export type ShippingAddressInput = Static<typeof ShippingAddressInput>

export const PatientAddress = Fields(
  {
    receiver_name: T.String(),
    ...shownStreet,
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
    ...shownStreet,
    zip: T.String(),
    country: T.String(),
    phone_number: T.String(),
  },
  { title: 'ShippingAddress' },
)
export type ShippingAddress = Static<typeof ShippingAddress>

export const toPatientAddress = (input: PatientAddressInput): PatientAddress =>
  withNulls(PatientAddress, { receiver_name: '', ...input })

export const toShippingAddress = (input: ShippingAddressInput): ShippingAddress => withNulls(ShippingAddress, input)

/** A mailing address. It has fewer requirements than the address for collecting samples: the ZIP may have any format. */
export const ContactAddressInput = twoFold(
  {
    ...street,
    zip: AnyPostalCode,
    country: T.Optional(Text({ minLength: 1, maxLength: 80, rule: countryRule, default: UNITED_STATES })),
    access_notes: Maybe(AccessNotes),
  },
  'ContactAddressInput',
  stateAbroad,
)
export type ContactAddressInput = Static<typeof ContactAddressInput>

export const ContactAddress = Fields(
  {
    ...shownStreet,
    second_line: T.String(),
    zip: T.String(),
    country: T.String(),
    access_notes: Nullable(T.String()),
  },
  { title: 'ContactAddress' },
)
export type ContactAddress = Static<typeof ContactAddress>

export const toContactAddress = (input: ContactAddressInput): ContactAddress =>
  withNulls(ContactAddress, { second_line: '', country: UNITED_STATES, ...input })
