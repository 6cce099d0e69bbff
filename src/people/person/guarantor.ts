// The guarantor of a patient: pays what an insurance does not pay, or represents a minor. Source: lab-testing.md 5.1.
import { Fields, Nullable, T, withNulls, type Static } from '../../platform/schema/schema.ts'
import { ContactAddress, ContactAddressInput, toContactAddress } from './address.ts'
import { contactPerson } from './contact-fields.ts'

export const GuarantorInput = Fields(contactPerson(ContactAddressInput), { title: 'GuarantorInput' })
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

export const toGuarantor = (input: GuarantorInput): Guarantor =>
  withNulls(Guarantor, { ...input, address: toContactAddress(input.address) })
