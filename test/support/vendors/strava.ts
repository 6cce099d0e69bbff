// Strava: OAuth with refresh tokens that die at once, limits reported in pairs of numbers, one subscription for each application with a handshake,
// notifications with and without a signature. Written from its public description.
import { createHmac } from 'node:crypto'
import { strava } from '../../../src/connections/connectors/strava/strava.ts'
import { VendorGrants, type VendorTokens } from './grants.ts'
import { CLIENT, VendorServer, type VendorAnswer, type VendorRequest } from './vendor-server.ts'

type Values = Record<string, unknown>
export interface StoredActivity extends Values {
  id: number
  athlete: { id: number }
  start_date: string
}

/** Shown in a list; the others only in the answer to a request for one activity. */
const NOT_LISTED = new Set(['calories', 'description', 'embed_token', 'device_name'])

export class StravaPeer extends VendorServer {
  protected readonly vendor = strava.urls
  readonly grants = new VendorGrants({ life_s: 21_600, afterUse: 'dies' })
  readonly activities: StoredActivity[] = []
  /** By activity. */
  readonly streams = new Map<number, Values>()
  readonly athletes = new Map<number, Values>()
  readonly subscriptions: { id: number; callback_url: string; verify_token: string }[] = []
  /** Requests of this quarter of an hour, and of this day. */
  usage: [quarter: number, day: number] = [0, 0]
  /** Fewer than asked for: pages may be shorter. */
  page = 2

  protected async answer(request: VendorRequest): Promise<VendorAnswer> {
    const { method, path } = request
    if (path === '/oauth/authorize') return this.#consent(request)
    if (path === '/oauth/token') return this.#token(request.form)
    if (path.startsWith('/api/v3/push_subscriptions')) return this.#subscription(request)
    const held = this.grants.findBearer(request, this.now_ms)
    if (!held) return fault(401, 'Authorization Error', { resource: 'Athlete', field: 'access_token', code: 'invalid' })
    if (path === '/oauth/deauthorize' && method === 'POST') {
      this.grants.end(held.user)
      return { status: 200, body: { access_token: held.access_token } }
    }
    const [quarter, day] = this.usage
    const headers = {
      date: new Date(this.now_ms).toUTCString(),
      'x-ratelimit-limit': '400,4000',
      'x-ratelimit-usage': `${quarter},${day}`,
      'x-readratelimit-limit': '200,2000',
      'x-readratelimit-usage': `${quarter},${day}`,
    }
    if (quarter >= 200 || day >= 2000)
      return { ...fault(429, 'Rate Limit Exceeded', { resource: 'Application', field: 'overall', code: 'exceeded' }), headers }
    this.usage = [quarter + 1, day + 1]
    return { ...this.#data(request, held), headers }
  }

  #consent({ query }: VendorRequest): VendorAnswer {
    const redirect_uri = query.get('redirect_uri')!
    const to = new URL(redirect_uri)
    const scopes = query.get('scope')!.split(',')
    to.searchParams.set('state', query.get('state')!)
    to.searchParams.set('code', this.grants.agree('134815', scopes, redirect_uri))
    to.searchParams.set('scope', scopes.join())
    return { status: 302, headers: { location: to.href } }
  }

