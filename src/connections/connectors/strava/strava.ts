// Strava. Refresh tokens may rotate at any refresh, one subscription for each application, notifications that may come without a signature.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readGrant, type VendorAnswer } from '../answers.ts'
import {
  VendorError,
  type Connector,
  type InboundNotification,
  type InboundOutcome,
  type PullRequest,
  type Pulled,
  type VendorApp,
  type VendorHttp,
} from '../connector.ts'
import {
  idOf,
  instantOfSeconds,
  readList,
  listIn,
  readNumber,
  objectIn,
  objectOrEmpty,
  refusalOf,
  readText,
  type Values,
} from '../reading.ts'
import { readNotice } from '../notices.ts'
import {
  bearer,
  consentPage,
  isSameText,
  postTokens,
  refreshBy,
  refreshIfExpired,
  withQuery,
  type FetchTokens,
} from '../tokens.ts'
import { activityOf, profileOf } from './activities.ts'
import { streamKeys, toStream } from './strava-streams.ts'
import { DAY_MS } from '../../../platform/runtime/durations.ts'

const QUARTER_MS = 900_000

/** Until when nothing may be asked: limits are counted from each quarter of an hour, and from midnight in UTC. */
function limitedFor(headers: Headers): number | null {
  const at_ms = Date.parse(headers.get('date') ?? '')
  if (!Number.isFinite(at_ms)) return QUARTER_MS
  const isOverDay = ['x-ratelimit', 'x-readratelimit'].some((name) => {
    const [, used] = (headers.get(`${name}-usage`) ?? '').split(',').map(Number)
    const [, allowed] = (headers.get(`${name}-limit`) ?? '').split(',').map(Number)
    return used !== undefined && allowed !== undefined && used >= allowed
  })
  const window_ms = isOverDay ? DAY_MS : QUARTER_MS
  return window_ms - (at_ms % window_ms)
}

/** The faults that an answer lists, as `AccessToken.activity:read_permission missing`. */
function faultsIn(answer: VendorAnswer): string[] {
  try {
    return readList(objectIn(answer.text).errors).map(({ resource, field, code }) => `${resource}.${field} ${code}`)
  } catch {
    return []
  }
}

function failureOf(answer: VendorAnswer): VendorError {
  if (answer.status === 429) return new VendorError('rate_limited', limitedFor(answer.headers))
  if (answer.status === 401 && faultsIn(answer).some((fault) => fault.endsWith('_permission missing')))
    return new VendorError('scope_missing')
  return refusalOf(answer)
}

const fetchTokens: FetchTokens = async (http, app, form, now_ms, previousGrant) => {
  const answer = await postTokens(http, app, form)
  if (answer.status === 400 || answer.status === 401) {
    const hasEnded = faultsIn(answer).some((fault) => /^(RefreshToken|AuthorizationCode)\.\w+ (invalid|expired)$/.test(fault))
    throw new VendorError(hasEnded ? 'invalid_grant' : 'unexpected')
  }
  if (answer.status !== 200) throw failureOf(answer)
  const grant = readGrant(answer, now_ms, previousGrant)
  return { ...grant, external_user_id: idOf(objectOrEmpty(objectIn(answer.text).athlete).id) ?? grant.external_user_id }
}

async function getUrl(http: VendorHttp, url: string, access_token: string): Promise<VendorAnswer> {
  return http({ method: 'GET', url, headers: bearer(access_token) })
}

const athlete = async (http: VendorHttp, { urls }: VendorApp, access_token: string): Promise<Values> => {
  const answer = await getUrl(http, `${urls.api}/athlete`, access_token)
  if (answer.status !== 200) throw failureOf(answer)
  return objectIn(answer.text)
}

/** Reads all fields of an activity. Undefined if it was deleted or never belonged to the user. */
async function activity(http: VendorHttp, { urls }: VendorApp, access_token: string, id: string): Promise<Values | undefined> {
  const answer = await getUrl(http, `${urls.api}/activities/${id}`, access_token)
  if (answer.status === 404) return undefined
  if (answer.status !== 200) throw failureOf(answer)
  return objectIn(answer.text)
}

