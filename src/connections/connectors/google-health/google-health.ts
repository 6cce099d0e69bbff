// The Google Health API, version 4. Points of about forty types, days added up by Google, notifications for the application with the
// authorization that was registered and a signature.
import { DAY_MS, dayOf, grantOf, midnight } from '../answers.ts'
import {
  VendorError,
  type Connector,
  type Grant,
  type Pulled,
  type PullRequest,
  type VendorApp,
  type VendorHttp,
} from '../connector.ts'
import { list, numberOrText, object, objectIn, objectOrEmpty, refusalOf, text, whole, type Values } from '../reading.ts'
import { knownZone, offsetAt, SampleBatches } from '../records.ts'
import { bearer, refreshTokenOf, withQuery } from '../tokens.ts'
import type { Resource } from '../../../wearables/resources/resources.ts'
import type { IncomingSummary } from '../../../wearables/summaries/summaries.ts'
import { addPoint, bodyOf, dateIn, exerciseOf, fieldOf, filterName, nightOf, pointTypes, type PointType } from './data-points.ts'
import { receive } from './webhooks.ts'

const scope = (name: string) => `https://www.googleapis.com/auth/googlehealth.${name}.readonly`
const ACTIVITY = scope('activity_and_fitness')
const METRICS = scope('health_metrics_and_measurements')
const SLEEP = scope('sleep')

const scopeOf = {
  activity: ACTIVITY,
  workouts: ACTIVITY,
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
} as const satisfies Partial<Record<Resource, string>>

interface Access {
  http: VendorHttp
  app: VendorApp
  access_token: string
}

async function read({ http, app, access_token }: Access, path: string, body?: Values): Promise<Values> {
  const url = `${app.urls.api}/${path}`
  const headers = { ...bearer(access_token), ...(body && { 'content-type': 'application/json' }) }
  const answer = await http(body ? { method: 'POST', url, headers, body: JSON.stringify(body) } : { method: 'GET', url, headers })
  if (answer.status !== 200) throw refusalOf(answer)
  return objectIn(answer.text)
}

const PAGES_MAX = 1000
/** Nights and workouts, of which a page has at most 25. */
const SESSIONS_MAX = 25
const POINTS_MAX = 5000

/** The points of a type that a filter names, page by page. */
async function* points(access: Access, type: string, filter: string, pageSize: number): AsyncGenerator<Values[]> {
  let pageToken: string | null = null
  for (let page = 0; page < PAGES_MAX; page++) {
    const query: Record<string, string> = { filter, pageSize: String(pageSize), ...(pageToken !== null && { pageToken }) }
    const values = await read(access, `users/me/dataTypes/${type}/dataPoints?${new URLSearchParams(query)}`)
    const found = list(values.dataPoints)
    if (found.length) yield found
    const next = typeof values.nextPageToken === 'string' && values.nextPageToken.length < 4000 ? values.nextPageToken : null
    if (!next) return
    if (next === pageToken) throw new VendorError('unexpected')
    pageToken = next
  }
  throw new VendorError('unexpected')
}

const between = (field: string, from: string, to: string) => `${field} >= "${from}" AND ${field} < "${to}"`
const instants = ({ from_ms, to_ms }: PullRequest) => [new Date(from_ms).toISOString(), new Date(to_ms).toISOString()] as const

function pointsOf(access: Access, { type, is_interval }: PointType, request: PullRequest) {
  const field = `${filterName(type)}.${is_interval ? 'interval.start_time' : 'sample_time.physical_time'}`
  return points(access, type, between(field, ...instants(request)), POINTS_MAX)
}

async function* pullPoints(access: Access, type: PointType, request: PullRequest): AsyncGenerator<Pulled> {
  const batches = new SampleBatches()
  for await (const found of pointsOf(access, type, request)) {
    for (const point of found) addPoint(batches, type, point)
    yield* batches.take()
  }
}

async function* pullBody(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  const batches = new SampleBatches()
  for (const type of [pointTypes.weight, pointTypes.fat])
    for await (const found of pointsOf(access, type, request)) {
      for (const point of found) addPoint(batches, type, point)
      const records = found.flatMap((point) => bodyOf(point) ?? [])
      if (records.length) yield { kind: 'body', records }
      yield* batches.take()
    }
}

