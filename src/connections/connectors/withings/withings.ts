// Withings. Forms with an action, HTTP 200 for errors too, refresh tokens that are used once, unsigned notifications for each user.
import { createHmac } from 'node:crypto'
import { readGrant } from '../answers.ts'
import {
  pullEach,
  VendorError,
  type Change,
  type Connector,
  type Grant,
  type Pull,
  type PullRequest,
  type VendorApp,
  type VendorHttp,
} from '../connector.ts'
import { readList, readNumber, readText, type Values } from '../reading.ts'
import { SampleBatches, knownZone, sleepOf } from '../vendor-records.ts'
import { consentPage, isSameText, postTokens, refreshBy, withQuery, type FetchTokens } from '../tokens.ts'
import type { Resource } from '../../../wearables/resources/resources.ts'
import * as days from './withings-days.ts'
import { addSamples, toBody as bodyRecordOf, groupsIn, measureTypes } from './measures.ts'
import { pullHeart } from './heart.ts'
import { ask, readBody, fetchPages } from './withings-requests.ts'
import { DAY_MS } from '../../../platform/runtime/durations.ts'
import { decodeUtf8 } from '../../../platform/runtime/utf8.ts'

const measures = [
  'body',
  'weight',
  'fat',
  'lean_body_mass',
  'blood_pressure',
  'blood_oxygen',
  'body_temperature',
  'vo2_max',
] as const
const intraday = ['steps', 'distance', 'calories_active', 'floors_climbed', 'heartrate', 'hrv'] as const
const electrocardiograms = ['electrocardiogram', 'electrocardiogram_voltage'] as const
const ofScope = {
  'user.metrics': measures,
  'user.activity': ['activity', 'workouts', 'workout_stream', ...electrocardiograms, ...intraday],
  'user.sleepevents': ['sleep', 'sleep_cycle', 'respiratory_rate'],
} as const satisfies Record<string, readonly Resource[]>
const resources: readonly Resource[] = Object.values(ofScope).flat()

/** The grant in the answer of the token endpoint, whose fields are in the body next to the status. */
const fetchTokens: FetchTokens = async (http, app, form, now_ms, previousGrant) => {
  const answer = await postTokens(http, app, { action: 'requesttoken', ...form })
  const values = readBody(answer, true)
  const grant = readGrant({ ...answer, text: JSON.stringify(values) }, now_ms, previousGrant)
  return { ...grant, external_user_id: userIn(values) ?? grant.external_user_id }
}

const userIn = ({ userid }: Values): string | null => (typeof userid === 'number' ? String(userid) : readText(userid))

/** Ends a grant with a signature over a nonce, which is asked for with another one. */
async function revoke(
  http: VendorHttp,
  { client_id, client_secret, urls }: VendorApp,
  grant: Grant,
  now_ms: number,
): Promise<void> {
  const sign = (...values: string[]) => createHmac('sha256', client_secret).update(values.join(',')).digest('hex')
  if (grant.external_user_id === null) return
  const timestamp = String(Math.floor(now_ms / 1000))
  const asked = { action: 'getnonce', client_id, timestamp, signature: sign('getnonce', client_id, timestamp) }
  const nonce = readText(readBody(await http({ method: 'POST', url: `${urls.api}/v2/signature`, body: asked })).nonce)
  if (nonce === null) throw new VendorError('unexpected')
  const signature = sign('revoke', client_id, nonce)
  const body = { action: 'revoke', client_id, nonce, signature, userid: grant.external_user_id }
  readBody(await http({ method: 'POST', url: urls.token, body }))
}

const toSeconds = (ms: number): string => String(Math.floor(ms / 1000))
const isIn = ({ from_ms, to_ms }: PullRequest, at_ms: number) => at_ms >= from_ms && at_ms < to_ms

const pullMeasures: Pull = async function* ({ http, app: { urls }, access_token }, request) {
  const bounds = { startdate: toSeconds(request.from_ms), enddate: toSeconds(request.to_ms) }
  const asked = { ...bounds, category: '1', meastypes: Object.values(measureTypes).join() }
  for await (const body of fetchPages(http, `${urls.api}/measure`, access_token, 'getmeas', asked)) {
    const zone = knownZone(readText(body.timezone), request.time_zone)
    const groups = groupsIn(body)
    const records = groups.flatMap((group) => bodyRecordOf(group, zone) ?? [])
    if (records.length) yield { kind: 'body', records }
    const batches = new SampleBatches()
    for (const group of groups) addSamples(batches, group, zone)
    yield* batches.take()
  }
}

