// Polar AccessLink, Dynamic API v4. Basic authentication of the application, limits that are counted upwards, one day per request where data
// beside dates is wanted, and the webhooks of version 3.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { DAY_MS, dayOf, grantOf, type VendorAnswer } from '../answers.ts'
import { VendorError, type Connector, type Grant, type InboundNotification, type InboundOutcome } from '../connector.ts'
import type { PullRequest, Pulled, VendorApp, VendorHttp } from '../connector.ts'
import { day, idOf, instantOfText, objectIn, refusalOf, text, type Values } from '../reading.ts'
import { knownZone, SampleBatches } from '../records.ts'
import { basic, bearer, refreshTokenOf, withQuery } from '../tokens.ts'
import { addHeartRates, addSteps, listed, nightsIn, sessionOf } from './records.ts'

const QUARTER_MS = 900_000

/** Until when nothing may be asked: the numbers in the headers are of a quarter of an hour and of a day, and grow up to the limit. */
function limitedFor({ headers }: VendorAnswer): number {
  const numbers = (name: string) => (headers.get(`ratelimit-${name}`) ?? '').split(',').map((part) => Number.parseInt(part, 10))
  const [usage, limit, reset] = [numbers('usage'), numbers('limit'), numbers('reset')]
  const waits = reset.filter((seconds, i) => seconds >= 0 && usage[i]! >= limit[i]!)
  return waits.length ? Math.min(DAY_MS, Math.max(...waits) * 1000) : QUARTER_MS
}

interface Access {
  http: VendorHttp
  app: VendorApp
  access_token: string
}

/** Errors: VendorError. Where there is nothing, Polar may answer 404. */
async function read({ http, app, access_token }: Access, path: string, query: [name: string, value: string][]): Promise<Values> {
  const parameters = query.length ? `?${new URLSearchParams(query)}` : ''
  const answer = await http({ method: 'GET', url: `${app.urls.api}/${path}${parameters}`, headers: bearer(access_token) })
  if (answer.status === 404 || answer.status === 204) return {}
  if (answer.status === 429) throw new VendorError('rate_limited', limitedFor(answer))
  if (answer.status !== 200) throw refusalOf(answer)
  return objectIn(answer.text)
}

const ranged = (from: string, to: string, ...features: string[]): [string, string][] => [
  ['from', from],
  ['to', to],
  ...features.map((feature): [string, string] => ['features', feature]),
]

/** The local days that a range touches anywhere on earth. */
function daysOf({ from_ms, to_ms }: PullRequest): string[] {
  const days: string[] = []
  const last = dayOf(to_ms - 1 + 14 * 3_600_000)
  for (let at = Date.parse(dayOf(from_ms - 12 * 3_600_000)); dayOf(at) <= last; at += DAY_MS) days.push(dayOf(at))
  return days
}
const dayAfter = (date: string): string => dayOf(Date.parse(date) + DAY_MS)

/** A range without features is answered with dates alone; with them, one day may be asked for at once. */
async function* pullActivity(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  const zone = knownZone(request.time_zone)
  for (const date of daysOf(request)) {
    const batches = new SampleBatches()
    const sent = await read(access, 'activity/list', ranged(date, dayAfter(date), 'samples'))
    const records = addSteps(batches, sent, zone)
    if (records.length) yield { kind: 'activity', records }
    yield* batches.take()
  }
}

async function* pullSleep(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  for (const date of daysOf(request)) {
    const next = dayAfter(date)
    const sent = await read(access, 'sleeps', ranged(date, next, 'sleep-result', 'sleep-evaluation', 'sleep-score'))
    if (!listed(sent, 'nightSleeps').length) continue
    const records = nightsIn(sent, await recovery(access, date))
    if (records.length) yield { kind: 'sleep', records }
  }
}

/** What a user did not grant is not known of the night. */
async function recovery(access: Access, date: string): Promise<Values> {
  try {
    return await read(access, 'nightly-recharge-results', ranged(date, dayAfter(date), 'samples'))
  } catch (error) {
    if (error instanceof VendorError && error.failure === 'scope_missing') return {}
    throw error
  }
}

async function* pullHeartRates(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  const zone = knownZone(request.time_zone)
  for (const date of daysOf(request)) {
    const batches = new SampleBatches()
    addHeartRates(batches, await read(access, 'continuous-samples', ranged(date, dayAfter(date), 'heart-rate-samples')), zone)
    yield* batches.take()
  }
}

/** Local times without an offset; the base of a session comes without features, for many days at once. */
async function* pullWorkouts(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  const days = daysOf(request)
  const [from, to] = [`${days[0]}T00:00:00`, `${dayAfter(days.at(-1)!)}T00:00:00`]
  const zone = knownZone(request.time_zone)
  const sent = await read(access, 'training-sessions/list', ranged(from, to))
  const records = listed(sent, 'trainingSessions').flatMap((session) => sessionOf(session, zone) ?? [])
  if (records.length) yield { kind: 'workouts', records }
}

