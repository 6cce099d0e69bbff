// Oura, API version 2: documents by day whose last day is left out, pages, subscriptions with a handshake, signed notices. Written from its
// public description.
import { createHmac, randomUUID } from 'node:crypto'
import { oura } from '../../../src/connections/connectors/oura/oura.ts'
import { VendorGrants } from './grants.ts'
import { CLIENT, VendorServer, type VendorAnswer, type VendorRequest } from './vendor-server.ts'

type Document = Record<string, unknown> & { id: string } & ({ day: string } | { start_day: string })
const collections = ['daily_activity', 'daily_sleep', 'sleep', 'workout', 'daily_spo2', 'vO2_max', 'enhanced_tag'] as const
export type OuraCollection = (typeof collections)[number]
const scopes: Record<string, string> = { workout: 'workout', daily_spo2: 'spo2', vO2_max: 'heart_health', enhanced_tag: 'tag' }

/** A tag has the day on which it starts. */
const dayOf = (document: Document): string => String('day' in document ? document.day : document.start_day)

export class OuraPeer extends VendorServer {
  protected readonly vendor = oura.urls
  readonly grants = new VendorGrants({ life_s: 86_400, afterUse: 'dies' })
  readonly documents = new Map<string, Document[]>()
  readonly heartRates = new Map<string, { timestamp: string; timestamp_unix: number; bpm: number; source: string }[]>()
  readonly subscriptions: Record<string, string>[] = []
  /** Ids of documents that cannot be read yet, although they were notified of. */
  readonly unreadable = new Set<string>()
  page = 20
  /** In kilograms, as users have entered it. */
  weight: number | null = 70.5
  /** Requests for data that are still answered; then 429 with this many seconds. */
  left = Infinity
  retry_after: number | string = 30

  put(user: string, collection: OuraCollection, ...documents: Document[]): void {
    const key = `${user} ${collection}`
    const others = (this.documents.get(key) ?? []).filter(({ id }) => !documents.some((otherDocument) => otherDocument.id === id))
    this.documents.set(
      key,
      [...others, ...documents].toSorted((a, b) => (dayOf(a) < dayOf(b) ? -1 : 1)),
    )
  }

  protected answer(request: VendorRequest): VendorAnswer {
    const { path, form, method, query } = request
    if (path === '/oauth/authorize') return this.grants.consent(query, 'oura-user')
    if (path === '/oauth/token') return this.#token(form)
    if (path.startsWith('/v2/webhook/subscription')) return this.#subscription(request)
    const access_token = query.get('access_token') ?? (request.headers.authorization ?? '').replace(/^Bearer /, '')
    const held = this.grants.findHolder(access_token, this.now_ms)
    if (!held) return { status: 401, body: { status: 401, title: 'Unauthorized', detail: 'The access token is invalid' } }
    if (path === '/oauth/revoke' && method === 'POST') {
      this.grants.end(held.user)
      return { status: 200, body: '' }
    }
    if (this.left <= 0) return { status: 429, headers: { 'retry-after': String(this.retry_after) }, body: {} }
    this.left--
    const [, collection = '', id] = /^\/v2\/usercollection\/(\w+)(?:\/(.+))?$/.exec(path) ?? []
    const scope =
      collection === 'personal_info' ? 'personal' : collection === 'heartrate' ? 'heartrate' : (scopes[collection] ?? 'daily')
    if (!held.scopes.includes(scope)) return { status: 403, body: { status: 403, title: 'Forbidden' } }
    if (collection === 'personal_info')
      return {
        status: 200,
        operation: 'Single_Personal_Info_Document_v2_usercollection_personal_info_get',
        body: { id: held.user, age: 34, weight: this.weight, height: 1.75, biological_sex: 'female', email: 'testa@example.com' },
      }
    if (collection === 'heartrate') return this.#heartRates(held.user, query)
    const documents = this.documents.get(`${held.user} ${collection}`) ?? []
    if (id !== undefined) {
      const found = this.unreadable.has(id) ? undefined : documents.find((document) => document.id === decodeURIComponent(id))
      const operation = `Single_${collection}_Document_v2_usercollection_${collection}__document_id__get`
      return found ? { status: 200, operation, body: found } : { status: 404, body: { detail: 'Not found' } }
    }
    const [first, last] = [query.get('start_date') ?? '', query.get('end_date') ?? '9999']
    // The end is left out, so that a date alone never has today.
    const wanted = documents.filter((document) => dayOf(document) >= first && dayOf(document) < last)
    return this.#pageOf(wanted, query, `Multiple_${collection}_Documents_v2_usercollection_${collection}_get`)
  }

