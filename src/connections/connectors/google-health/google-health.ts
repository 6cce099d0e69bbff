// The Google Health API, version 4. Points of about forty types, days added up by Google, notifications for the application with the
// authorization that was registered and a signature.
import { pullEach, type Access, type Connector, type Pull, type PullRequest, type Pulled } from '../connector.ts'
import { pulledRecording } from '../electrocardiograms.ts'
import { numberOrText, objectOrEmpty, refusalOf, readText, readInteger } from '../reading.ts'
import { knownZone, SampleBatches } from '../vendor-records.ts'
import { askForTokens, consentPage, refreshBy } from '../tokens.ts'
import type { Resource } from '../../../wearables/resources/resources.ts'
import { mapOf } from '../../../wearables/streams/stream-points.ts'
import { addPoint, addTemperatureDelta, bodyOf, filterName, nightOf, pointTypes, type PointType } from './data-points.ts'
import { pullActivity } from './google-days.ts'
import { toRecording, startOf } from './electrocardiograms.ts'
import { addAlert, addWater, LoggedAmounts, LoggedMeals } from './logs.ts'
import {
  rangeFilter,
  civilDays,
  getPath,
  instants,
  points,
  POINTS_MAX,
  readPath,
  SESSIONS_MAX,
} from './google-health-requests.ts'
import { subscribe } from './subscribers.ts'
import { receiveNotification } from './webhooks.ts'
import { exerciseOf, toStream } from './workouts.ts'

const scope = (name: string) => `https://www.googleapis.com/auth/googlehealth.${name}.readonly`
const ACTIVITY = scope('activity_and_fitness')
const METRICS = scope('health_metrics_and_measurements')
const SLEEP = scope('sleep')
const LOCATION = scope('location')
const ECG = scope('ecg')
const NUTRITION = scope('nutrition')
const IRREGULAR_RHYTHMS = scope('irn')

const scopesByResource = {
  activity: ACTIVITY,
  workouts: ACTIVITY,
  workout_stream: ACTIVITY,
  steps: ACTIVITY,
  distance: ACTIVITY,
  calories_active: ACTIVITY,
  calories_basal: ACTIVITY,
  floors_climbed: ACTIVITY,
  vo2_max: ACTIVITY,
  sleep: SLEEP,
  sleep_cycle: SLEEP,
  body: METRICS,
  weight: METRICS,
  fat: METRICS,
  profile: METRICS,
  heartrate: METRICS,
  hrv: METRICS,
  blood_oxygen: METRICS,
  respiratory_rate: METRICS,
  glucose: METRICS,
  body_temperature: METRICS,
  body_temperature_delta: METRICS,
  electrocardiogram: ECG,
  electrocardiogram_voltage: ECG,
  heart_rate_alert: IRREGULAR_RHYTHMS,
  meal: NUTRITION,
  carbohydrates: NUTRITION,
  caffeine: NUTRITION,
  water: NUTRITION,
} as const satisfies Partial<Record<Resource, string>>

function fetchPoints(access: Access, { type, is_interval }: PointType, request: PullRequest) {
  const field = `${filterName(type)}.${is_interval ? 'interval.start_time' : 'sample_time.physical_time'}`
  return points(access, type, rangeFilter(field, ...instants(request)), POINTS_MAX)
}

async function* pullPoints(access: Access, type: PointType, request: PullRequest): AsyncGenerator<Pulled> {
  const batches = new SampleBatches()
  for await (const found of fetchPoints(access, type, request)) {
    for (const point of found) addPoint(batches, type, point)
    yield* batches.take()
  }
}

async function* pullBody(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  const batches = new SampleBatches()
  for (const type of [pointTypes.weight, pointTypes.fat])
    for await (const found of fetchPoints(access, type, request)) {
      for (const point of found) addPoint(batches, type, point)
      const records = found.flatMap((point) => bodyOf(point) ?? [])
      if (records.length) yield { kind: 'body', records }
      yield* batches.take()
    }
}

