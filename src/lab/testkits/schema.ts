import { HealthInsuranceInput } from '../../people/insurance/schema.ts'
import { LabTestId, Consents, Passthrough, PhysicianInput } from '../orders/schema.ts'
import { Fields, Maybe, Text, Uuid, type Static } from '../../platform/schema/schema.ts'
import { PatientAddressInput, ShippingAddressInput } from '../../people/person/address.ts'
import { PatientInput } from '../../people/person/patient.ts'

export const CreateTestkitOrder = Fields(
  {
    user_id: Uuid,
    lab_test_id: LabTestId,
    shipping_details: ShippingAddressInput,
    passthrough: Maybe(Passthrough),
    lab_account_id: Maybe(Uuid),
  },
  { title: 'CreateTestkitOrder' },
)
export type CreateTestkitOrder = Static<typeof CreateTestkitOrder>

export const RegisterTestkit = Fields(
  {
    sample_id: Text({
      minLength: 1,
      maxLength: 100,
      description: 'As printed on the kit; case, hyphens and spaces are ignored.',
    }),
    user_id: Maybe(Uuid),
    patient_details: PatientInput,
    patient_address: PatientAddressInput,
    physician: Maybe(PhysicianInput),
    consents: Maybe(Consents),
    health_insurance: Maybe(HealthInsuranceInput),
  },
  { title: 'RegisterTestkit' },
)
export type RegisterTestkit = Static<typeof RegisterTestkit>