  #heartRates(user: string, query: URLSearchParams): VendorAnswer {
    const [from, to] = [Date.parse(query.get('start_datetime')!), Date.parse(query.get('end_datetime')!)]
    if (to - from > 30 * 86_400_000) return { status: 400, body: { detail: 'The range is longer than 30 days' } }
    const rows = (this.heartRates.get(user) ?? []).filter(
      ({ timestamp }) => Date.parse(timestamp) >= from && Date.parse(timestamp) < to,
    )
    return this.#pageOf(rows, query, 'Multiple_heartrate_Documents_v2_usercollection_heartrate_get')
  }

  #pageOf(rows: unknown[], query: URLSearchParams, operation: string): VendorAnswer {
    const from = Number(query.get('next_token') ?? 0)
    const next_token = from + this.page < rows.length ? String(from + this.page) : null
    return { status: 200, operation, body: { data: rows.slice(from, from + this.page), next_token } }
  }

  #token(form: URLSearchParams): VendorAnswer {
    if (form.get('client_id') !== CLIENT.client_id || form.get('client_secret') !== CLIENT.client_secret)
      return { status: 400, body: { error: 'invalid_client' } }
    const tokens = this.grants.answerForm(form, this.now_ms)
    if (!tokens) return { status: 400, body: { error: 'invalid_grant' } }
    const { access_token, refresh_token, scopes: granted } = tokens
    return {
      status: 200,
      body: { token_type: 'bearer', expires_in: 86_400, access_token, refresh_token, scope: granted.join(' ') },
    }
  }

  #subscription({ method, headers, body, path }: VendorRequest): VendorAnswer {
    if (headers['x-client-id'] !== CLIENT.client_id || headers['x-client-secret'] !== CLIENT.client_secret) return { status: 403 }
    const expiration_time = new Date(this.now_ms + 90 * 86_400_000).toISOString()
    if (method === 'GET')
      return {
        status: 200,
        operation: 'list_webhook_subscriptions_v2_webhook_subscription_get',
        body: this.subscriptions.map(withoutToken),
      }
    if (method === 'PUT') {
      const found = this.subscriptions.find(({ id }) => path.endsWith(`/renew/${id}`))
      if (!found) return { status: 403 }
      found.expiration_time = expiration_time
      const shown = withoutToken(found)
      return { status: 200, operation: 'renew_webhook_subscription_v2_webhook_subscription_renew__id__put', body: shown }
    }
    const made = { id: randomUUID(), expiration_time, ...(JSON.parse(body) as Record<string, string>) }
    this.subscriptions.push(made)
    return { status: 201, body: withoutToken(made) }
  }

  /** A notice as Oura sends it. @param secret of the application; another one for forged notices */
  notice(notice: Record<string, unknown>, secret: string = CLIENT.client_secret) {
    const body = JSON.stringify({ event_time: new Date(this.now_ms).toISOString(), ...notice })
    const timestamp = String(Math.floor(this.now_ms / 1000))
    const signature = createHmac('sha256', secret)
      .update(timestamp + body)
      .digest('hex')
      .toUpperCase()
    const headers = { 'content-type': 'application/json', 'x-oura-timestamp': timestamp, 'x-oura-signature': signature }
    return { headers, body }
  }
}

function withoutToken(subscription: Record<string, string>): Record<string, string> {
  const { verification_token: _, ...shown } = subscription
  return shown
}

const meta = { updated_at: '2026-01-31T08:00:00.000Z', version: 1 }
const contributors = {}
const sample = (timestamp: string, items: (number | null)[], interval = 300) => ({ interval, items, timestamp })

/** Documents of fictional days. */
export const ouraActivity = (day: string, steps: number): Document => ({
  id: `activity-${day}`,
  meta,
  day,
  steps,
  active_calories: 400,
  total_calories: 2300,
  average_met_minutes: 1.4,
  contributors,
  equivalent_walking_distance: 7200,
  high_activity_met_minutes: 30,
  high_activity_time: 600,
  inactivity_alerts: 0,
  low_activity_met_minutes: 100,
  low_activity_time: 7200,
  medium_activity_met_minutes: 60,
  medium_activity_time: 1800,
  met: sample(`${day}T04:00:00.000+01:00`, [1.1, 1.2], 60),
  meters_to_target: 0,
  non_wear_time: 0,
  resting_time: 28_800,
  sedentary_met_minutes: 10,
  sedentary_time: 20_000,
  target_calories: 450,
  target_meters: 8000,
  timestamp: `${day}T04:00:00.000+01:00`,
})

export const ouraNight = (day: string, overrides: Record<string, unknown> = {}): Document => ({
  id: `night-${day}`,
  meta,
  day,
  bedtime_start: new Date(Date.parse(`${day}T00:00:00Z`) - 2 * 3_600_000).toISOString().replace('Z', '+00:00'),
  bedtime_end: `${day}T06:30:00.000+00:00`,
  period: 0,
  low_battery_alert: false,
  time_in_bed: 30_600,
  type: 'long_sleep',
  awake_time: 1800,
  light_sleep_duration: 15_300,
  rem_sleep_duration: 6300,
  deep_sleep_duration: 7200,
  total_sleep_duration: 28_800,
  average_breath: 14.25,
  average_heart_rate: 54.5,
  average_hrv: 62,
  lowest_heart_rate: 48,
  latency: 480,
  efficiency: 94,
  sleep_phase_5_min: '422111133224',
  hrv: sample(`${day}T00:00:00.000+00:00`, [60, null, 64]),
  readiness: { contributors, score: 81, temperature_deviation: -0.2 },
  ...overrides,
})

export const ouraScore = (day: string, score: number): Document => ({
  id: `score-${day}`,
  meta,
  day,
  contributors,
  score,
  timestamp: `${day}T00:00:00.000+00:00`,
})

/** A tag with words of the user, on the local day of its beginning. */
export const ouraTag = (id: string, start_time: string, overrides: Record<string, unknown>): Document => ({
  id,
  tag_type_code: null,
  start_time,
  end_time: null,
  start_day: start_time.slice(0, 10),
  end_day: null,
  comment: null,
  custom_name: null,
  ...overrides,
})

export const ouraWorkout = (day: string, overrides: Record<string, unknown> = {}): Document => ({
  id: `workout-${day}`,
  meta,
  day,
  activity: 'cycling',
  calories: 320.5,
  distance: 12_500,
  start_datetime: `${day}T17:00:00.000+01:00`,
  end_datetime: `${day}T17:45:00.000+01:00`,
  intensity: 'moderate',
  source: 'confirmed',
  label: null,
  ...overrides,
})
