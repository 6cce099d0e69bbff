// The guarantor of a patient: pays what an insurance does not pay, or represents a minor. Source: lab-testing.md 5.1.
import { Email, Fields, Int, Maybe, Nullable, T, Text, type Static } from '../../platform/schema/schema.ts'
import { ContactAddress, ContactAddressInput, toContactAddress } from './address.ts'

const amount = Int({ minimum: 0, maximum: 2_000_000_000 })

export const GuarantorInput = Fields(
  {
    first_name: Text({ minLength: 1, maxLength: 200 }),
    last_name: Text({ minLength: 1, maxLength: 200 }),
    address: ContactAddressInput,
    phone_number: Text({ minLength: 1, maxLength: 50 }),
    household_income: Maybe(amount),
    household_size: Maybe(amount),
    email: Maybe(Email),
  },
  { title: 'GuarantorInput' },
)
export type GuarantorInput = Static<typeof GuarantorInput>

export const Guarantor = Fields(
  {
    first_name: T.String(),
    last_name: T.String(),
    address: ContactAddress,
    phone_number: T.String(),
    household_income: Nullable(T.Integer()),
    household_size: Nullable(T.Integer()),
    email: Nullable(T.String()),
  },
  { title: 'Guarantor' },
)
export type Guarantor = Static<typeof Guarantor>

export const toGuarantor = (given: GuarantorInput): Guarantor => ({
  first_name: given.first_name,
  last_name: given.last_name,
  address: toContactAddress(given.address),
  phone_number: given.phone_number,
  household_income: given.household_income ?? null,
  household_size: given.household_size ?? null,
  email: given.email ?? null,
})