async function* pullTemperatureDeltas(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  const batches = new SampleBatches()
  const zone = knownZone(request.time_zone)
  const filter = rangeFilter('daily_sleep_temperature_derivations.date', ...civilDays(request))
  for await (const found of points(access, 'daily-sleep-temperature-derivations', filter, POINTS_MAX)) {
    for (const point of found) addTemperatureDelta(batches, point, zone)
    yield* batches.take()
  }
}

/** Sessions of a type whose local beginning lies on the days of a range. */
const fetchSessions = (access: Access, type: string, request: PullRequest, pageSize: number) =>
  points(access, type, rangeFilter(`${filterName(type)}.interval.civil_start_time`, ...civilDays(request)), pageSize)

async function* pullMeals(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  const [meals, batches] = [new LoggedMeals(), new SampleBatches()]
  for await (const found of fetchSessions(access, 'nutrition-log', request, POINTS_MAX))
    for (const point of found) meals.add(point)
  const records = meals.records()
  if (records.length) yield { kind: 'meal', records }
  meals.addTo(batches)
  yield* batches.take()
}

async function* pullWater(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  const [amounts, batches] = [new LoggedAmounts(), new SampleBatches()]
  for await (const found of fetchSessions(access, 'hydration-log', request, POINTS_MAX))
    for (const point of found) addWater(amounts, point)
  amounts.addTo(batches)
  yield* batches.take()
}

async function* pullAlerts(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  const batches = new SampleBatches()
  for await (const found of fetchSessions(access, 'irregular-rhythm-notification', request, POINTS_MAX)) {
    for (const point of found) addAlert(batches, point)
    yield* batches.take()
  }
}

async function* pullSleep(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  const filter = rangeFilter('sleep.interval.end_time', ...instants(request))
  for await (const found of points(access, 'sleep', filter, SESSIONS_MAX)) {
    const nights = found.flatMap((point) => nightOf(point) ?? [])
    const cycles = nights.flatMap(({ cycle }) => cycle ?? [])
    if (nights.length) yield { kind: 'sleep', records: nights.map(({ sleep }) => sleep) }
    if (cycles.length) yield { kind: 'sleep_cycle', records: cycles }
  }
}

async function* pullWorkouts(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  // A user may have allowed workouts without their places: then there are no streams.
  let isAllowed = true
  for await (const found of fetchSessions(access, 'exercise', request, SESSIONS_MAX)) {
    for (const record of found.flatMap((point) => exerciseOf(point) ?? [])) {
      const tcx: string | null = isAllowed ? await fetchTcx(access, record.key) : ''
      if (tcx === null) isAllowed = false
      const stream = toStream(record.key, tcx ?? '')
      const document = stream ? { ...record.document, map: mapOf(stream) } : record.document
      yield { kind: 'workouts', records: [{ ...record, document }] }
      if (stream) yield { streams: [stream] }
    }
  }
}

/** The track of a workout as TCX; empty for one that was entered by hand, null if the user has not allowed places. */
async function fetchTcx(access: Access, key: string): Promise<string | null> {
  const path = `users/me/dataTypes/exercise/dataPoints/${encodeURIComponent(key)}:exportExerciseTcx`
  const answer = await getPath(access, `${path}?alt=media&partialData=true`)
  if (answer.status === 403) return null
  if (answer.status === 404 || answer.status === 400) return ''
  if (answer.status !== 200) throw refusalOf(answer)
  return answer.text
}

/** Only their beginning can be filtered, and only from an instant on. */
async function* pullElectrocardiograms(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  const filter = `electrocardiogram.interval.start_time >= "${new Date(request.from_ms).toISOString()}"`
  for await (const found of points(access, 'electrocardiogram', filter, SESSIONS_MAX))
    for (const point of found) {
      if ((startOf(point) ?? Infinity) >= request.to_ms) continue
      const recording = toRecording(point, request.time_zone)
      if (recording) yield* pulledRecording(recording)
    }
}