async function* pullSleep(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  const filter = between('sleep.interval.end_time', ...instants(request))
  for await (const found of points(access, 'sleep', filter, SESSIONS_MAX)) {
    const nights = found.flatMap((point) => nightOf(point) ?? [])
    const cycles = nights.flatMap(({ cycle }) => cycle ?? [])
    if (nights.length) yield { kind: 'sleep', records: nights.map(({ sleep }) => sleep) }
    if (cycles.length) yield { kind: 'sleep_cycle', records: cycles }
  }
}

/** The days that a range touches anywhere on earth; the second is the first that it does not. */
const civilDays = ({ from_ms, to_ms }: PullRequest) => [dayOf(from_ms - DAY_MS / 2), dayOf(to_ms + 1.6 * DAY_MS)] as const

async function* pullWorkouts(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  const filter = between('exercise.interval.civil_start_time', ...civilDays(request))
  for await (const found of points(access, 'exercise', filter, SESSIONS_MAX)) {
    const records = found.flatMap((point) => exerciseOf(point) ?? [])
    if (records.length) yield { kind: 'workouts', records }
  }
}

/** The height; Google knows no birth date. The newest is last. */
async function* pullProfile(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  let newest = { at: '', height: null as number | null }
  for await (const found of points(
    access,
    'height',
    between('height.sample_time.physical_time', ...instants(request)),
    POINTS_MAX,
  ))
    for (const point of found) {
      const { heightMillimeters, sampleTime } = objectOrEmpty(point.height)
      const [mm, at] = [numberOrText(heightMillimeters), text(objectOrEmpty(sampleTime).physicalTime) ?? '']
      if (mm !== null && at > newest.at) newest = { at, height: whole(mm / 10) }
    }
  if (newest.height === null) return
  const document = { height: newest.height }
  yield { kind: 'profile', records: [{ key: '', source_type: 'unknown', app_id: null, calendar_date: null, document }] }
}

type Day = Record<string, unknown>
const activeMinutes = (value: Values, level: string): number | null => {
  const levels = list(value.activeMinutesRollupByActivityLevel)
  const found = levels.find((one) => one.activityLevel === level)
  return found ? numberOrText(found.activeMinutesSum) : null
}

/** What each type that Google adds up by days says of a day. */
const rollUps: Readonly<Record<string, (value: Values) => Day>> = {
  steps: (value) => ({ steps: whole(numberOrText(value.countSum)) }),
  distance: (value) => ({ distance: (numberOrText(value.millimetersSum) ?? 0) / 1000 }),
  floors: (value) => ({ floors_climbed: whole(numberOrText(value.countSum)) }),
  'active-energy-burned': (value) => ({ calories_active: numberOrText(value.kcalSum) }),
  'total-calories': (value) => ({ calories_total: numberOrText(value.kcalSum) }),
  'active-minutes': (value) => ({
    low: activeMinutes(value, 'LIGHT'),
    medium: activeMinutes(value, 'MODERATE'),
    high: activeMinutes(value, 'VIGOROUS'),
  }),
  'heart-rate': (value) => ({
    avg_bpm: numberOrText(value.beatsPerMinuteAvg),
    min_bpm: numberOrText(value.beatsPerMinuteMin),
    max_bpm: numberOrText(value.beatsPerMinuteMax),
  }),
}
const rateNames = ['avg_bpm', 'min_bpm', 'max_bpm', 'resting_bpm'] as const

/** Days: each type is added up by Google over all sources, without counting anything twice. */
async function* pullActivity(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  const days = new Map<string, Day>()
  const note = (date: string | null, values: Day) => date !== null && days.set(date, { ...days.get(date), ...values })
  const [first, end] = civilDays(request)
  const dateOf = (day: string) => ({ date: dateParts(day) })
  for (const [type, readValue] of Object.entries(rollUps)) {
    const body = { range: { start: dateOf(first), end: dateOf(end) }, windowSizeDays: 1 }
    const values = await read(access, `users/me/dataTypes/${type}/dataPoints:dailyRollUp`, body)
    for (const point of list(values.rollupDataPoints)) {
      const value = point[fieldOf(type)]
      if (value !== undefined) note(dateIn(objectOrEmpty(point.civilStartTime).date), readValue(object(value)))
    }
  }
  const filter = between('daily_resting_heart_rate.date', first, end)
  for await (const found of points(access, 'daily-resting-heart-rate', filter, POINTS_MAX))
    for (const point of found) {
      const { date, beatsPerMinute } = objectOrEmpty(point.dailyRestingHeartRate)
      note(dateIn(date), { resting_bpm: numberOrText(beatsPerMinute) })
    }
  const zone = knownZone(request.time_zone)
  const records = [...days].map(([date, values]) => activityOf(date, values, zone))
  if (records.length) yield { kind: 'activity', records }
}

