// The events of orders, with samples. Source: lab-testing.md 8; events.md 4.7.
import { PatientAddress } from '../../people/person/address.ts'
import { examplePatient } from '../../people/person/example-patient.ts'
import { toPatient } from '../../people/person/patient.ts'
import { EXAMPLE_OBJECT, EXAMPLE_OTHER, EXAMPLE_TEST, EXAMPLE_USER, type EventType } from '../../platform/queue/event-type.ts'
import { withNulls } from '../../platform/schema/schema.ts'
import type { LabTest } from '../catalog/schema.ts'
import { Order } from './schema.ts'

const labTest: LabTest = {
  id: EXAMPLE_TEST,
  slug: 'a-fictional-test',
  name: 'A fictional test',
  description: 'A test that no laboratory offers',
  sample_type: 'dried_blood_spot',
  method: 'testkit',
  price: 49,
  is_active: true,
  status: 'active',
  fasting: false,
  lab: {
    id: 1,
    slug: 'manual',
    name: 'A fictional laboratory',
    first_line_address: '2 Sample Way',
    city: 'Phoenix',
    zipcode: '85004',
    collection_methods: ['testkit'],
    sample_types: ['dried_blood_spot'],
    logo_url: null,
  },
  markers: [
    {
      id: 1,
      name: 'A fictional marker',
      slug: 'a-fictional-marker',
      description: null,
      lab_id: 1,
      provider_id: '0001',
      type: 'biomarker',
      unit: null,
      price: 'N/A',
      aoe: { questions: [] },
      a_la_carte_enabled: true,
      common_tat_days: 2,
      worst_case_tat_days: 5,
      is_orderable: true,
    },
  ],
  is_delegated: false,
  auto_generated: false,
  has_collection_instructions: false,
  common_tat_days: 2,
  worst_case_tat_days: 5,
}

/** The statuses of a kit without problems. */
const KIT = [
  'received.testkit.ordered',
  'received.testkit.requisition_created',
  'collecting_sample.testkit.transit_customer',
  'collecting_sample.testkit.out_for_delivery',
  'collecting_sample.testkit.with_customer',
  'collecting_sample.testkit.transit_lab',
  'sample_with_lab.testkit.delivered_to_lab',
  'completed.testkit.completed',
]

/** An order as of the last of its statuses. */
function order(time: string, team_id: string, ...statuses: string[]) {
  const events = statuses.map((status, i) => ({ id: i + 1, created_at: time, status, status_detail: null }))
  const last_event = events.at(-1)!
  const [status, , low_level_status] = last_event.status.split('.') as [Order['status'], string, string]
  const isOver = status === 'completed'
  const result = isOver ? 'normal' : null
  const expected = isOver ? time.slice(0, 10) : null
  return withNulls(Order, {
    id: EXAMPLE_OBJECT,
    team_id,
    user_id: EXAMPLE_USER,
    patient_details: toPatient(examplePatient),
    patient_address: withNulls(PatientAddress, {
      receiver_name: 'Testa Fictional',
      first_line: '1 Sample Way',
      city: 'Phoenix',
      state: 'AZ',
      zip: '85004',
      country: 'United States',
    }),
    lab_test: labTest,
    details: { type: 'testkit', data: { id: EXAMPLE_OTHER, shipment: null, created_at: time, updated_at: time } },
    sample_id: '0000000000',
    created_at: time,
    updated_at: time,
    events,
    last_event,
    status,
    priority: false,
    billing_type: 'client_bill',
    has_abn: false,
    interpretation: result,
    has_missing_results: isOver ? false : null,
    expected_result_by_date: expected,
    worst_case_result_by_date: expected,
    origin: 'initial',
    order_transaction: {
      id: EXAMPLE_OTHER,
      status: isOver ? 'completed' : 'active',
      orders: [
        {
          id: EXAMPLE_OBJECT,
          created_at: time,
          updated_at: time,
          low_level_status,
          low_level_status_created_at: time,
          origin: 'initial',
          parent_id: null,
        },
      ],
    },
  })
}

export const eventTypes: readonly EventType[] = [
  {
    name: 'labtest.order.created',
    family: 'lab',
    example: ({ at_text, team_id }) => order(at_text, team_id, 'received.testkit.ordered'),
  },
  { name: 'labtest.order.updated', family: 'lab', example: ({ at_text, team_id }) => order(at_text, team_id, ...KIT) },
]
