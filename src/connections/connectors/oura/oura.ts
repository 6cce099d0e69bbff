// Oura, API version 2. Rotating refresh tokens, documents by day, subscriptions of the application for each kind of document, signed notices
// that name a document which may not be readable yet.
import { createHmac } from 'node:crypto'
import type { Resource } from '../../../wearables/resources/resources.ts'
import { StreamPoints } from '../../../wearables/streams/stream-points.ts'
import type { IncomingStream } from '../../../wearables/streams/workout-streams.ts'
import { dayOf } from '../answers.ts'
import {
  type Access,
  type Change,
  type Connector,
  type InboundNotification,
  type PullRequest,
  type VendorApp,
  pullEach,
  type Pull,
} from '../connector.ts'
import { isTimely, readIds, readNotice, signedAt, toDeletedId } from '../notices.ts'
import { instantOfText, readList, readNumber, objectOrEmpty, parseJson, refusalOf, readText, type Values } from '../reading.ts'
import { SampleBatches, knownZone, toSleepCycle, sleepOf, workoutOf, type WorkoutRecord } from '../vendor-records.ts'
import { askForTokens, consentPage, ifGranted, isSameText, refreshBy, refreshIfExpired, withQuery } from '../tokens.ts'
import { Notes } from './notes.ts'
import * as records from './oura-records.ts'
import { fetchDocument, documents, getPath } from './oura-requests.ts'
import { DAY_MS } from '../../../platform/runtime/durations.ts'

const scopesByResource = {
  activity: 'daily',
  sleep: 'daily',
  sleep_cycle: 'daily',
  hrv: 'daily',
  body_temperature_delta: 'daily',
  workouts: 'workout',
  workout_stream: 'workout',
  workout_duration: 'workout',
  profile: 'personal',
  body: 'personal',
  note: 'tag',
  heartrate: 'heartrate',
  blood_oxygen: 'spo2',
  vo2_max: 'heart_health',
} as const satisfies Partial<Record<Resource, string>>

/** The days of a range. The last day is left out of answers for some kinds of documents, so one more is asked for. */
const dayBounds = ({ from_ms, to_ms }: PullRequest) => ({ start_date: dayOf(from_ms), end_date: dayOf(to_ms + DAY_MS - 1) })

/** The records that a notification names, or those of the range. */
async function* fetchPages(access: Access, path: string, request: PullRequest): AsyncGenerator<Values[]> {
  if (!request.ids) return yield* documents(access, path, dayBounds(request))
  for (const id of readIds(request).otherIds) yield [await fetchDocument(access, path, id)]
}

const pullActivity: Pull = async function* (access, request) {
  for await (const page of documents(access, 'daily_activity', dayBounds(request))) {
    const found = page.flatMap((record) => records.toActivity(record) ?? [])
    if (found.length) yield { kind: 'activity', records: found }
  }
}

/** The scores of nights, by Oura's day. */
async function fetchScores(access: Access, request: PullRequest): Promise<Map<string, number | null>> {
  const scores = new Map<string, number | null>()
  for await (const page of documents(access, 'daily_sleep', dayBounds(request)))
    for (const { day: of, score } of page) if (typeof of === 'string') scores.set(of, readNumber(score))
  return scores
}

const pullSleep: Pull = async function* (access, request) {
  const { deletedIds: deleted_keys, otherIds } = readIds(request)
  if (deleted_keys.length) yield { kind: 'sleep', deleted_keys }
  if (deleted_keys.length && !otherIds.length) return
  const scores = await fetchScores(access, request)
  for await (const page of fetchPages(access, 'sleep', request)) {
    const gone = page.filter(records.isNoSleep).flatMap(({ id }) => readText(id) ?? [])
    if (gone.length) yield { kind: 'sleep', deleted_keys: gone }
    const slept = page.filter((record) => !records.isNoSleep(record))
    const nights = slept.flatMap((record) => records.toNight(record, scores.get(readText(record.day) ?? '') ?? null) ?? [])
    if (nights.length) yield { kind: 'sleep', records: nights.map(sleepOf) }
    const cycles = nights.flatMap((night) => toSleepCycle(night, night.stages) ?? [])
    if (cycles.length) yield { kind: 'sleep_cycle', records: cycles }
    const batches = new SampleBatches()
    for (const one of slept) {
      records.addVariability(batches, one)
      records.addTemperatureDelta(batches, one)
    }
    yield* batches.take()
  }
}

