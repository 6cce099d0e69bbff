// The events of appointments, with samples. Source: lab-testing.md 17.1; events.md 4.8.
import { EXAMPLE_OBJECT, EXAMPLE_OTHER, EXAMPLE_TEST, EXAMPLE_USER, type EventType } from '../../platform/queue/event-type.ts'

function appointment(time: string) {
  const place = { first_line: '1 Sample Way', second_line: null, city: 'Phoenix', state: 'AZ', zip_code: '85004' }
  return {
    id: EXAMPLE_OBJECT,
    user_id: EXAMPLE_USER,
    order_id: EXAMPLE_OTHER,
    order_transaction_id: EXAMPLE_TEST,
    address: { ...place, unit: null, access_notes: null },
    location: { lng: -112, lat: 33.4 },
    start_at: time,
    end_at: time,
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
    events: [{ created_at: time, status: 'scheduled', data: null }],
  }
}

export const eventTypes: readonly EventType[] = ['labtest.appointment.created', 'labtest.appointment.updated'].map((name) => ({
  name,
  family: 'lab',
  example: ({ at_text }) => appointment(at_text),
}))
