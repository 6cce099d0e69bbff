// WHOOP, API version 2. Refresh tokens that die when they are used, pages of 25 records, signed notices that hold ids alone.
import { retryAfterSeconds } from '../../../platform/net/retry-after.ts'
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Resource } from '../../../wearables/resources/resources.ts'
import { readFailure, type VendorAnswer } from '../answers.ts'
import {
  VendorError,
  type Access,
  type Change,
  type Connector,
  type InboundNotification,
  type PullRequest,
  type Pulled,
  type VendorApp,
  pullEach,
  type Pull,
} from '../connector.ts'
import { isTimely, readIds, readNotice, signedAt, toDeletedId } from '../notices.ts'
import { idOf, readList, objectIn, readText, type Values } from '../reading.ts'
import { SampleBatches, sleepOf, workoutOf, type Night } from '../vendor-records.ts'
import { askForTokens, bearer, consentPage, ifGranted, refreshTokenOf, refreshIfExpired, withQuery } from '../tokens.ts'
import * as records from './whoop-records.ts'
import { DAY_MS } from '../../../platform/runtime/durations.ts'

const scopesByResource = {
  activity: 'read:cycles',
  sleep: 'read:sleep',
  heartrate: 'read:sleep',
  workouts: 'read:workout',
  profile: 'read:body_measurement',
  body: 'read:body_measurement',
} as const satisfies Partial<Record<Resource, string>>

const PAGE = '25'
/** Pages of one request for a range. */
const PAGES_MAX = 200

/** WHOOP says when its limit ends in a header of its own, in seconds. */
function refusal(answer: VendorAnswer): VendorError {
  const reset_s = retryAfterSeconds(answer.headers.get('x-ratelimit-reset'), 0)
  const failure = readFailure(answer, Date.parse(answer.headers.get('date') ?? '')) ?? new VendorError('unexpected')
  return failure.failure === 'rate_limited' && failure.retry_after_ms === null && reset_s !== undefined
    ? new VendorError('rate_limited', reset_s * 1000)
    : failure
}

async function getPath(
  { http, app, access_token }: Access,
  path: string,
  query: Record<string, string> = {},
): Promise<VendorAnswer> {
  const answer = await http({ method: 'GET', url: withQuery(app.urls.api + path, query), headers: bearer(access_token) })
  if (answer.status !== 200 && answer.status !== 404) throw refusal(answer)
  return answer
}

/** One record; undefined if there is none. */
async function record(access: Access, path: string): Promise<Values | undefined> {
  const answer = await getPath(access, path)
  return answer.status === 404 ? undefined : objectIn(answer.text)
}

/** A record that a notification named. Errors: VendorError `not_ready` while it cannot be read. */
async function fetchRecord(access: Access, path: string): Promise<Values> {
  const found = await record(access, path)
  if (!found) throw new VendorError('not_ready')
  return found
}

async function* fetchPages(access: Access, path: string, { from_ms, to_ms }: PullRequest): AsyncGenerator<Values[]> {
  const range = { limit: PAGE, start: new Date(from_ms).toISOString(), end: new Date(to_ms).toISOString() }
  let next: string | null = null
  for (let page = 0; page < PAGES_MAX; page++) {
    const answer = await getPath(access, path, next === null ? range : { ...range, nextToken: next })
    if (answer.status === 404) throw new VendorError('unexpected')
    const body = objectIn(answer.text)
    yield readList(body.records)
    next = readText(body.next_token)
    if (next === null) return
  }
  throw new VendorError('unexpected')
}

/** The recoveries of nights, by the id of the night. A user may have allowed nights alone. */
async function fetchRecoveries(access: Access, request: PullRequest): Promise<Map<string, Values>> {
  const found = new Map<string, Values>()
  const add = async () => {
    for await (const page of fetchPages(access, '/v2/recovery', request))
      for (const one of page) found.set(idOf(one.sleep_id) ?? '', one)
  }
  await ifGranted(add())
  return found
}

/** What was recorded in a night; undefined for an application that WHOOP does not give it to. */
const fetchStream = (access: Access, { key }: Night): Promise<Values | undefined> =>
  ifGranted(record(access, `/v2/activity/sleep/${encodeURIComponent(key)}/stream?types=hr`))

/** Nights, and the heart rates in each: WHOOP gives no others. */
async function* withHeartRates(access: Access, nights: Night[]): AsyncGenerator<Pulled> {
  yield { kind: 'sleep', records: nights.map(sleepOf) }
  for (const night of nights) {
    const sent = await fetchStream(access, night)
    const batches = new SampleBatches()
    records.addHeartRates(batches, sent ?? {}, night)
    yield* batches.take()
  }
}

const pullSleep: Pull = async function* (access, request) {
  const { deletedIds: deleted_keys, otherIds } = readIds(request)
  if (deleted_keys.length) yield { kind: 'sleep', deleted_keys }
  if (request.ids) {
    for (const id of otherIds) {
      const sent = await fetchRecord(access, `/v2/activity/sleep/${encodeURIComponent(id)}`)
      const cycle = idOf(sent.cycle_id)
      const recovery = cycle === null ? undefined : await record(access, `/v2/cycle/${encodeURIComponent(cycle)}/recovery`)
      const night = records.toNight(sent, recovery?.sleep_id === sent.id ? recovery : undefined)
      if (night) yield* withHeartRates(access, [night])
    }
    return
  }
  const recoveries = await fetchRecoveries(access, request)
  for await (const page of fetchPages(access, '/v2/activity/sleep', request)) {
    const nights = page.flatMap((record) => records.toNight(record, recoveries.get(idOf(record.id) ?? '')) ?? [])
    if (nights.length) yield* withHeartRates(access, nights)
  }
}

