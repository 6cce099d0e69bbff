// WHOOP, API version 2: pages of 25 records, newest first, refresh tokens that die when they are used, limits in headers of its own, signed
// notices with ids alone. Written from its public description.
import { createHmac, randomUUID } from 'node:crypto'
import { whoop } from '../../../src/connections/connectors/whoop/whoop.ts'
import { VendorGrants } from './grants.ts'
import { CLIENT, VendorServer, type VendorAnswer, type VendorRequest } from './vendor-server.ts'

type Sent = Record<string, unknown> & { start: string }
const lists = {
  '/developer/v2/cycle': ['getCycleCollection', 'read:cycles'],
  '/developer/v2/recovery': ['getRecoveryCollection', 'read:recovery'],
  '/developer/v2/activity/sleep': ['getSleepCollection', 'read:sleep'],
  '/developer/v2/activity/workout': ['getWorkoutCollection', 'read:workout'],
} as const
export type WhoopList = 'cycle' | 'recovery' | 'activity/sleep' | 'activity/workout'

export class WhoopPeer extends VendorServer {
  protected readonly vendor = whoop.urls
  readonly grants = new VendorGrants({ life_s: 3600, afterUse: 'dies' })
  readonly records = new Map<string, Sent[]>()
  /** Requests that are still answered in this minute. */
  left = Infinity
  /** It accepts no access token, whatever it has issued. */
  deaf = false

  put(list: WhoopList, ...records: Sent[]): void {
    const key = `/developer/v2/${list}`
    const idOf = (record: Sent) => record.id ?? record.sleep_id
    const others = (this.records.get(key) ?? []).filter(
      (record) => !records.some((addedRecord) => idOf(addedRecord) === idOf(record)),
    )
    this.records.set(
      key,
      [...others, ...records].toSorted((a, b) => (a.start < b.start ? 1 : -1)),
    )
  }

  remove(list: WhoopList, id: unknown): void {
    const key = `/developer/v2/${list}`
    this.records.set(
      key,
      (this.records.get(key) ?? []).filter((record) => record.id !== id),
    )
  }

  /** What was recorded in nights, by the id of the night. */
  readonly streams = new Map<string, Record<string, unknown>[]>()
  /** Not every application is given them. */
  givesStreams = true

  protected answer(request: VendorRequest): VendorAnswer {
    const { path, method, query, form } = request
    if (path === '/oauth/oauth2/auth') return this.grants.consent(query, '10129')
    if (path === '/oauth/oauth2/token') return this.#token(form)
    const held = this.grants.findBearer(request, this.now_ms)
    if (!held || (this.deaf && path !== '/developer/v2/user/profile/basic')) return { status: 401, body: '' }
    const limits = { 'x-ratelimit-limit': '100, 100;window=60, 10000;window=86400', 'x-ratelimit-reset': '17' }
    if (this.left <= 0) return { status: 429, headers: { ...limits, 'x-ratelimit-remaining': '0' }, body: '' }
    this.left--
    if (path === '/developer/v2/user/access' && method === 'DELETE') {
      this.grants.end(held.user)
      return { status: 204 }
    }
    if (path === '/developer/v2/user/profile/basic')
      return {
        status: 200,
        operation: 'getProfileBasic',
        body: { user_id: Number(held.user), email: 'testa@example.com', first_name: 'Testa', last_name: 'Fictional' },
      }
    if (path === '/developer/v2/user/measurement/body')
      return {
        status: 200,
        operation: 'getBodyMeasurement',
        body: { height_meter: 1.75, weight_kilogram: 70.5, max_heart_rate: 190 },
      }
    const listed = Object.hasOwn(lists, path) ? lists[path as keyof typeof lists] : undefined
    if (listed) {
      if (!held.scopes.includes(listed[1])) return { status: 403, body: '' }
      return { ...this.#page(path, query), operation: listed[0], headers: limits }
    }
    const [, cycle] = /^\/developer\/v2\/cycle\/(\d+)\/recovery$/.exec(path) ?? []
    if (cycle)
      return findRecord(
        this.records.get('/developer/v2/recovery'),
        ({ cycle_id }) => String(cycle_id) === cycle,
        'getRecoveryForCycle',
      )
    const [, night] = /^\/developer\/v2\/activity\/sleep\/(.+)\/stream$/.exec(path) ?? []
    if (night !== undefined) {
      if (!this.givesStreams) return { status: 403, body: '' }
      const stream = this.streams.get(night)
      return stream ? { status: 200, body: { stream }, operation: 'getSleepStream' } : { status: 404, body: '' }
    }
    const [, list = '', id = ''] = /^(\/developer\/v2\/activity\/(?:sleep|workout))\/(.+)$/.exec(path) ?? []
    const operation = list.endsWith('sleep') ? 'getSleepById' : 'getWorkoutById'
    return findRecord(this.records.get(list), (record) => record.id === id, operation)
  }

  #page(path: string, query: URLSearchParams): VendorAnswer {
    const limit = Number(query.get('limit') ?? 10)
    if (!(limit >= 1 && limit <= 25)) return { status: 400, body: '' }
    const [start, end] = [query.get('start') ?? '', query.get('end') ?? '9999']
    const found = (this.records.get(path) ?? []).filter((record) => record.start >= start && record.start < end)
    const from = Number(query.get('nextToken') ?? 0)
    const hasMore = from + limit < found.length
    // A recovery has no start of its own.
    const shown = found.slice(from, from + limit).map((record) => {
      const { start: _, ...recovery } = record
      return path.endsWith('recovery') ? recovery : record
    })
    return { status: 200, body: { records: shown, ...(hasMore && { next_token: String(from + limit) }) } }
  }

