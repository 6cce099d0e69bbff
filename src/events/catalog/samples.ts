// A complete sample body of each event type, as a test sends it and as the catalog shows it. All persons are fictional.
// Source: events.md 1, 4, 6.8.
import { eventType, type EventType } from './event-types.ts'
import { labData } from './sample-lab.ts'
import { summaryOf } from './sample-summaries.ts'
import { sampleOf } from './sample-timeseries.ts'

interface SampleContext {
  team_id: string
  at_text: string
}

const USER = '00000000-0000-4000-8000-000000000001'
const OBJECT = '00000000-0000-4000-8000-000000000002'
const client_user_id = 'a-fictional-user'

/** A name that generated clients know: clients generated from the OpenAPI document reject others in some places. */
const PROVIDER = 'apple_health_kit'
const laboratoryNames = { name: 'Apple HealthKit', slug: PROVIDER, logo: '' }
const source = {
  ...laboratoryNames,
  provider: PROVIDER,
  type: 'watch',
  app_id: null,
  device_id: null,
  sport: null,
  workout_id: null,
}

function provider(name: string): unknown {
  switch (name) {
    case 'provider.connection.created':
      return {
        user_id: USER,
        source: laboratoryNames,
        provider: laboratoryNames,
        external_user_id: null,
        resource_availability: {},
      }
    case 'provider.connection.error':
      return {
        user_id: USER,
        provider: PROVIDER,
        error_type: 'token_refresh_failed',
        message: 'The provider refused the token',
        error_details: '',
      }
    default: {
      const text = { app_id: null, device_manufacturer: 'Fictional', device_model: 'One', device_version: '1.0', device_id: null }
      return { id: OBJECT, user_id: USER, provider: PROVIDER, source_type: 'watch', ...text }
    }
  }
}

function data({ name, family, resource }: EventType, context: SampleContext): unknown {
  const at = context.at_text
  switch (family) {
    case 'summary':
      return summaryOf(resource!, at, { user_id: USER, source })
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
      return { user_id: USER, start_date: at, end_date: at, provider: PROVIDER, is_final: true }
    case 'provider':
      return provider(name)
    case 'query':
      return [{ query_id: OBJECT, query_slug: 'a-fictional-query', data: { day: [at.slice(0, 10)], value: [1] } }]
    default:
      return labData(name, at, context.team_id)
  }
}

/** The whole body that a test of a type sends. */
export function sampleEventBody(name: string, context: SampleContext): Record<string, unknown> {
  const type = eventType(name)
  if (!type) throw new Error('unrecognized event type')
  const { team_id, at_text } = context
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
  const body = { event_type: name, data: data(type, context), team_id }
  return name.startsWith('labtest.match_review.') ? body : { ...body, user_id: USER, client_user_id }
}
