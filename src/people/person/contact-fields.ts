// Fields that shapes of persons and addresses share: how requests may give them, and how responses show them.
import type { TSchema } from 'typebox'
import { Email, Int, Maybe, Nullable, T, Text } from '../../platform/schema/schema.ts'

/** A name, a line of an address or a city. */
export const Line = Text({ minLength: 1, maxLength: 200 })
/** A phone number in any format. */
export const AnyPhone = Text({ minLength: 1, maxLength: 50 })
/** A postal code in any format. */
export const AnyPostalCode = Text({ minLength: 1, maxLength: 20 })
export const AccessNotes = Text({ maxLength: 1000 })
/** National Provider Identifier of a physician. */
export const Npi = Text({ minLength: 1, maxLength: 20 })
/** An income in a currency, or a number of persons. */
export const Amount = Int({ minimum: 0, maximum: 2_000_000_000 })

export const Zip = (description: string) =>
  Text({ pattern: '^\\d{5}(-\\d{4})?$', says: 'be a ZIP code of five digits, or ZIP+4', description })
export const ZipOfFiveDigits = (options: { example?: string } = {}) =>
  Text({ pattern: '^\\d{5}$', says: 'be a ZIP code of five digits', ...options })

/** Other names of fields of an address. */
export const addressAliases = { street: 'first_line', street_number: 'second_line' }

/** The first fields of an address in a request. */
export const street = { first_line: Line, second_line: Maybe(Text({ maxLength: 200 })), city: Line, state: Line }

/** The first fields of an address in a response. */
export const shownStreet = { first_line: T.String(), second_line: Nullable(T.String()), city: T.String(), state: T.String() }

/** A person other than the patient who is reached by mail or phone. */
export const contactPerson = <A extends TSchema>(address: A) => ({
  first_name: Line,
  last_name: Line,
  address,
  phone_number: AnyPhone,
  household_income: Maybe(Amount),
  household_size: Maybe(Amount),
  email: Maybe(Email),
})
