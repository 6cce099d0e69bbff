// Polar AccessLink, Dynamic API v4. Basic authentication of the application, limits that are counted upwards, one day per request where data
// next to dates is wanted, and the webhooks of version 3.
import { dayOf, readGrant, type VendorAnswer } from '../answers.ts'
import { pullEach, VendorError, type Access, type Connector, type PullRequest, type Pulled } from '../connector.ts'
import { day, idOf, objectIn, refusalOf, readText, type Values } from '../reading.ts'
import { SampleBatches, knownZone, toSleepCycle, sleepOf } from '../vendor-records.ts'
import { basic, bearer, consentPage, ifGranted, refreshBy, type FetchTokens } from '../tokens.ts'
import { addRecovery, nightsIn } from './polar-nights.ts'
import { addHeartRates, addSteps, listRecords } from './polar-records.ts'
import { addNote, sportsIn, streamIn, workoutIn, type Sports } from './training-sessions.ts'
import { receiveNotification, subscribe } from './webhooks.ts'
import { DAY_MS } from '../../../platform/runtime/durations.ts'

const QUARTER_MS = 900_000

/** Until when nothing may be asked: the numbers in the headers are of a quarter of an hour and of a day, and grow up to the limit. */
function limitedFor({ headers }: VendorAnswer): number {
  const numbers = (name: string) => (headers.get(`ratelimit-${name}`) ?? '').split(',').map((part) => Number.parseInt(part, 10))
  const [usage, limit, reset] = [numbers('usage'), numbers('limit'), numbers('reset')]
  const waits = reset.filter((seconds, i) => seconds >= 0 && usage[i]! >= limit[i]!)
  return waits.length ? Math.min(DAY_MS, Math.max(...waits) * 1000) : QUARTER_MS
}

/** Errors: VendorError. Where there is nothing, Polar may answer 404. */
async function readPath(
  { http, app, access_token }: Access,
  path: string,
  query: [name: string, value: string][],
): Promise<Values> {
  const parameters = query.length ? `?${new URLSearchParams(query)}` : ''
  const answer = await http({ method: 'GET', url: `${app.urls.api}/${path}${parameters}`, headers: bearer(access_token) })
  if (answer.status === 404 || answer.status === 204) return {}
  if (answer.status === 429) throw new VendorError('rate_limited', limitedFor(answer))
  if (answer.status !== 200) throw refusalOf(answer)
  return objectIn(answer.text)
}

const rangeParameters = (start: string, end: string, ...features: string[]): [string, string][] => [
  ['from', start],
  ['to', end],
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
    const sent = await readPath(access, 'activity/list', rangeParameters(date, dayAfter(date), 'samples'))
    const records = addSteps(batches, sent, zone)
    if (records.length) yield { kind: 'activity', records }
    yield* batches.take()
  }
}

async function* pullSleep(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  for (const date of daysOf(request)) {
    const next = dayAfter(date)
    const sent = await readPath(access, 'sleeps', rangeParameters(date, next, 'sleep-result', 'sleep-evaluation', 'sleep-score'))
    if (!listRecords(sent, 'nightSleeps').length) continue
    const nights = nightsIn(sent, await recovery(access, date))
    if (nights.length) yield { kind: 'sleep', records: nights.map(sleepOf) }
    const cycles = nights.flatMap((night) => toSleepCycle(night, night.stages) ?? [])
    if (cycles.length) yield { kind: 'sleep_cycle', records: cycles }
    const batches = new SampleBatches()
    for (const night of nights) addRecovery(batches, night)
    yield* batches.take()
  }
}

/** What a user did not grant is not known of the night. */
const recovery = async (access: Access, date: string): Promise<Values> =>
  (await ifGranted(readPath(access, 'nightly-recharge-results', rangeParameters(date, dayAfter(date), 'samples')))) ?? {}

async function* pullHeartRates(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  const zone = knownZone(request.time_zone)
  for (const date of daysOf(request)) {
    const batches = new SampleBatches()
    addHeartRates(
      batches,
      await readPath(access, 'continuous-samples', rangeParameters(date, dayAfter(date), 'heart-rate-samples')),
      zone,
    )
    yield* batches.take()
  }
}