  #token(form: URLSearchParams): VendorAnswer {
    if (form.get('client_id') !== CLIENT.client_id || form.get('client_secret') !== CLIENT.client_secret)
      return fault(401, 'Unauthorized', { resource: 'Application', field: '', code: 'invalid' })
    const isRefresh = form.get('grant_type') === 'refresh_token'
    const tokens = isRefresh
      ? this.grants.refresh(form.get('refresh_token') ?? '', this.now_ms)
      : this.grants.exchange(form.get('code') ?? '', undefined, this.now_ms)
    if (!tokens)
      return fault(400, 'Bad Request', {
        resource: isRefresh ? 'RefreshToken' : 'AuthorizationCode',
        field: isRefresh ? 'refresh_token' : 'code',
        code: 'invalid',
      })
    const { user, access_token, refresh_token, expires_at_ms } = tokens
    return {
      status: 200,
      body: {
        token_type: 'Bearer',
        expires_at: expires_at_ms / 1000,
        expires_in: (expires_at_ms - this.now_ms) / 1000,
        refresh_token,
        access_token,
        ...(!isRefresh && { athlete: { id: Number(user), resource_state: 2 } }),
      },
    }
  }

  #data({ path, query }: VendorRequest, { user, scopes }: VendorTokens): VendorAnswer {
    const own = Number(user)
    if (path === '/api/v3/athlete') {
      if (!scopes.includes('read')) return missingField('read_permission')
      return { status: 200, body: { id: own, ...this.athletes.get(own) }, operation: 'getLoggedInAthlete' }
    }
    if (!scopes.includes('activity:read')) return missingField('activity:read_permission')
    if (path === '/api/v3/athlete/activities') {
      const [after, before] = [Number(query.get('after')) * 1000, Number(query.get('before')) * 1000]
      const found = this.activities.filter(
        ({ athlete, start_date }) => athlete.id === own && Date.parse(start_date) > after && Date.parse(start_date) < before,
      )
      const from = (Number(query.get('page')) - 1) * this.page
      const shown = found
        .slice(from, from + this.page)
        .map((activity) => Object.fromEntries(Object.entries(activity).filter(([name]) => !NOT_LISTED.has(name))))
      return { status: 200, body: shown, operation: 'getLoggedInAthleteActivities' }
    }
    const ofStream = /^\/api\/v3\/activities\/(\d+)\/streams$/.exec(path)
    if (ofStream) return this.#stream(Number(ofStream[1]), query)
    const id = Number(/^\/api\/v3\/activities\/(\d+)$/.exec(path)?.[1])
    // Those of others are shown, too, if everybody may see them.
    const activity = this.activities.find((activity) => activity.id === id)
    if (!activity) return fault(404, 'Record Not Found', { resource: 'Activity', field: 'id', code: 'invalid' })
    return { status: 200, body: activity, operation: 'getActivityById' }
  }

  #stream(id: number, query: URLSearchParams): VendorAnswer {
    if (query.get('key_by_type') !== 'true') return fault(400, 'Bad Request', { resource: 'Activity', field: 'key_by_type' })
    const found = this.streams.get(id)
    if (!found) return fault(404, 'Record Not Found', { resource: 'Activity', field: 'id', code: 'invalid' })
    const wanted = new Set(query.get('keys')!.split(','))
    const body = Object.fromEntries(Object.entries(found).filter(([name]) => wanted.has(name)))
    return { status: 200, body, operation: 'getActivityStreams' }
  }

  async #subscription({ method, path, query, form }: VendorRequest): Promise<VendorAnswer> {
    const given = method === 'POST' ? form : query
    if (given.get('client_id') !== CLIENT.client_id || given.get('client_secret') !== CLIENT.client_secret)
      return fault(401, 'Authorization Error', { resource: 'Application', field: 'client_id', code: 'invalid' })
    if (method === 'GET')
      return { status: 200, body: this.subscriptions.map(({ id, callback_url }) => ({ id, callback_url, resource_state: 2 })) }
    if (method === 'DELETE') {
      const at = this.subscriptions.findIndex(({ id }) => path.endsWith(`/${id}`))
      if (at >= 0) this.subscriptions.splice(at, 1)
      return { status: at >= 0 ? 204 : 404 }
    }
    if (this.subscriptions.length)
      return fault(400, 'Bad Request', { resource: 'PushSubscription', field: 'application', code: 'already exists' })
    const [callback_url, verify_token] = [form.get('callback_url')!, form.get('verify_token')!]
    if (!(await this.#handshake(callback_url, verify_token)))
      return fault(400, 'Bad Request', {
        resource: 'PushSubscription',
        field: 'callback url',
        code: 'GET to callback URL does not return 200',
      })
    const id = 120_475 + this.requests.length
    this.subscriptions.push({ id, callback_url, verify_token })
    return { status: 201, body: { id } }
  }

  async #handshake(callback_url: string, verify_token: string): Promise<boolean> {
    const url = new URL(callback_url)
    url.searchParams.set('hub.mode', 'subscribe')
    url.searchParams.set('hub.challenge', '15f7d1a91c1f40f8a748fd134752feb3')
    url.searchParams.set('hub.verify_token', verify_token)
    const response = await fetch(url).catch(() => undefined)
    if (response?.status !== 200) return false
    const said = (await response.json().catch(() => ({}))) as Values
    return said['hub.challenge'] === '15f7d1a91c1f40f8a748fd134752feb3'
  }

  /** An event as it is sent to the subscription. `signed`: some clients receive a signature, others none. */
  event(fields: Values, isSigned = false): { body: string; headers: Record<string, string> } {
    const second = Math.floor(this.now_ms / 1000)
    const body = JSON.stringify({ aspect_type: 'create', event_time: second, subscription_id: 120_475, updates: {}, ...fields })
    const v1 = createHmac('sha256', CLIENT.client_secret).update(`${second}.${body}`).digest('hex')
    const signature = { 'x-strava-signature': `t=${second},v1=${v1}` }
    return { body, headers: { 'content-type': 'application/json', ...(isSigned && signature) } }
  }
}

const fault = (status: number, message: string, error: Values): VendorAnswer => ({ status, body: { message, errors: [error] } })
const missingField = (field: string): VendorAnswer =>
  fault(401, 'Authorization Error', { resource: 'AccessToken', field, code: 'missing' })
