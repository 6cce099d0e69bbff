// Shapes of demographics. Source: lab-testing.md 5.1-5.3; openapi-0.4.687.json, UserInfo.
import { Clearable, DateOfBirth, DateOnly, Email, Fields, Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { ContactAddress, ContactAddressInput } from '../person/address.ts'
import { AnyPhone } from '../person/contact-fields.ts'
import { Guarantor, GuarantorInput } from '../person/guarantor.ts'
import { Ethnicity, Gender, GenderIdentity, PersonName, Race, SexualOrientation, shownBackground } from '../person/patient.ts'

export const DemographicsInput = Fields(
  {
    first_name: PersonName,
    last_name: PersonName,
    email: Email,
    phone_number: AnyPhone,
    gender: Gender,
    dob: DateOfBirth,
    address: ContactAddressInput,
    medical_proxy: Clearable(GuarantorInput),
    race: Clearable(Race),
    ethnicity: Clearable(Ethnicity),
    sexual_orientation: Clearable(SexualOrientation),
    gender_identity: Clearable(GenderIdentity),
  },
  { title: 'UserInfoInput' },
)
export type DemographicsInput = Static<typeof DemographicsInput>

export const Demographics = Fields(
  {
    first_name: T.String(),
    last_name: T.String(),
    email: T.String(),
    phone_number: T.String(),
    gender: Gender,
    dob: DateOnly,
    address: ContactAddress,
    medical_proxy: Nullable(Guarantor),
    ...shownBackground,
  },
  { title: 'UserInfo' },
)
export type Demographics = Static<typeof Demographics>
