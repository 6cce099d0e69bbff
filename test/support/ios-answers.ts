// What the published client for iOS reads in answers. Its `Date` is an instant without fractions of seconds, `Int` takes no fractions, and
// a value that it cannot read fails the whole answer. Source: github.com/tryVital/vital-ios, 1.8; users-wearables.md 16.8.
import {
  boolean,
  fail,
  integer,
  list,
  map,
  number,
  object,
  oneOf,
  optional,
  string,
  whatever,
  type Decode,
} from './client-decoding.ts'

const date: Decode<number> = (value, path) =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:?\d\d)$/.test(value)
    ? Date.parse(value)
    : fail(path, 'an instant without fractions', value)
const uuid: Decode<string> = (value, path) =>
  typeof value === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value) ? value : fail(path, 'a UUID', value)
const address: Decode<string> = (value, path) =>
  typeof value === 'string' && URL.canParse(value) ? value : fail(path, 'a URL', value)
const source = object({ provider: string, type: string, app_id: optional(string) })

export const SyncState = object({
  status: oneOf('active', 'paused', 'error'),
  ingestion_start: optional(date),
  request_start_date: optional(date),
  request_end_date: optional(date),
  per_device_activity_ts: optional(boolean),
  expires_in: optional(integer),
  pull_preferences: optional(
    object({
      historical_days_to_pull: integer,
      backfill_type_overrides: optional(map(object({ historical_days_to_pull: integer }))),
    }),
  ),
  reporting_interval: optional(number),
})
const scopes = object({ required: list(string), optional: list(string) })
export const Connections = object({
  providers: list(
    object({
      name: string,
      slug: string,
      logo: string,
      status: string,
      resource_availability: map(
        object({
          status: oneOf('available', 'unavailable'),
          scope_requirements: optional(object({ user_granted: scopes, user_denied: scopes })),
        }),
      ),
      created_on: date,
    }),
  ),
})
export const LinkToken = object({ link_token: string })
export const OAuthLink = object({
  name: string,
  slug: string,
  logo: string,
  description: string,
  oauth_url: address,
  auth_type: string,
  id: integer,
})
export const LinkResult = object({
  state: oneOf('success', 'error', 'pending_provider_mfa'),
  redirect_url: optional(string),
  error: optional(string),
  provider_mfa: optional(object({ method: oneOf('sms', 'email'), hint: string })),
})
const day = { id: uuid, calendar_date: string, source }
export const Activity = object({
  activity: list(
    object({
      ...day,
      calories_total: optional(number),
      calories_active: optional(number),
      steps: optional(integer),
      distance: optional(number),
      low: optional(number),
      medium: optional(number),
      high: optional(number),
      floors_climbed: optional(integer),
      timezone_offset: optional(integer),
    }),
  ),
})
export const Body = object({ body: list(object({ ...day, weight: optional(number), fat: optional(number) })) })
export const Sleep = object({
  sleep: list(
    object({
      ...day,
      bedtime_start: date,
      bedtime_stop: date,
      timezone_offset: optional(integer),
      duration: integer,
      total: integer,
      awake: integer,
      light: integer,
      rem: integer,
      deep: integer,
      score: optional(integer),
      hr_lowest: optional(integer),
      hr_average: optional(integer),
      latency: optional(integer),
      temperature_delta: optional(number),
      average_hrv: optional(number),
      respiratory_rate: optional(number),
    }),
  ),
})
export const Workouts = object({
  workouts: list(
    object({
      ...day,
      provider_id: string,
      title: optional(string),
      timezone_offset: optional(integer),
      time_start: date,
      time_end: date,
      average_hr: optional(integer),
      max_hr: optional(integer),
      distance: optional(number),
      calories: optional(number),
      sport: object({ id: integer, name: string, slug: string }),
      hr_zones: optional(list(integer)),
      moving_time: optional(integer),
      total_elevation_gain: optional(integer),
      map: whatever,
    }),
  ),
})
export const Samples = object({
  groups: map(
    list(
      object({
        source,
        data: list(
          object({
            timestamp: date,
            value: number,
            type: optional(string),
            unit: string,
            timezone_offset: optional(integer),
          }),
        ),
      }),
    ),
  ),
  next_cursor: optional(string),
})
