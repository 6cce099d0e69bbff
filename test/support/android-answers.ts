// What the published client for Android reads in answers. Its adapters take numbers for texts and the reverse, no null for a type that has
// none, and instants in UTC alone; a value that they cannot read fails the whole answer.
// Source: github.com/tryVital/vital-android, 5.0; users-wearables.md 16.8.
import { boolean, fail, list, map, object, oneOf, optional, whatever, withDefault, type Decode } from './client-decoding.ts'

const string: Decode<string> = (value, path) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : fail(path, 'a string', value)
const double: Decode<number> = (value, path) =>
  value !== null && value !== '' && Number.isFinite(Number(value)) && typeof value !== 'boolean'
    ? Number(value)
    : fail(path, 'a double', value)
const int: Decode<number> = (value, path) => (Number.isInteger(double(value, path)) ? Number(value) : fail(path, 'an int', value))
const instant: Decode<number> = (value, path) =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?Z$/.test(value.replace('+00:00', 'Z'))
    ? Date.parse(value)
    : fail(path, 'an instant in UTC', value)

export const SyncState = object({
  status: oneOf('paused', 'error', 'active'),
  request_start_date: optional(instant),
  request_end_date: optional(instant),
  per_device_activity_ts: withDefault(boolean, false),
  expires_in: withDefault(int, 14_400),
})
export const Success = object({ success: boolean })
export const User = object({ user_id: string, team_id: string, client_user_id: string, created_on: instant })
export const Connections = object({
  providers: list(
    object({
      name: string,
      slug: string,
      logo: string,
      status: string,
      resource_availability: map(object({ status: oneOf('available', 'unavailable') })),
      created_on: instant,
    }),
  ),
})
export const Refreshed = object({
  success: boolean,
  user_id: optional(string),
  error: optional(string),
  refreshed_sources: withDefault(list(string), []),
  failed_sources: withDefault(list(string), []),
})
export const LinkToken = object({ link_token: string })
export const OAuthLink = object({
  name: optional(string),
  slug: optional(string),
  description: optional(string),
  logo: optional(string),
  group: optional(string),
  oauth_url: optional(string),
  auth_type: optional(string),
  is_active: boolean,
  id: int,
})

const source = object({ type: string, provider: string, app_id: optional(string) })
const day = { id: string, calendar_date: string, source }
const decodeEnum = <N extends string>(decode: Decode<number>, names: N[]) =>
  Object.fromEntries(names.map((name) => [name, optional(decode)])) as Record<N, Decode<number | null>>
const doubles = <N extends string>(...names: N[]) => decodeEnum(double, names)
const ints = <N extends string>(...names: N[]) => decodeEnum(int, names)
export const Activity = object({
  activity: list(
    object({
      ...day,
      user_id: string,
      ...doubles('calories_total', 'calories_active', 'steps', 'distance', 'low', 'medium', 'high'),
    }),
  ),
})
export const Body = object({ body: list(object({ ...day, user_id: string, ...doubles('weight', 'fat') })) })
export const Sleep = object({
  sleep: list(
    object({
      ...day,
      user_id: optional(string),
      bedtime_start: optional(instant),
      bedtime_stop: optional(instant),
      ...ints(
        'timezone_offset',
        'duration',
        'total',
        'awake',
        'light',
        'rem',
        'deep',
        'score',
        'hr_lowest',
        'hr_average',
        'latency',
      ),
      ...doubles('efficiency', 'temperature_delta', 'average_hrv', 'respiratory_rate'),
    }),
  ),
})
export const Workouts = object({
  workouts: list(
    object({
      ...day,
      user_id: string,
      user_key: string,
      title: optional(string),
      time_start: optional(instant),
      time_end: optional(instant),
      sport: optional(object({ id: int, name: string })),
      hr_zones: optional(list(whatever)),
      map: optional(object({ id: string, polyline: optional(string), summary_polyline: optional(string) })),
      provider_id: optional(string),
      ...ints('timezone_offset', 'moving_time'),
      ...doubles('average_hr', 'max_hr', 'distance', 'calories', 'total_elevation_gain', 'elev_high', 'elev_low'),
    }),
  ),
})
export const Profile = object({ user_id: string, id: string, height: optional(double), source })
const stream = withDefault(list(double), [])
export const WorkoutStream = object({
  time: withDefault(list(int), []),
  cadence: stream,
  altitude: stream,
  velocity_smooth: stream,
  heartrate: stream,
  lat: stream,
  lng: stream,
  distance: stream,
  power: stream,
  resistance: stream,
})
export const Samples = object({
  groups: map(
    list(
      object({
        data: list(
          object({
            timestamp: instant,
            value: double,
            type: optional(string),
            unit: string,
            timezone_offset: optional(int),
          }),
        ),
        source,
      }),
    ),
  ),
})