/** The catalog of sports; what a user did not grant is not known. */
const sportsOf = async (access: Access): Promise<Sports> => sportsIn((await ifGranted(readPath(access, 'sports/list', []))) ?? {})

/** Sessions have local times without an offset. Their days are asked for at once; samples and ways only for one day at a time. */
async function* pullWorkouts(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  const days = daysOf(request)
  const zone = knownZone(request.time_zone)
  const bounds = [`${days[0]}T00:00:00`, `${dayAfter(days.at(-1)!)}T00:00:00`] as const
  const bases = listRecords(await readPath(access, 'training-sessions/list', rangeParameters(...bounds)), 'trainingSessions')
  if (!bases.length) return
  const sports = await sportsOf(access)
  const dates = new Set(bases.flatMap(({ startTime }) => day(readText(startTime)?.slice(0, 10)) ?? []))
  const notes = new SampleBatches()
  for (const date of [...dates].toSorted()) {
    const range = rangeParameters(`${date}T00:00:00`, `${dayAfter(date)}T00:00:00`, 'samples', 'routes')
    for (const session of listRecords(await readPath(access, 'training-sessions/list', range), 'trainingSessions')) {
      const stream = streamIn(session, zone)
      const record = workoutIn(session, { zone, sports, stream })
      if (!record) continue
      yield { kind: 'workouts', records: [record] }
      if (stream) yield { streams: [stream] }
      addNote(notes, session, record)
    }
  }
  yield* notes.take()
}

const pullByResource = {
  activity: pullActivity,
  steps: pullActivity,
  sleep: pullSleep,
  sleep_cycle: pullSleep,
  hrv: pullSleep,
  respiratory_rate: pullSleep,
  heartrate: pullHeartRates,
  workouts: pullWorkouts,
  workout_stream: pullWorkouts,
  note: pullWorkouts,
}
type PolarResource = keyof typeof pullByResource

const fetchTokens: FetchTokens = async (http, app, form, now_ms, previousGrant) => {
  return readGrant(await http({ method: 'POST', url: app.urls.token, headers: basic(app), body: form }), now_ms, previousGrant)
}

export const polar = {
  provider: 'polar',
  description: 'Watches of Polar and what Polar Flow collects',
  resources: Object.keys(pullByResource) as PolarResource[],
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
    'routes:read',
    'sports:read',
    'continuous_samples:read',
    'profile:read',
  ],
  scopesByResource: {
    activity: 'activity:read',
    steps: 'activity:read',
    sleep: 'sleep:read',
    sleep_cycle: 'sleep:read',
    hrv: 'nightly_recharge:read',
    respiratory_rate: 'nightly_recharge:read',
    workouts: 'training_sessions:read',
    workout_stream: 'training_sessions:read',
    note: 'training_sessions:read',
    heartrate: 'continuous_samples:read',
  },
  alsoUses: {
    sleep: ['nightly_recharge:read'],
    hrv: ['sleep:read'],
    respiratory_rate: ['sleep:read'],
    workouts: ['routes:read', 'sports:read'],
    workout_stream: ['routes:read'],
  },
  comesWith: {
    steps: 'activity',
    sleep_cycle: 'sleep',
    hrv: 'sleep',
    respiratory_rate: 'sleep',
    workout_stream: 'workouts',
    note: 'workouts',
  },
  pkce: false,
  // Nights and their recovery are at most 28 days long; the days at both ends are asked for with them.
  days_per_request: 25,
  limits: [
    { requests: 3000, window_ms: QUARTER_MS },
    { requests: 100_000, window_ms: DAY_MS },
  ],

  authorizeUrl: consentPage(false),

  async exchange(http, app, { code, redirect_uri, now_ms }) {
    const grant = await fetchTokens(http, app, { grant_type: 'authorization_code', code, redirect_uri }, now_ms)
    // The answer names no user. Without the account data a user can be polled, and not be notified of.
    const account = await ifGranted(readPath({ http, app, access_token: grant.access_token }, 'user/account-data', []))
    return { ...grant, external_user_id: idOf(account?.userId ?? account?.id) }
  },

  refresh: refreshBy(fetchTokens),

  /** Users end a grant in their account: Polar documents no request for it in version 4. */
  async revoke() {},

  pull: pullEach('Polar', pullByResource),

  receive: receiveNotification,
  subscribe,
} satisfies Connector