  #token(form: URLSearchParams): VendorAnswer {
    if (form.get('client_id') !== CLIENT.client_id || form.get('client_secret') !== CLIENT.client_secret)
      return { status: 401, body: { error: 'invalid_client' } }
    const tokens = this.grants.answerForm(form, this.now_ms)
    if (!tokens) return { status: 400, body: { error: 'invalid_grant' } }
    const { access_token, refresh_token, scopes } = tokens
    return { status: 200, body: { token_type: 'bearer', expires_in: 3600, access_token, refresh_token, scope: scopes.join(' ') } }
  }

  /** A notice as WHOOP sends it. @param secret of the application; another one for forged notices */
  notice(type: string, id: unknown, secret: string = CLIENT.client_secret) {
    const body = JSON.stringify({ user_id: 10_129, id, type, trace_id: randomUUID() })
    const timestamp = String(this.now_ms)
    const signature = createHmac('sha256', secret)
      .update(timestamp + body)
      .digest('base64')
    return {
      headers: { 'content-type': 'application/json', 'x-whoop-signature': signature, 'x-whoop-signature-timestamp': timestamp },
      body,
    }
  }
}

function findRecord(records: Sent[] | undefined, isIt: (record: Sent) => boolean, operation: string): VendorAnswer {
  const found = records?.find(isIt)
  if (!found) return { status: 404, body: '' }
  const { start: _, ...recovery } = found
  return { status: 200, operation, body: operation === 'getRecoveryForCycle' ? recovery : found }
}

const written = { created_at: '2026-01-31T08:00:00.000Z', updated_at: '2026-01-31T08:00:00.000Z', user_id: 10_129 }

export const whoopCycle = (
  id: number,
  start: string,
  end: string | undefined,
  overrides: Record<string, unknown> = {},
): Sent => ({
  ...written,
  id,
  start,
  ...(end !== undefined && { end }),
  timezone_offset: '-05:00',
  score_state: 'SCORED',
  score: { strain: 8.5, kilojoule: 8368, average_heart_rate: 68, max_heart_rate: 141 },
  ...overrides,
})

export const whoopSleep = (
  id: string,
  cycle_id: number,
  start: string,
  end: string,
  overrides: Record<string, unknown> = {},
): Sent => ({
  ...written,
  id,
  cycle_id,
  start,
  end,
  timezone_offset: '-05:00',
  nap: false,
  score_state: 'SCORED',
  score: {
    stage_summary: {
      total_in_bed_time_milli: 28_800_000,
      total_awake_time_milli: 1_800_000,
      total_no_data_time_milli: 0,
      total_light_sleep_time_milli: 14_400_000,
      total_slow_wave_sleep_time_milli: 6_300_000,
      total_rem_sleep_time_milli: 6_300_000,
      sleep_cycle_count: 4,
      disturbance_count: 8,
    },
    sleep_needed: {
      baseline_milli: 27_000_000,
      need_from_sleep_debt_milli: 0,
      need_from_recent_strain_milli: 0,
      need_from_recent_nap_milli: 0,
    },
    respiratory_rate: 16.1,
    sleep_performance_percentage: 92,
    sleep_consistency_percentage: 80,
    sleep_efficiency_percentage: 93.75,
  },
  ...overrides,
})

export const whoopRecovery = (sleep_id: string, cycle_id: number, start: string, recovery_score: number): Sent => ({
  ...written,
  sleep_id,
  cycle_id,
  start,
  score_state: 'SCORED',
  score: {
    user_calibrating: false,
    recovery_score,
    resting_heart_rate: 52,
    hrv_rmssd_milli: 61.5,
    spo2_percentage: 96.5,
    skin_temp_celsius: 33.5,
  },
})

export const whoopWorkout = (id: string, start: string, end: string, overrides: Record<string, unknown> = {}): Sent => ({
  ...written,
  id,
  start,
  end,
  timezone_offset: '-05:00',
  sport_name: 'running',
  sport_id: 0,
  score_state: 'SCORED',
  score: {
    strain: 9.1,
    average_heart_rate: 140,
    max_heart_rate: 171,
    kilojoule: 1255.2,
    percent_recorded: 100,
    distance_meter: 5000,
    altitude_gain_meter: 40,
    altitude_change_meter: -2,
    zone_durations: {
      zone_zero_milli: 60_000,
      zone_one_milli: 120_000,
      zone_two_milli: 300_000,
      zone_three_milli: 600_000,
      zone_four_milli: 300_000,
      zone_five_milli: 60_000,
    },
  },
  ...overrides,
})