/** A day in one request: of a longer range only the first day is answered. */
const pullIntraday: Pull = async function* ({ http, app: { urls }, access_token }, request) {
  const zone = knownZone(request.time_zone)
  for (let from_ms = request.from_ms; from_ms < request.to_ms; from_ms += DAY_MS) {
    const bounds = { startdate: toSeconds(from_ms), enddate: toSeconds(Math.min(from_ms + DAY_MS, request.to_ms)) }
    const asked = { ...bounds, data_fields: days.intradayFields }
    const batches = new SampleBatches()
    days.addIntraday(batches, await ask(http, `${urls.api}/v2/measure`, access_token, 'getintradayactivity', asked), zone)
    yield* batches.take()
  }
}

const pullActivity: Pull = async function* ({ http, app: { urls }, access_token }, request) {
  const asked = { ...days.dayBounds(request.from_ms, request.to_ms), data_fields: days.activityFields }
  for await (const body of fetchPages(http, `${urls.api}/v2/measure`, access_token, 'getactivity', asked)) {
    const records = readList(body.activities).flatMap((record) => days.toActivity(record, request.time_zone) ?? [])
    if (records.length) yield { kind: 'activity', records }
  }
}

const pullWorkouts: Pull = async function* ({ http, app: { urls }, access_token }, request) {
  const asked = { ...days.dayBounds(request.from_ms, request.to_ms), data_fields: days.workoutFields }
  for await (const body of fetchPages(http, `${urls.api}/v2/measure`, access_token, 'getworkouts', asked)) {
    const records = readList(body.series).flatMap((record) => days.toWorkout(record, request.time_zone) ?? [])
    if (records.length) yield { kind: 'workouts', records }
    for (const record of records) {
      const span = days.spanOf(record)
      const bounds = { startdate: toSeconds(span.from_ms), enddate: toSeconds(span.to_ms), data_fields: days.intradayFields }
      const sent = await ask(http, `${urls.api}/v2/measure`, access_token, 'getintradayactivity', bounds)
      const stream = days.toStream(record.key, sent, span)
      if (stream) yield { streams: [stream] }
    }
  }
}

const pullSleep: Pull = async function* ({ http, app: { urls }, access_token }, request) {
  const asked = { ...days.dayBounds(request.from_ms, request.to_ms), data_fields: days.sleepFields }
  for await (const body of fetchPages(http, `${urls.api}/v2/sleep`, access_token, 'getsummary', asked)) {
    const nights = readList(body.series).flatMap((record) => days.toNight(record, request.time_zone) ?? [])
    if (nights.length) yield { kind: 'sleep', records: nights.map(sleepOf) }
    for (const night of nights) {
      if (!isIn(request, night.end_ms)) continue
      const bounds = { startdate: toSeconds(night.start_ms), enddate: toSeconds(Math.min(night.end_ms, night.start_ms + DAY_MS)) }
      const sent = await ask(http, `${urls.api}/v2/sleep`, access_token, 'get', { ...bounds, data_fields: days.stageFields })
      const batches = new SampleBatches()
      const cycle = days.stagesIn(batches, sent, night)
      if (cycle) yield { kind: 'sleep_cycle', records: [cycle] }
      yield* batches.take()
    }
  }
}

const pullByResource: Partial<Record<Resource, Pull>> = {
  ...Object.fromEntries(measures.map((resource) => [resource, pullMeasures])),
  ...Object.fromEntries(intraday.map((resource) => [resource, pullIntraday])),
  ...Object.fromEntries(ofScope['user.sleepevents'].map((resource) => [resource, pullSleep])),
  activity: pullActivity,
  workouts: pullWorkouts,
  workout_stream: pullWorkouts,
  electrocardiogram_voltage: pullHeart,
  electrocardiogram: pullHeart,
}

/** What the categories of notifications are about. A change of the account leads to a pull that finds out whether the grant has ended. */
const ofCategory: Readonly<Record<number, readonly Resource[]>> = {
  1: ['body'],
  2: ['body_temperature'],
  4: ['blood_pressure'],
  16: ['activity', 'workouts', 'steps'],
  44: ['sleep'],
  54: ['electrocardiogram'],
  46: ['body'],
}
/** The longest range that a notification, which is unsigned, may lead to. */
const NOTIFIED_MS_MAX = 7 * DAY_MS