/** An activity and its stream. A manually entered activity has none, and Strava answers a private one as missing. */
async function* fetchActivityParts(
  http: VendorHttp,
  app: VendorApp,
  access_token: string,
  activity: Values,
): AsyncGenerator<Pulled> {
  const record = activityOf(activity)
  if (!record) return
  yield { kind: 'workouts', records: [record] }
  if (activity.manual === true) return
  const query = { keys: streamKeys, key_by_type: 'true' }
  const answer = await getUrl(http, withQuery(`${app.urls.api}/activities/${record.key}/streams`, query), access_token)
  if (answer.status === 404) return
  if (answer.status !== 200) throw failureOf(answer)
  const stream = toStream(activity, objectIn(answer.text))
  if (stream) yield { streams: [stream] }
}

const PER_PAGE = 200
const PAGES_MAX = 1000

/** The ids of the activities that start within a range. A page may be shorter than asked for: only an empty one is the last. */
async function* listActivities(http: VendorHttp, { urls }: VendorApp, access_token: string, { from_ms, to_ms }: PullRequest) {
  const bounds = { after: String(Math.floor(from_ms / 1000) - 1), before: String(Math.ceil(to_ms / 1000)) }
  for (let page = 1; page <= PAGES_MAX; page++) {
    const query = { ...bounds, page: String(page), per_page: String(PER_PAGE) }
    const answer = await getUrl(http, withQuery(`${urls.api}/athlete/activities`, query), access_token)
    if (answer.status !== 200) throw failureOf(answer)
    const activities = listIn(answer.text)
    if (!activities.length) return
    for (const { id } of activities) if (idOf(id) !== null) yield idOf(id)!
  }
  throw new VendorError('unexpected')
}

async function* pullWorkouts(http: VendorHttp, app: VendorApp, token: string, request: PullRequest): AsyncGenerator<Pulled> {
  if (request.ids) return yield* pullNamed(http, app, token, request.ids)
  for await (const id of listActivities(http, app, token, request)) {
    // A list says no calories.
    yield* fetchActivityParts(http, app, token, (await activity(http, app, token, id)) ?? {})
  }
}

/** The notification that named them may be unsigned: public activities of other athletes are omitted. */
async function* pullNamed(http: VendorHttp, app: VendorApp, token: string, ids: string[]): AsyncGenerator<Pulled> {
  const own = idOf((await athlete(http, app, token)).id)
  for (const id of ids) {
    if (!/^\d{1,19}$/.test(id)) continue
    const sent = await activity(http, app, token, id)
    if (!sent) yield { kind: 'workouts', deleted_keys: [id] }
    if (!sent || own === null || idOf(objectOrEmpty(sent.athlete).id) !== own) continue
    yield* fetchActivityParts(http, app, token, sent)
  }
}

async function* pullProfile(http: VendorHttp, app: VendorApp, access_token: string): AsyncGenerator<Pulled> {
  yield { kind: 'profile', records: [profileOf(await athlete(http, app, access_token))] }
}

/** How old a signature may be. */
const SIGNED_MS_MAX = 300_000

/** Undefined: there is no signature. */
function isSigned({ client_secret }: VendorApp, { headers, body, received_ms }: InboundNotification): boolean | undefined {
  const given = headers['x-strava-signature']
  if (given === undefined) return undefined
  const [, second, signature] = /^t=(\d{1,12}),\s?v1=([0-9a-f]{64})$/i.exec(given) ?? []
  if (!second || !signature || !client_secret || Math.abs(Number(second) * 1000 - received_ms) > SIGNED_MS_MAX) return false
  const expected = createHmac('sha256', client_secret).update(`${second}.`).update(body).digest()
  return timingSafeEqual(Buffer.from(signature, 'hex'), expected)
}

