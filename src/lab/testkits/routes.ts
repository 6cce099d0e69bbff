import { OrderReply } from '../orders/schema.ts'
import type { CoversCharacter } from '../../platform/pdf/extra-fonts.ts'
import { operation } from '../../platform/http/operation.ts'
import { CreateTestkitOrder, RegisterTestkit } from './schema.ts'
import { createTestkitOrder, registerTestkit } from './testkits.ts'
import { examplePatient } from '../../people/person/example-patient.ts'
import { BODY_WITH_IMAGES_BYTES_MAX } from '../../people/person/image.ts'

export const testkitsRoutes = (covers: CoversCharacter) => [
  operation({
    id: 'create_testkit_order',
    logsAccess: true,
    method: 'POST',
    path: '/v3/order/testkit',
    summary: 'Create a test kit order without a patient',
    body: CreateTestkitOrder,
    reply: OrderReply,
    example: {
      user_id: '00000000-0000-7000-8000-000000000001',
      lab_test_id: '00000000-0000-7000-8000-000000000002',
      shipping_details: {
        receiver_name: 'Testa Fictional',
        first_line: '1 Sample Way',
        city: 'Phoenix',
        state: 'AZ',
        zip: '85004',
        country: 'US',
        phone_number: '+15550100199',
      },
    },
    run: (tx, { body }) => createTestkitOrder(tx, body),
  }),
  operation({
    id: 'register_testkit_order',
    logsAccess: true,
    method: 'POST',
    path: '/v3/order/testkit/register',
    summary: 'Register a test kit',
    body: RegisterTestkit,
    body_bytes_max: BODY_WITH_IMAGES_BYTES_MAX,
    reply: OrderReply,
    example: {
      sample_id: 'DBK0000000000',
      patient_details: examplePatient,
      patient_address: { first_line: '1 Sample Way', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' },
      consents: [{ consentType: 'terms-of-use' }],
    },
    run: (tx, { body }) => registerTestkit(tx, body, covers),
  }),
]