/** The stream of a workout: the heart rates while it lasted. A user may have allowed workouts without them. */
async function fetchHeartRates(access: Access, { key, start_ms, end_ms }: WorkoutRecord): Promise<IncomingStream | undefined> {
  const points = new StreamPoints()
  const range = { start_datetime: new Date(start_ms).toISOString(), end_datetime: new Date(end_ms + 1000).toISOString() }
  const add = async () => {
    for await (const page of documents(access, 'heartrate', range))
      for (const { timestamp, bpm } of page) points.put('heartrate', instantOfText(timestamp) ?? NaN, readNumber(bpm))
  }
  await ifGranted(add())
  return points.stream(key)
}

const pullWorkouts: Pull = async function* (access, request) {
  const { deletedIds: deleted_keys } = readIds(request)
  if (deleted_keys.length) yield { kind: 'workouts', deleted_keys }
  for await (const page of fetchPages(access, 'workout', request)) {
    const batches = new SampleBatches()
    const found = page.flatMap((record) => {
      const workout = records.toWorkout(record)
      if (workout) records.addDuration(batches, workout, record)
      return workout ?? []
    })
    if (found.length) yield { kind: 'workouts', records: found.map(workoutOf) }
    yield* batches.take()
    for (const workout of found) {
      const stream = await fetchHeartRates(access, workout)
      if (stream) yield { streams: [stream] }
    }
  }
}

const samples = (
  path: string,
  bounds: (request: PullRequest) => Record<string, string>,
  add: (batches: SampleBatches, record: Values, zone: string | null) => void,
): Pull =>
  async function* (access, request) {
    const zone = knownZone(request.time_zone)
    for await (const page of documents(access, path, bounds(request))) {
      const batches = new SampleBatches()
      for (const one of page) add(batches, one, zone)
      yield* batches.take()
    }
  }

const instants = ({ from_ms, to_ms }: PullRequest) => ({
  start_datetime: new Date(from_ms).toISOString(),
  end_datetime: new Date(to_ms).toISOString(),
})

const pullProfile: Pull = async function* (access) {
  const sent = await getPath(access, 'personal_info')
  yield { kind: 'profile', records: [records.toProfile(sent)] }
  const body = records.toBody(sent)
  if (body) yield { kind: 'body', records: [body] }
}

const pullNotes: Pull = async function* (access, request) {
  const [zone, notes, batches] = [knownZone(request.time_zone), new Notes(), new SampleBatches()]
  for await (const page of documents(access, 'enhanced_tag', dayBounds(request))) for (const one of page) notes.add(one, zone)
  notes.addTo(batches)
  yield* batches.take()
}

const pullByResource: Partial<Record<Resource, Pull>> = {
  activity: pullActivity,
  sleep: pullSleep,
  sleep_cycle: pullSleep,
  hrv: pullSleep,
  body_temperature_delta: pullSleep,
  workouts: pullWorkouts,
  workout_stream: pullWorkouts,
  workout_duration: pullWorkouts,
  profile: pullProfile,
  body: pullProfile,
  note: pullNotes,
  heartrate: samples('heartrate', instants, records.addHeartRate),
  blood_oxygen: samples('daily_spo2', dayBounds, records.addOxygen),
  vo2_max: samples('vO2_max', dayBounds, records.addVo2Max),
}

/** The kinds of documents that notices name. Only records with an id of their own are asked for by it, and may be deleted. */
const notified: Readonly<Record<string, { resource: Resource; hasRecords: boolean }>> = {
  daily_activity: { resource: 'activity', hasRecords: false },
  sleep: { resource: 'sleep', hasRecords: true },
  daily_sleep: { resource: 'sleep', hasRecords: false },
  workout: { resource: 'workouts', hasRecords: true },
  daily_spo2: { resource: 'blood_oxygen', hasRecords: false },
  vo2_max: { resource: 'vo2_max', hasRecords: false },
  enhanced_tag: { resource: 'note', hasRecords: false },
}
/** What a notice may be late by. */
const LATE_MS = 2 * DAY_MS
/** A subscription that ends within this time is renewed. */
const RENEW_MS = 30 * DAY_MS

/** The signature is hexadecimal digits in upper case; the case of the digits says nothing, that of the secret does. */
function isSigned({ client_secret }: VendorApp, { headers, body, received_ms }: InboundNotification): boolean {
  const [signature = '', timestamp = ''] = [headers['x-oura-signature'], headers['x-oura-timestamp']]
  if (!client_secret || !isTimely(signedAt(timestamp), received_ms)) return false
  const expected = createHmac('sha256', client_secret).update(timestamp).update(body).digest('hex')
  return isSameText(signature.toLowerCase(), expected)
}

/** Whether the user has allowed it or not, a grant without the user's id gets no notices. */
const userId = async (access: Access): Promise<string | null> => readText((await ifGranted(getPath(access, 'personal_info')))?.id)