const pullWorkouts: Pull = async function* (access, request) {
  const { deletedIds: deleted_keys, otherIds } = readIds(request)
  if (deleted_keys.length) yield { kind: 'workouts', deleted_keys }
  const workouts = (items: Values[]): Pulled => ({
    kind: 'workouts',
    records: items.flatMap((item) => records.toWorkout(item) ?? []).map(workoutOf),
  })
  if (!request.ids) for await (const page of fetchPages(access, '/v2/activity/workout', request)) yield workouts(page)
  for (const id of otherIds) yield workouts([await fetchRecord(access, `/v2/activity/workout/${encodeURIComponent(id)}`)])
}

const pullActivity: Pull = async function* (access, request) {
  for await (const page of fetchPages(access, '/v2/cycle', request))
    yield { kind: 'activity', records: page.flatMap((record) => records.toActivity(record) ?? []) }
}

const pullProfile: Pull = async function* (access) {
  const sent = await record(access, '/v2/user/measurement/body')
  if (!sent) return
  yield { kind: 'profile', records: [records.toProfile(sent)] }
  const body = records.toBody(sent)
  if (body) yield { kind: 'body', records: [body] }
}

const pullByResource: Partial<Record<Resource, Pull>> = {
  activity: pullActivity,
  sleep: pullSleep,
  heartrate: pullSleep,
  workouts: pullWorkouts,
  profile: pullProfile,
  body: pullProfile,
}

/** What notices are about. The recovery of a night has the id of the night. */
const notified: Readonly<Record<string, Resource>> = { sleep: 'sleep', recovery: 'sleep', workout: 'workouts' }
/** Notices hold no time: if a record stays unreadable, these last days are asked for. */
const LATE_MS = 3 * DAY_MS

function isSigned({ client_secret }: VendorApp, { headers, body, received_ms }: InboundNotification): boolean {
  const [signature = '', timestamp = ''] = [headers['x-whoop-signature'], headers['x-whoop-signature-timestamp']]
  if (!client_secret || !isTimely(signedAt(timestamp), received_ms)) return false
  const expected = createHmac('sha256', client_secret).update(timestamp).update(body).digest()
  const given = Buffer.from(signature, 'base64')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

export const whoop: Connector = {
  provider: 'whoop_v2',
  description: 'Straps of WHOOP',
  resources: Object.keys(scopesByResource) as Resource[],
  urls: {
    authorize: 'https://api.prod.whoop.com/oauth/oauth2/auth',
    token: 'https://api.prod.whoop.com/oauth/oauth2/token',
    api: 'https://api.prod.whoop.com/developer',
  },
  scopes: ['offline', 'read:profile', 'read:recovery', ...new Set(Object.values(scopesByResource))],
  scopesByResource,
  alsoUses: { sleep: ['read:recovery'] },
  comesWith: { heartrate: 'sleep', body: 'profile' },
  pkce: false,
  days_per_request: 30,
  limits: [
    { requests: 100, window_ms: 60_000 },
    { requests: 10_000, window_ms: DAY_MS },
  ],

  authorizeUrl: consentPage(false),

  async exchange(http, app, { code, redirect_uri, now_ms }) {
    const grant = await askForTokens(http, app, { grant_type: 'authorization_code', code, redirect_uri }, now_ms)
    const profile = await record({ http, app, access_token: grant.access_token }, '/v2/user/profile/basic')
    return { ...grant, external_user_id: idOf(profile?.user_id) }
  },

  refresh: async (http, app, grant, now_ms) => {
    const form = { grant_type: 'refresh_token', refresh_token: refreshTokenOf(grant), scope: 'offline' }
    const next = await askForTokens(http, app, form, now_ms, grant)
    // The answer may name only the scope that was asked for.
    return { ...next, scopes: grant.scopes }
  },

  async revoke(http, app, grant, now_ms, keep) {
    const { access_token } = await refreshIfExpired(grant, now_ms, () => whoop.refresh(http, app, grant, now_ms), keep)
    const answer = await http({ method: 'DELETE', url: `${app.urls.api}/v2/user/access`, headers: bearer(access_token) })
    if (answer.status >= 300) throw refusal(answer)
  },

  pull: pullEach('WHOOP', pullByResource),

  receive(app, notification) {
    const { method, body, now_ms } = notification
    if (method !== 'POST' || !isSigned(app, notification)) return { outcome: 'refused' }
    const notice = readNotice(body)
    if (!notice) return { outcome: 'refused', answer: { status: 400, body: {} } }
    const [kind = '', event = ''] = (readText(notice.type) ?? '').split('.')
    const [external_user_id, id] = [idOf(notice.user_id), idOf(notice.id)]
    const resource = Object.hasOwn(notified, kind) ? notified[kind] : undefined
    if (external_user_id === null || id === null || !resource) return { outcome: 'verified', changes: [] }
    // Without its recovery a night is still a night.
    const isDeleted = event === 'deleted' && kind !== 'recovery'
    const change: Change = { external_user_id, resource, from_ms: now_ms - LATE_MS, to_ms: now_ms + DAY_MS }
    return { outcome: 'verified', changes: [{ ...change, ids: [isDeleted ? toDeletedId(id) : id] }] }
  },
}