const dateParts = (day: string) => {
  const [year, month, date] = day.split('-').map(Number)
  return { year, month, day: date }
}

function activityOf(calendar_date: string, values: Day, zone: string | null): IncomingSummary<'activity'> {
  const { avg_bpm, min_bpm, max_bpm, resting_bpm, ...document } = values
  const rates = { avg_bpm, min_bpm, max_bpm, resting_bpm, avg_walking_bpm: null }
  const hasRates = rateNames.some((name) => values[name] !== undefined && values[name] !== null)
  return {
    key: calendar_date,
    source_type: 'multiple_sources',
    app_id: null,
    calendar_date,
    document: {
      date: midnight(calendar_date),
      calendar_date,
      ...document,
      time_zone: zone,
      timezone_offset: offsetAt(zone, Date.parse(`${calendar_date}T12:00:00Z`)),
      ...(hasRates && { heart_rate: Object.fromEntries(Object.entries(rates).map(([name, rate]) => [name, rate ?? null])) }),
    },
  }
}

const pulls: Partial<Record<Resource, (access: Access, request: PullRequest) => AsyncGenerator<Pulled>>> = {
  ...Object.fromEntries(
    Object.entries(pointTypes).map(([resource, type]) => [
      resource,
      (access: Access, request: PullRequest) => pullPoints(access, type, request),
    ]),
  ),
  body: pullBody,
  weight: pullBody,
  fat: pullBody,
  sleep: pullSleep,
  sleep_cycle: pullSleep,
  workouts: pullWorkouts,
  activity: pullActivity,
  profile: pullProfile,
}

async function askForTokens(http: VendorHttp, app: VendorApp, form: Record<string, string>, now_ms: number, before?: Grant) {
  const { client_id, client_secret, urls } = app
  return grantOf(await http({ method: 'POST', url: urls.token, body: { client_id, client_secret, ...form } }), now_ms, before)
}

export const googleHealth = {
  provider: 'google_health',
  description: 'Fitbit devices, Pixel watches and what else Google Health collects',
  resources: Object.keys(scopeOf) as Resource[],
  urls: {
    authorize: 'https://accounts.google.com/o/oauth2/v2/auth',
    token: 'https://oauth2.googleapis.com/token',
    api: 'https://health.googleapis.com/v4',
  },
  scopes: [ACTIVITY, METRICS, SLEEP],
  scopeOf,
  comesWith: { weight: 'body', fat: 'body', sleep_cycle: 'sleep' },
  pkce: true,
  // Google adds up heart rates and calories of at most 14 days at once; the days at both ends are asked for with them.
  days_per_request: 10,
  limits: [{ requests: 120_000, window_ms: 60_000 }],

  authorizeUrl: ({ client_id, urls }, { redirect_uri, state, scopes, code_challenge }) =>
    withQuery(urls.authorize, {
      response_type: 'code',
      client_id,
      redirect_uri,
      state,
      scope: scopes.join(' '),
      // Without these two there is no refresh token the second time.
      access_type: 'offline',
      prompt: 'consent',
      code_challenge,
      code_challenge_method: 'S256',
    }),

  async exchange(http, app, { code, redirect_uri, code_verifier, now_ms }) {
    const form = { grant_type: 'authorization_code', code, redirect_uri, code_verifier }
    const grant = await askForTokens(http, app, form, now_ms)
    const { healthUserId } = await read({ http, app, access_token: grant.access_token }, 'users/me/identity')
    return { ...grant, external_user_id: text(healthUserId) }
  },

  refresh: async (http, app, grant, now_ms) =>
    askForTokens(http, app, { grant_type: 'refresh_token', refresh_token: refreshTokenOf(grant) }, now_ms, grant),

  async revoke(http, { urls }, { access_token, refresh_token }) {
    const url = urls.token.replace(/\/token$/, '/revoke')
    const answer = await http({ method: 'POST', url, body: { token: refresh_token ?? access_token } })
    if (answer.status !== 200) throw refusalOf(answer)
  },

  pull(http, app, access_token, request) {
    const pull = pulls[request.resource]
    if (!pull) throw new Error(`Google Health has no ${request.resource}`)
    return pull({ http, app, access_token }, request)
  },

  receive,
} satisfies Connector