export const oura: Connector = {
  provider: 'oura',
  description: 'Rings of Oura',
  resources: Object.keys(scopesByResource) as Resource[],
  urls: {
    authorize: 'https://cloud.ouraring.com/oauth/authorize',
    token: 'https://api.ouraring.com/oauth/token',
    api: 'https://api.ouraring.com',
  },
  scopes: [...new Set(Object.values(scopesByResource))],
  scopesByResource,
  alsoUses: { workout_stream: ['heartrate'] },
  comesWith: {
    sleep_cycle: 'sleep',
    hrv: 'sleep',
    body_temperature_delta: 'sleep',
    workout_stream: 'workouts',
    workout_duration: 'workouts',
    body: 'profile',
  },
  pkce: true,
  days_per_request: 30,
  limits: [{ requests: 5000, window_ms: 300_000 }],

  authorizeUrl: consentPage(true),

  async exchange(http, app, { code, redirect_uri, code_verifier, now_ms }) {
    const form = { grant_type: 'authorization_code', code, redirect_uri, ...(code_verifier && { code_verifier }) }
    const grant = await askForTokens(http, app, form, now_ms)
    return { ...grant, external_user_id: await userId({ http, app, access_token: grant.access_token }) }
  },

  refresh: refreshBy(askForTokens),

  async revoke(http, app, grant, now_ms, keep) {
    const { access_token } = await refreshIfExpired(grant, now_ms, () => oura.refresh(http, app, grant, now_ms), keep)
    const answer = await http({ method: 'POST', url: withQuery(`${app.urls.api}/oauth/revoke`, { access_token }) })
    if (answer.status >= 300) throw refusalOf(answer)
  },

  pull: pullEach('Oura', pullByResource),

  receive(app, notification) {
    const { method, query, body, verify_token, now_ms } = notification
    if (method === 'GET') {
      if (!isSameText(query.verification_token, verify_token)) return { outcome: 'refused' }
      return { outcome: 'verified', answer: { status: 200, body: { challenge: query.challenge ?? '' } }, changes: [] }
    }
    if (!isSigned(app, notification)) return { outcome: 'refused' }
    const notice = readNotice(body)
    if (!notice) return { outcome: 'refused', answer: { status: 400, body: {} } }
    const [external_user_id, id, data_type] = [
      readText(notice.user_id),
      readText(notice.object_id),
      readText(notice.data_type) ?? '',
    ]
    const kind = Object.hasOwn(notified, data_type) ? notified[data_type] : undefined
    if (external_user_id === null || !kind) return { outcome: 'verified', changes: [] }
    // Nothing is recorded in the future, whatever a notice says.
    const at_ms = Math.min(instantOfText(notice.event_time) ?? now_ms, now_ms)
    const change: Change = { external_user_id, resource: kind.resource, from_ms: at_ms - LATE_MS, to_ms: at_ms + DAY_MS }
    const ids = kind.hasRecords && id !== null ? [notice.event_type === 'delete' ? toDeletedId(id) : id] : undefined
    return { outcome: 'verified', changes: [ids ? { ...change, ids } : change] }
  },

  async subscribe(http, { urls, client_id, client_secret }, { callback_url, verify_token, now_ms }) {
    const base = `${urls.api}/v2/webhook/subscription`
    const headers = { 'x-client-id': client_id, 'x-client-secret': client_secret, 'content-type': 'application/json' }
    const call = async (method: 'GET' | 'POST' | 'PUT', url: string, body?: object) => {
      const answer = await http({ method, url, headers, ...(body && { body: JSON.stringify(body) }) })
      if (answer.status >= 300) throw refusalOf(answer)
      return parseJson(answer.text)
    }
    const there = readList(await call('GET', base)).filter((subscription) => subscription.callback_url === callback_url)
    let renew_at_ms = Infinity
    for (const [data_type, { hasRecords }] of Object.entries(notified))
      for (const event_type of ['create', 'update', ...(hasRecords ? ['delete'] : [])]) {
        const known = there.find((subscription) => subscription.data_type === data_type && subscription.event_type === event_type)
        const ends_ms = instantOfText(known?.expiration_time)
        const isGood = ends_ms !== null && ends_ms > now_ms + RENEW_MS
        const now = isGood
          ? known
          : known
            ? await call('PUT', `${base}/renew/${encodeURIComponent(readText(known.id) ?? '')}`)
            : await call('POST', base, { callback_url, verification_token: verify_token, event_type, data_type })
        renew_at_ms = Math.min(renew_at_ms, instantOfText(objectOrEmpty(now).expiration_time) ?? now_ms + RENEW_MS)
      }
    return { renew_at_ms: Math.max(now_ms + DAY_MS, renew_at_ms - RENEW_MS) }
  },
}