/** The address of a team's notifications, with a secret: Withings signs nothing. */
const withSecret = (callback_url: string, verify_token: string) => withQuery(callback_url, { token: verify_token })

/** The range that a notification names: two instants, or a day; else the last day. */
function readRange(form: URLSearchParams, now_ms: number): { from_ms: number; to_ms: number } {
  const at = (name: string) => (/^\d{1,10}$/.test(form.get(name) ?? '') ? Number(form.get(name)) * 1000 : null)
  const date = /^\d{4}-\d\d-\d\d$/.test(form.get('date') ?? '') ? Date.parse(form.get('date')!) : null
  const [from, to] = [at('startdate') ?? date ?? now_ms - DAY_MS, at('enddate') ?? (date === null ? now_ms : date + DAY_MS)]
  const to_ms = Math.min(Math.max(from, to) + 1000, now_ms + DAY_MS)
  return { from_ms: Math.max(Math.min(from, to_ms), to_ms - NOTIFIED_MS_MAX), to_ms }
}

export const withings = {
  provider: 'withings',
  description: 'Scales, blood pressure monitors, watches and sleep monitors of Withings',
  resources,
  urls: {
    authorize: 'https://account.withings.com/oauth2_user/authorize2',
    token: 'https://wbsapi.withings.net/v2/oauth2',
    api: 'https://wbsapi.withings.net',
  },
  scopes: ['user.metrics', 'user.activity', 'user.sleepevents'],
  scopesByResource: Object.fromEntries(Object.entries(ofScope).flatMap(([scope, of]) => of.map((resource) => [resource, scope]))),
  comesWith: {
    ...Object.fromEntries(measures.slice(1).map((resource) => [resource, 'body'])),
    ...Object.fromEntries(intraday.slice(1).map((resource) => [resource, 'steps'])),
    workout_stream: 'workouts',
    electrocardiogram_voltage: 'electrocardiogram',
    sleep_cycle: 'sleep',
    respiratory_rate: 'sleep',
  },
  subscribes: 'user',
  pkce: false,
  days_per_request: 30,
  limits: [{ requests: 120, window_ms: 60_000 }],

  authorizeUrl: consentPage(false, (scopes) => ({ scope: scopes.join() })),

  exchange: (http, app, { code, redirect_uri, now_ms }) =>
    fetchTokens(http, app, { grant_type: 'authorization_code', code, redirect_uri }, now_ms),

  refresh: refreshBy(fetchTokens),

  revoke,

  pull: pullEach('Withings', pullByResource),

  receive(_app, { method, query, body, verify_token, now_ms }) {
    if (!isSameText(query.token, verify_token)) return { outcome: 'refused' }
    // Withings probes the address with GET or HEAD.
    if (method !== 'POST') return { outcome: 'unsigned', answer: { status: 200, body: {} }, changes: [] }
    const form = new URLSearchParams(decodeUtf8(body))
    const external_user_id = form.get('userid') ?? ''
    if (!/^\d{1,20}$/.test(external_user_id)) return { outcome: 'refused', answer: { status: 400, body: {} } }
    const about = ofCategory[readNumber(Number(form.get('appli'))) ?? 0] ?? []
    const range = readRange(form, now_ms)
    return { outcome: 'unsigned', changes: about.map((resource): Change => ({ external_user_id, resource, ...range })) }
  },

  async subscribe(http, { urls }, { callback_url, verify_token, access_token, now_ms }) {
    if (access_token === null) throw new VendorError('unexpected')
    const callbackurl = withSecret(callback_url, verify_token)
    const { profiles } = await ask(http, `${urls.api}/notify`, access_token, 'list', {})
    const there = new Set(
      readList(profiles).flatMap((profile) => (profile.callbackurl === callbackurl ? [readNumber(profile.appli)] : [])),
    )
    for (const appli of Object.keys(ofCategory))
      if (!there.has(Number(appli))) await ask(http, `${urls.api}/notify`, access_token, 'subscribe', { callbackurl, appli })
    // Withings drops what it could not deliver for long.
    return { renew_at_ms: now_ms + 7 * DAY_MS }
  },
} satisfies Connector
