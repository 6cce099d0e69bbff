// Polar AccessLink, Dynamic API v4: Basic authentication, dates without data where features are left out, lists with and without a wrapper,
// limits that are counted upwards, and the signed webhooks of version 3. Written from a reconstruction of its description.
import { createHmac } from 'node:crypto'
import { polar } from '../../../src/connections/connectors/polar/polar.ts'
import { VendorGrants } from './grants.ts'
import { CLIENT, VendorServer, type VendorAnswer, type VendorRequest } from './vendor-server.ts'

const APPLICATION = `Basic ${Buffer.from(`${CLIENT.client_id}:${CLIENT.client_secret}`).toString('base64')}`

type Values = Record<string, unknown>
const DAY_MS = 86_400_000

/** Of each path: its operation, its scope, its list, the wrapper around it, the date in an item, and the longest range without features. */
const kinds: Record<string, { operation: string; scope: string; list: string; wrapper?: string; date: string; days: number }> = {
  'activity/list': {
    operation: 'listActivity',
    scope: 'activity:read',
    list: 'activityDays',
    wrapper: 'activities',
    date: 'date',
    days: 90,
  },
  sleeps: { operation: 'listSleeps', scope: 'sleep:read', list: 'nightSleeps', date: 'sleepDate', days: 28 },
  'nightly-recharge-results': {
    operation: 'listNightlyRechargeResults',
    scope: 'nightly_recharge:read',
    list: 'nightlyRechargeResults',
    date: 'sleepResultDate',
    days: 28,
  },
  'continuous-samples': {
    operation: 'listContinuousSamples',
    scope: 'continuous_samples:read',
    list: 'heartRateSamplesPerDay',
    wrapper: 'continuousSamples',
    date: 'date',
    days: 30,
  },
  'training-sessions/list': {
    operation: 'listTrainingSessions',
    scope: 'training_sessions:read',
    list: 'trainingSessions',
    date: 'startTime',
    days: 90,
  },
}

export class PolarPeer extends VendorServer {
  protected readonly vendor = polar.urls
  readonly grants = new VendorGrants({ life_s: 43_200, afterUse: 'dies' })
  /** By path. */
  readonly storedValues = new Map<string, Values[]>()
  readonly user = '475'
  /** The catalog of sports, as clients have met it. */
  readonly sports: Values[] = []
  /** Lists come with a wrapper. */
  wraps = true
  /** Requests of this quarter of an hour, and of this day. */
  usage: [quarter: number, day: number] = [0, 0]

  /** The webhook of the application, and its key. */
  createdWebhook: { info: { id: string; events: string[]; url: string; active: boolean }; secret: string } | undefined

  protected answer(request: VendorRequest): VendorAnswer | Promise<VendorAnswer> {
    const { path, query } = request
    if (path === '/oauth/authorize') return this.grants.consent(query, this.user)
    if (path === '/oauth/token') return this.#token(request)
    if (path.startsWith('/v3/webhooks')) return this.#webhooks(request)
    const held = this.grants.findBearer(request, this.now_ms)
    if (!held) return { status: 401, body: '' }
    const [quarter, day] = this.usage
    const limits = {
      'ratelimit-usage': `${quarter}, ${day}`,
      'ratelimit-limit': '3000, 100000',
      'ratelimit-reset': '420, 30000',
    }
    if (quarter >= 3000 || day >= 100_000) return { status: 429, body: '', headers: limits }
    this.usage = [quarter + 1, day + 1]
    const name = path.slice('/v4/data/'.length)
    if (name === 'user/account-data')
      return held.scopes.includes('profile:read') ? { status: 200, body: { id: this.user } } : missingScope('profile:read')
    if (name === 'sports/list')
      return held.scopes.includes('sports:read') ? { status: 200, body: { sports: this.sports } } : missingScope('sports:read')
    const kind = kinds[name]
    if (!kind) return { status: 404, body: '' }
    if (!held.scopes.includes(kind.scope)) return missingScope(kind.scope)
    return this.#list(name, query)
  }

