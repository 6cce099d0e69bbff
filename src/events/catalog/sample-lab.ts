// Complete orders, appointments, results and reviews as events contain them. All persons are fictional.
// Source: lab-testing.md 8, 17.1, 22; events.md 4.7, 4.8, 4.10.
import { examplePatient } from '../../people/person/example-patient.ts'

const USER = '00000000-0000-4000-8000-000000000001'
const OBJECT = '00000000-0000-4000-8000-000000000002'
const TEST = '00000000-0000-4000-8000-000000000003'
const OTHER = '00000000-0000-4000-8000-000000000004'

const labTest = {
  id: TEST,
  slug: 'a-fictional-test',
  name: 'A fictional test',
  description: 'A test that nobody offers',
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
function order(at: string, team_id: string, ...statuses: string[]) {
  const events = statuses.map((status, i) => ({ id: i + 1, created_at: at, status, status_detail: null }))
  const last_event = events.at(-1)!
  const [status, , low_level_status] = last_event.status.split('.')
  const isOver = status === 'completed'
  const result = isOver ? 'normal' : null
  const expected = isOver ? at.slice(0, 10) : null
  return {
    id: OBJECT,
    team_id,
    user_id: USER,
    patient_details: {
      ...examplePatient,
      medical_proxy: null,
      race: null,
      ethnicity: null,
      sexual_orientation: null,
      gender_identity: null,
    },
    patient_address: {
      receiver_name: 'Testa Fictional',
      first_line: '1 Sample Way',
      second_line: null,
      city: 'Phoenix',
      state: 'AZ',
      zip: '85004',
      country: 'United States',
      access_notes: null,
      phone_number: null,
    },
    shipping_details: null,
    lab_test: labTest,
    details: { type: 'testkit', data: { id: OTHER, shipment: null, created_at: at, updated_at: at } },
    sample_id: '0000000000',
    notes: null,
    clinical_notes: null,
    created_at: at,
    updated_at: at,
    events,
    last_event,
    status,
    physician: null,
    health_insurance_id: null,
    health_insurace_id: null, // sic
    requisition_form_url: null,
    priority: false,
    activate_by: null,
    passthrough: null,
    billing_type: 'client_bill',
    icd_codes: null,
    has_abn: false,
    interpretation: result,
    has_missing_results: isOver ? false : null,
    expected_result_by_date: expected,
    worst_case_result_by_date: expected,
    origin: 'initial',
    order_transaction: {
      id: OTHER,
      status: isOver ? 'completed' : 'active',
      orders: [
        {
          id: OBJECT,
          created_at: at,
          updated_at: at,
          low_level_status,
          low_level_status_created_at: at,
          origin: 'initial',
          parent_id: null,
        },
      ],
    },
    lab_account_id: null,
  }
}

function appointment(at: string) {
  const place = { first_line: '1 Sample Way', second_line: null, city: 'Phoenix', state: 'AZ', zip_code: '85004' }
  return {
    id: OBJECT,
    user_id: USER,
    order_id: OTHER,
    order_transaction_id: TEST,
    address: { ...place, unit: null, access_notes: null },
    location: { lng: -112, lat: 33.4 },
    start_at: at,
    end_at: at,
    iana_timezone: 'America/Phoenix',
    type: 'phlebotomy',
    provider: 'getlabs',
    status: 'confirmed',
    provider_id: '1',
    external_id: null,
    can_reschedule: true,
    appointment_notes: null,
    event_status: 'scheduled',
    event_data: null,
    events: [{ created_at: at, status: 'scheduled', data: null }],
  }
}

/** The data of an event of the laboratory family. */
export function labData(name: string, at: string, team_id: string): unknown {
  const common = { team_id, user_id: USER, created_at: at, updated_at: at }
  switch (name) {
    case 'labtest.order.created':
      return order(at, team_id, 'received.testkit.ordered')
    case 'labtest.order.updated':
      return order(at, team_id, ...KIT)
    case 'labtest.appointment.created':
    case 'labtest.appointment.updated':
      return appointment(at)
    case 'labtest.result.critical':
      return { order_id: OBJECT, sample_id: '0000000000', status: 'final', interpretation: 'critical', ...common }
    case 'lab_report.parsing_job.created':
    case 'lab_report.parsing_job.updated': {
      const status = name.endsWith('created') ? 'upload_pending' : 'started'
      return { id: OBJECT, status, failure_reason: null, needs_human_review: false, is_reviewed: false, data: null }
    }
    case 'labtest.match_review.created':
    case 'labtest.match_review.updated': {
      const review = { decision_code: 'no_match', sub_reason_codes: [], resolved_user_id: null, resolved_order_id: null }
      return { id: OBJECT, status: 'pending_customer_review', ...review, resolution_action: null }
    }
    default:
      throw new Error(`the event ${name} has no sample`)
  }
}
