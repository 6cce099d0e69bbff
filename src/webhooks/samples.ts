// A body of each type, as a test sends it and as the catalogue shows it. Everybody in it is made up. Source: events.md 1, 4, 6.8.
import { eventType, type EventType } from './catalogue.ts'
import { sampleOf } from './sample-timeseries.ts'
import { examplePatient } from '../wire/example.ts'

interface Scene {
  team_id: string
  at_text: string
}

const USER = '00000000-0000-4000-8000-000000000001'
const OBJECT = '00000000-0000-4000-8000-000000000002'
const TEST = '00000000-0000-4000-8000-000000000003'
const client_user_id = 'a-fictional-user'

const named = { name: 'Fictional Device Cloud', slug: 'fictional', logo: '' }
const source = {
  ...named,
  provider: 'fictional',
  type: 'watch',
  app_id: null,
  device_id: null,
  sport: null,
  workout_id: null,
}

function order(at: string, team_id: string, status: string) {
  const last_event = { id: 1, created_at: at, status, status_detail: null }
  return {
    id: OBJECT,
    team_id,
    user_id: USER,
    patient_details: examplePatient,
    patient_address: {
      receiver_name: 'Testa Fictional',
      first_line: '1 Sample Way',
      second_line: null,
      city: 'Phoenix',
      state: 'AZ',
      zip: '85004',
      country: 'US',
      access_notes: null,
      phone_number: null,
    },
    lab_test: {
      id: TEST,
      slug: 'a-fictional-test',
      name: 'A fictional test',
      sample_type: 'dried_blood_spot',
      method: 'testkit',
      is_active: true,
    },
    details: { type: 'testkit', data: { id: OBJECT, shipment: null, created_at: at, updated_at: at } },
    sample_id: '0000000000',
    notes: null,
    created_at: at,
    updated_at: at,
    events: [last_event],
    status: status.split('.')[0],
    last_event,
    physician: null,
    health_insurance_id: null,
    health_insurace_id: null,
    requisition_form_url: null,
    shipping_details: null,
    has_abn: false,
    interpretation: null,
    origin: 'initial',
    order_transaction: null,
    activate_by: null,
  }
}

function lab(name: string, { at_text: at, team_id }: Scene): unknown {
  switch (name) {
    case 'labtest.order.created':
      return order(at, team_id, 'received.testkit.ordered')
    case 'labtest.order.updated':
      return order(at, team_id, 'completed.testkit.completed')
    case 'labtest.result.critical':
      return {
        order_id: OBJECT,
        sample_id: '0000000000',
        status: 'final',
        interpretation: 'critical',
        team_id,
        user_id: USER,
        created_at: at,
        updated_at: at,
      }
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
    default: {
      const event = { id: 1, created_at: at, status: 'scheduled', data: null }
      const place = { first_line: '1 Sample Way', second_line: null, city: 'Phoenix', state: 'AZ', zip_code: '85004', unit: null }
      return {
        id: OBJECT,
        user_id: USER,
        order_id: TEST,
        order_transaction_id: null,
        address: place,
        location: { lng: -112, lat: 33.4 },
        start_at: at,
        end_at: at,
        iana_timezone: 'America/Phoenix',
        type: 'phlebotomy',
        provider: 'fictional',
        status: 'confirmed',
        provider_id: '1',
        external_id: null,
        can_reschedule: true,
        event_status: 'scheduled',
        event_data: null,
        events: [event],
        appointment_notes: null,
      }
    }
  }
}

function provider(name: string): unknown {
  switch (name) {
    case 'provider.connection.created':
      return { user_id: USER, source: named, provider: named, external_user_id: null, resource_availability: {} }
    case 'provider.connection.error':
      return {
        user_id: USER,
        provider: 'fictional',
        error_type: 'token_refresh_failed',
        message: 'The provider refused the token',
        error_details: '',
      }
    default: {
      const text = { app_id: null, device_manufacturer: 'Fictional', device_model: 'One', device_version: '1.0', device_id: null }
      return { id: OBJECT, user_id: USER, provider: 'fictional', source_type: 'watch', ...text }
    }
  }
}

function data({ name, family, resource }: EventType, scene: Scene): unknown {
  const at = scene.at_text
  switch (family) {
    case 'summary':
      return {
        id: OBJECT,
        user_id: USER,
        source,
        calendar_date: at.slice(0, 10),
        date: `${at.slice(0, 10)}T00:00:00+00:00`,
        created_at: at,
        updated_at: at,
      }
    case 'shallow':
      return {
        message: 'Read the stream with GET /v2/timeseries/workouts/{workout_id}/stream',
        provider_id: '1',
        workout_id: OBJECT,
        sport: { id: 1, name: 'Running', slug: 'running' },
        source,
        user_id: USER,
      }
    case 'timeseries':
      return { user_id: USER, source_id: 1, source, data: [sampleOf(resource!, at)] }
    case 'historical':
      return { user_id: USER, start_date: at, end_date: at, provider: 'fictional', is_final: true }
    case 'provider':
      return provider(name)
    case 'query':
      return [{ query_id: OBJECT, query_slug: 'a-fictional-query', data: { day: [at.slice(0, 10)], value: [1] } }]
    default:
      return lab(name, scene)
  }
}

/** The whole body that a test of a type sends. */
export function sampleBody(name: string, scene: Scene): Record<string, unknown> {
  const type = eventType(name)
  if (!type) throw new Error('no such type')
  const { team_id, at_text } = scene
  if (name === 'endpoint.disabled')
    return {
      type: name,
      data: { appId: team_id, appUid: null, endpointId: `ep_${'0'.repeat(32)}`, endpointUid: null, failSince: at_text },
    }
  if (type.family === 'operational') {
    const lastAttempt = { id: `atmpt_${'0'.repeat(32)}`, responseStatusCode: 500, timestamp: at_text }
    return {
      type: name,
      data: {
        appId: team_id,
        appUid: null,
        endpointId: `ep_${'0'.repeat(32)}`,
        msgId: `msg_${'0'.repeat(32)}`,
        msgEventId: null,
        lastAttempt,
      },
    }
  }
  const body = { event_type: name, data: data(type, scene), team_id }
  return name.startsWith('labtest.match_review.') ? body : { ...body, user_id: USER, client_user_id }
}