  /** One webhook for each application. Its address must answer a PING, which nobody can sign yet. */
  async #webhooks({ method, path, headers, body }: VendorRequest): Promise<VendorAnswer> {
    if (headers.authorization !== APPLICATION) return { status: 401, body: '' }
    const isKnown = this.createdWebhook !== undefined
    if (path === '/v3/webhooks' && method === 'GET')
      return { status: 200, body: { data: this.createdWebhook ? [this.createdWebhook.info] : [] }, operation: 'getWebhook' }
    if (path === '/v3/webhooks' && method === 'POST') {
      if (isKnown) return { status: 409, body: { message: 'Webhook already exists' } }
      const { events, url } = JSON.parse(body) as { events: string[]; url: string }
      if (!(await this.#answersPing(url))) return { status: 400, body: { message: 'The ping was not answered' } }
      const [id, secret] = [`webhook${this.requests.length}`, `fictional-key-${this.requests.length}`]
      this.createdWebhook = { info: { id, events, url, active: true }, secret }
      return { status: 201, body: { data: { id, events, url, signature_secret_key: secret } }, operation: 'createWebhook' }
    }
    if (path === '/v3/webhooks/activate') {
      if (this.createdWebhook) this.createdWebhook.info.active = true
      return { status: isKnown ? 200 : 204, body: '' }
    }
    if (!this.createdWebhook || path !== `/v3/webhooks/${this.createdWebhook.info.id}`)
      return { status: 404, body: { message: 'Not found' } }
    if (method === 'DELETE') this.createdWebhook = undefined
    else Object.assign(this.createdWebhook.info, JSON.parse(body))
    return method === 'DELETE'
      ? { status: 204 }
      : { status: 200, body: { data: [this.createdWebhook!.info] }, operation: 'updateWebhook' }
  }

  async #answersPing(url: string): Promise<boolean> {
    const { body, headers } = this.webhook({ event: 'PING' }, null)
    const response = await fetch(url, { method: 'POST', body, headers }).catch(() => undefined)
    return response?.status === 200
  }

  #token({ form, headers }: VendorRequest): VendorAnswer {
    if (headers.authorization !== APPLICATION) return { status: 401, body: { error: 'invalid_client' } }
    const tokens = this.grants.answerForm(form, this.now_ms)
    if (!tokens) return { status: 400, body: { error: 'invalid_grant' } }
    const { access_token, refresh_token, scopes } = tokens
    return {
      status: 200,
      body: { access_token, token_type: 'bearer', refresh_token, expires_in: 43_199, scope: scopes.join(' ') },
    }
  }

  #list(name: string, query: URLSearchParams): VendorAnswer {
    const { operation, list, wrapper, date, days } = kinds[name]!
    const isSession = name === 'training-sessions/list'
    const [from, to] = [query.get('from') ?? '', query.get('to') ?? '']
    const form = isSession ? /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/ : /^\d{4}-\d\d-\d\d$/
    if (!form.test(from) || !form.test(to))
      return { status: 400, body: { error: `Text '${from}' could not be parsed as datetime` } }
    const length = (Date.parse(`${to}${isSession ? 'Z' : ''}`) - Date.parse(`${from}${isSession ? 'Z' : ''}`)) / DAY_MS
    const hasFeatures = query.has('features')
    const isLimitedToDay = hasFeatures && name !== 'continuous-samples'
    if (!(length > 0) || length > (isLimitedToDay ? 1 : days)) return { status: 400, body: { error: 'range too long' } }
    const found = (this.storedValues.get(name) ?? []).filter((value) => String(value[date]) >= from && String(value[date]) < to)
    // Without features there are only dates, and the base of sessions.
    const base = ({ exercises: _exercises, ...session }: Values) => session
    const shown = hasFeatures ? found : found.map((value) => (isSession ? base(value) : { [date]: value[date] }))
    if (!shown.length) return { status: 404, body: '' }
    const body = { [list]: shown }
    return { status: 200, body: this.wraps && wrapper !== undefined ? { [wrapper]: body } : body, operation }
  }

  /** A webhook as version 3 sends it. @param secret that of the webhook; null: a PING before anybody knows it */
  webhook(event: Values, secret: string | null): { body: string; headers: Record<string, string> } {
    const body = JSON.stringify({ timestamp: new Date(this.now_ms).toISOString(), ...event })
    const signature = secret !== null && { 'polar-webhook-signature': createHmac('sha256', secret).update(body).digest('hex') }
    return { body, headers: { 'content-type': 'application/json', 'polar-webhook-event': String(event.event), ...signature } }
  }
}

const missingScope = (scope: string): VendorAnswer => ({ status: 403, body: { error: `Missing required scope: ${scope}` } })