function receiveEvent(app: VendorApp, notification: InboundNotification): InboundOutcome {
  const { method, query, verify_token, body, now_ms } = notification
  if (method === 'GET') {
    const isOurs = query['hub.mode'] === 'subscribe' && isSameText(query['hub.verify_token'], verify_token)
    const challenge = readText(query['hub.challenge'])
    if (!isOurs || challenge === null) return { outcome: 'refused', answer: { status: 403, body: {} } }
    return { outcome: 'verified', answer: { status: 200, body: { 'hub.challenge': challenge } }, changes: [] }
  }
  // The address has a secret, since most notifications have no signature.
  const signed = isSigned(app, notification)
  if (signed === false || !isSameText(query.token, verify_token)) return { outcome: 'refused' }
  const outcome = signed ? 'verified' : 'unsigned'
  const event = readNotice(body)
  if (!event) return { outcome: 'refused', answer: { status: 400, body: {} } }
  const [external_user_id, object_id] = [idOf(event.owner_id), idOf(event.object_id)]
  if (external_user_id === null || object_id === null) return { outcome: 'refused', answer: { status: 400, body: {} } }
  // No activity is in the future, whatever an event says.
  const at_ms = Math.min(instantOfSeconds(readNumber(event.event_time)) ?? now_ms, now_ms)
  const range = { from_ms: at_ms - DAY_MS, to_ms: at_ms + DAY_MS }
  if (event.object_type === 'activity')
    return { outcome, changes: [{ external_user_id, resource: 'workouts', ...range, ids: [object_id] }] }
  const hasEnded = [false, 'false'].includes(objectOrEmpty(event.updates).authorized as boolean | string)
  // What is not signed ends nothing: the pull finds out whether the grant has ended.
  if (hasEnded && signed) return { outcome, changes: [], revoked_accounts: [external_user_id] }
  return { outcome, changes: [{ external_user_id, resource: 'profile', ...range }] }
}

export const strava = {
  provider: 'strava',
  description: 'Workouts that athletes record or collect at Strava',
  resources: ['workouts', 'workout_stream', 'profile'],
  urls: {
    authorize: 'https://www.strava.com/oauth/authorize',
    token: 'https://www.strava.com/oauth/token',
    api: 'https://www.strava.com/api/v3',
  },
  scopes: ['read', 'activity:read', 'activity:read_all'],
  scopesByResource: { workouts: 'activity:read', workout_stream: 'activity:read', profile: 'read' },
  // Activities that only the athlete may see.
  alsoUses: { workouts: ['activity:read_all'], workout_stream: ['activity:read_all'] },
  comesWith: { workout_stream: 'workouts' },
  pkce: false,
  // Two requests for each activity, within the limit of a quarter of an hour.
  days_per_request: 7,
  limits: [
    { requests: 200, window_ms: QUARTER_MS },
    { requests: 2000, window_ms: DAY_MS },
  ],

  authorizeUrl: consentPage(false, (scopes) => ({ approval_prompt: 'auto', scope: scopes.join() })),

  exchange: (http, app, { code, now_ms }) => fetchTokens(http, app, { grant_type: 'authorization_code', code }, now_ms),

  refresh: refreshBy(fetchTokens),

  /** An access token lives for six hours, and an expired one ends nothing: such a grant is refreshed first. */
  async revoke(http, app, grant, now_ms, keep?): Promise<void> {
    const { access_token } = await refreshIfExpired(grant, now_ms, () => strava.refresh(http, app, grant, now_ms), keep)
    const url = app.urls.token.replace(/\/token$/, '/deauthorize')
    const answer = await http({ method: 'POST', url, headers: bearer(access_token), body: { access_token } })
    if (answer.status !== 200) throw failureOf(answer)
  },

  pull(http, app, access_token, request) {
    return request.resource === 'profile' ? pullProfile(http, app, access_token) : pullWorkouts(http, app, access_token, request)
  },

  receive: receiveEvent,

  /** An application has one subscription: one to another address is replaced. */
  async subscribe(http, { client_id, client_secret, urls }, { callback_url, verify_token, now_ms }) {
    const address = `${urls.api}/push_subscriptions`
    const callback = withQuery(callback_url, { token: verify_token })
    const known = await http({ method: 'GET', url: withQuery(address, { client_id, client_secret }) })
    if (known.status !== 200) throw failureOf(known)
    const subscriptions = listIn(known.text)
    const renewed = { renew_at_ms: now_ms + 7 * DAY_MS }
    if (subscriptions.some(({ callback_url: to }) => to === callback)) return renewed
    for (const id of subscriptions.flatMap((subscription) => idOf(subscription.id) ?? [])) {
      const url = withQuery(`${address}/${encodeURIComponent(id)}`, { client_id, client_secret })
      const ended = await http({ method: 'DELETE', url })
      if (ended.status !== 204 && ended.status !== 404) throw failureOf(ended)
    }
    const body = { client_id, client_secret, callback_url: callback, verify_token }
    const made = await http({ method: 'POST', url: address, body })
    if (made.status !== 201 && made.status !== 200) throw failureOf(made)
    return renewed
  },
} satisfies Connector