/** The height; Google knows no birth date. The newest is last. */
async function* pullProfile(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  let newest = { at: '', height: null as number | null }
  for await (const found of points(
    access,
    'height',
    rangeFilter('height.sample_time.physical_time', ...instants(request)),
    POINTS_MAX,
  ))
    for (const point of found) {
      const { heightMillimeters, sampleTime } = objectOrEmpty(point.height)
      const [mm, at] = [numberOrText(heightMillimeters), readText(objectOrEmpty(sampleTime).physicalTime) ?? '']
      if (mm !== null && at > newest.at) newest = { at, height: readInteger(mm / 10) }
    }
  if (newest.height === null) return
  const document = { height: newest.height }
  yield { kind: 'profile', records: [{ key: '', source_type: 'unknown', app_id: null, calendar_date: null, document }] }
}

const pullByResource: Partial<Record<Resource, Pull>> = {
  ...Object.fromEntries(
    Object.entries(pointTypes).map(([resource, type]) => [
      resource,
      (access: Access, request: PullRequest) => pullPoints(access, type, request),
    ]),
  ),
  body_temperature_delta: pullTemperatureDeltas,
  heart_rate_alert: pullAlerts,
  meal: pullMeals,
  carbohydrates: pullMeals,
  caffeine: pullMeals,
  water: pullWater,
  body: pullBody,
  weight: pullBody,
  fat: pullBody,
  sleep: pullSleep,
  sleep_cycle: pullSleep,
  workouts: pullWorkouts,
  workout_stream: pullWorkouts,
  activity: pullActivity,
  electrocardiogram: pullElectrocardiograms,
  electrocardiogram_voltage: pullElectrocardiograms,
  profile: pullProfile,
}

export const googleHealth = {
  provider: 'google_health',
  description: 'Fitbit devices, Pixel watches and what else Google Health collects',
  resources: Object.keys(scopesByResource) as Resource[],
  urls: {
    authorize: 'https://accounts.google.com/o/oauth2/v2/auth',
    token: 'https://oauth2.googleapis.com/token',
    api: 'https://health.googleapis.com/v4',
  },
  scopes: [ACTIVITY, METRICS, SLEEP, LOCATION, ECG, NUTRITION, IRREGULAR_RHYTHMS],
  scopesByResource,
  alsoUses: { workouts: [LOCATION], workout_stream: [LOCATION] },
  comesWith: {
    weight: 'body',
    fat: 'body',
    sleep_cycle: 'sleep',
    workout_stream: 'workouts',
    electrocardiogram_voltage: 'electrocardiogram',
    carbohydrates: 'meal',
    caffeine: 'meal',
  },
  pkce: true,
  // Google adds up heart rates and calories of at most 14 days at once; the days at both ends are asked for with them.
  days_per_request: 10,
  limits: [{ requests: 120_000, window_ms: 60_000 }],

  // Without these two fields there is no refresh token the second time.
  authorizeUrl: consentPage(true, () => ({ access_type: 'offline', prompt: 'consent' })),

  async exchange(http, app, { code, redirect_uri, code_verifier, now_ms }) {
    const form = { grant_type: 'authorization_code', code, redirect_uri, code_verifier }
    const grant = await askForTokens(http, app, form, now_ms)
    const { healthUserId } = await readPath({ http, app, access_token: grant.access_token }, 'users/me/identity')
    return { ...grant, external_user_id: readText(healthUserId) }
  },

  refresh: refreshBy(askForTokens),

  async revoke(http, { urls }, { access_token, refresh_token }) {
    const url = urls.token.replace(/\/token$/, '/revoke')
    const answer = await http({ method: 'POST', url, body: { token: refresh_token ?? access_token } })
    if (answer.status !== 200) throw refusalOf(answer)
  },

  pull: pullEach('Google Health', pullByResource),

  receive: receiveNotification,
  subscribe,
} satisfies Connector