const pulls = { activity: pullActivity, steps: pullActivity, sleep: pullSleep, heartrate: pullHeartRates, workouts: pullWorkouts }
type PolarResource = keyof typeof pulls

async function askForTokens(http: VendorHttp, app: VendorApp, form: Record<string, string>, now_ms: number, before?: Grant) {
  return grantOf(await http({ method: 'POST', url: app.urls.token, headers: basic(app), body: form }), now_ms, before)
}

const ofEvent: Readonly<Record<string, PolarResource>> = {
  EXERCISE: 'workouts',
  SLEEP: 'sleep',
  ACTIVITY_SUMMARY: 'activity',
  CONTINUOUS_HEART_RATE: 'heartrate',
}

/** Undefined: there is no signature. */
function isSigned(details: VendorApp['details'], { headers, body }: InboundNotification): boolean | undefined {
  const given = headers['polar-webhook-signature']
  if (given === undefined) return undefined
  const secret = details?.webhook_secret
  if (typeof secret !== 'string' || secret === '' || !/^[0-9a-f]{64}$/i.test(given)) return false
  return timingSafeEqual(Buffer.from(given, 'hex'), createHmac('sha256', secret).update(body).digest())
}

/**
 * A PING comes before the key that signs is known: it is answered, and leads to nothing. Everything else must be signed.
 */
function receive({ details }: VendorApp, request: InboundNotification): InboundOutcome {
  const signed = isSigned(details, request)
  let event: Values
  try {
    event = objectIn(request.body.toString('utf8'))
  } catch {
    return { outcome: 'refused' }
  }
  const isPing = event.event === 'PING'
  if (isPing && (signed === undefined || signed)) return { outcome: signed ? 'verified' : 'unsigned', changes: [] }
  if (!signed) return { outcome: 'refused' }
  const resource = Object.hasOwn(ofEvent, text(event.event) ?? '') ? ofEvent[text(event.event)!] : undefined
  const external_user_id = idOf(event.user_id)
  if (resource === undefined || external_user_id === null) return { outcome: 'verified', changes: [] }
  const date = day(event.date)
  const said_ms = date === null ? instantOfText(event.timestamp) : Date.parse(date)
  // Nothing is recorded in the future, whatever a notification says.
  const at_ms = Math.min(said_ms ?? request.now_ms, request.now_ms)
  const range = { from_ms: at_ms - DAY_MS, to_ms: Math.min(at_ms + 2 * DAY_MS, request.now_ms + DAY_MS) }
  return { outcome: 'verified', changes: [{ external_user_id, resource, ...range }] }
}

export const polar = {
  provider: 'polar',
  description: 'Watches of Polar and what Polar Flow collects',
  resources: ['activity', 'steps', 'sleep', 'workouts', 'heartrate'],
  urls: {
    authorize: 'https://auth.polar.com/oauth/authorize',
    token: 'https://auth.polar.com/oauth/token',
    api: 'https://www.polaraccesslink.com/v4/data',
  },
  scopes: [
    'activity:read',
    'sleep:read',
    'nightly_recharge:read',
    'training_sessions:read',
    'continuous_samples:read',
    'profile:read',
  ],
  scopeOf: {
    activity: 'activity:read',
    steps: 'activity:read',
    sleep: 'sleep:read',
    workouts: 'training_sessions:read',
    heartrate: 'continuous_samples:read',
  },
  comesWith: { steps: 'activity' },
  pkce: false,
  // Nights and their recovery are at most 28 days long; the days at both ends are asked for with them.
  days_per_request: 25,
  limits: [
    { requests: 3000, window_ms: QUARTER_MS },
    { requests: 100_000, window_ms: DAY_MS },
  ],

  authorizeUrl: ({ client_id, urls }, { redirect_uri, state, scopes }) =>
    withQuery(urls.authorize, { response_type: 'code', client_id, redirect_uri, scope: scopes.join(' '), state }),

  async exchange(http, app, { code, redirect_uri, now_ms }) {
    const grant = await askForTokens(http, app, { grant_type: 'authorization_code', code, redirect_uri }, now_ms)
    // The answer names no user. Without the account data a user can be polled, and not be notified of.
    const access = { http, app, access_token: grant.access_token }
    const account = await read(access, 'user/account-data', []).catch((error: unknown) => {
      if (error instanceof VendorError && error.failure === 'scope_missing') return {} as Values
      throw error
    })
    return { ...grant, external_user_id: idOf(account.userId ?? account.id) }
  },

  refresh: async (http, app, grant, now_ms) =>
    askForTokens(http, app, { grant_type: 'refresh_token', refresh_token: refreshTokenOf(grant) }, now_ms, grant),

  /** Users end a grant in their account: Polar documents no request for it in version 4. */
  async revoke() {},

  pull(http, app, access_token, request) {
    const { resource } = request
    if (!Object.hasOwn(pulls, resource)) throw new Error(`Polar has no ${resource}`)
    return pulls[resource as PolarResource]({ http, app, access_token }, request)
  },

  receive,
} satisfies Connector
