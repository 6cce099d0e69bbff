// Withings: forms with an action, HTTP 200 for errors too, pages, notifications for each user and category. Written from its public description.
import { createHmac } from 'node:crypto'
import { withings } from '../../../src/connections/connectors/withings/withings.ts'
import { CLIENT, VendorServer, type VendorAnswer, type VendorRequest } from './vendor-server.ts'
import { VendorGrants } from './grants.ts'

type Values = Record<string, unknown>
interface Stored {
  measuregrps: (Values & { date: number })[]
  activities: (Values & { date: string })[]
  intraday: Record<string, Values>
  nights: (Values & { enddate: number; date: string })[]
  stages: (Values & { startdate: number; enddate: number })[]
  workouts: (Values & { date: string })[]
  recordings: (Values & { timestamp: number; signal: number[]; ecg: { signalid: number } })[]
}

const SCOPE_OF: Record<string, string> = {
  getmeas: 'user.metrics',
  getactivity: 'user.activity',
  getintradayactivity: 'user.activity',
  getworkouts: 'user.activity',
  getsummary: 'user.sleepevents',
  get: 'user.sleepevents',
}

export class WithingsPeer extends VendorServer {
  protected readonly vendor = withings.urls
  readonly grants = new VendorGrants({ life_s: 10_800, afterUse: 'until_new_is_used' })
  readonly users = new Map<string, Stored>()
  readonly subscriptions: { user: string; appli: number; callbackurl: string }[] = []
  readonly #nonces = new Set<string>()
  /** Rows on a page. */
  page = 2
  zone = 'Europe/Paris'
  /** Requests that are still answered in this minute. */
  left = 120

  store(user: string): Stored {
    const stored = this.users.get(user) ?? {
      measuregrps: [],
      activities: [],
      intraday: {},
      nights: [],
      stages: [],
      workouts: [],
      recordings: [],
    }
    this.users.set(user, stored)
    return stored
  }

  protected answer(request: VendorRequest): VendorAnswer {
    const { path, form } = request
    if (path === '/oauth2_user/authorize2')
      return this.grants.consent(request.query, '363', request.query.get('scope')!.split(','))
    if (request.method !== 'POST') return errorAnswer(2554, 'Not implemented')
    if (path === '/v2/oauth2') return this.#token(form)
    if (path === '/v2/signature') return this.#nonce(form)
    if (this.left <= 0) return errorAnswer(601, 'Too Many Requests')
    this.left--
    const held = this.grants.findBearer(request, this.now_ms)
    if (!held) return errorAnswer(401, 'XRequestID: Not provided invalid_token: The access token provided is invalid')
    const action = form.get('action') ?? ''
    if (path === '/notify') return this.#notify(held.user, action, form)
    const scope = path === '/v2/heart' ? 'user.activity' : (SCOPE_OF[action] ?? '')
    if (!held.scopes.includes(scope)) return errorAnswer(2553, 'Unauthorized')
    return this.#data(`${path} ${action}`, this.store(held.user), form)
  }

  #token(form: URLSearchParams): VendorAnswer {
    if (form.get('client_id') !== CLIENT.client_id) return errorAnswer(503, 'Invalid Params: invalid client_id')
    if (form.get('action') === 'revoke') return this.#revoke(form)
    if (form.get('action') !== 'requesttoken' || form.get('client_secret') !== CLIENT.client_secret)
      return errorAnswer(503, 'Invalid Params: invalid client secret')
    const tokens = this.grants.answerForm(form, this.now_ms)
    if (!tokens) return errorAnswer(503, `Invalid Params: invalid ${form.has('code') ? 'code' : 'refresh_token'}`)
    const { user, access_token, refresh_token, scopes } = tokens
    return good('oauth2-getaccesstoken', {
      userid: Number(user),
      access_token,
      refresh_token,
      expires_in: 10_800,
      scope: scopes.join(),
      csrf_token: 'fictional',
      token_type: 'Bearer',
    })
  }

  #nonce(form: URLSearchParams): VendorAnswer {
    const timestamp = Number(form.get('timestamp'))
    const values = ['getnonce', form.get('client_id'), form.get('timestamp')]
    if (!Number.isSafeInteger(timestamp) || form.get('signature') !== sign(values))
      return errorAnswer(342, 'The signature is invalid')
    const nonce = `nonce-${this.requests.length}`
    this.#nonces.add(nonce)
    return good('signaturev2-getnonce', { nonce })
  }

  #revoke(form: URLSearchParams): VendorAnswer {
    const nonce = form.get('nonce') ?? ''
    if (form.get('signature') !== sign(['revoke', form.get('client_id'), nonce]) || !this.#nonces.delete(nonce))
      return errorAnswer(342, 'The signature is invalid')
    this.grants.end(form.get('userid') ?? '')
    return good(undefined, {})
  }

  #notify(user: string, action: string, form: URLSearchParams): VendorAnswer {
    const [callbackurl, appli] = [form.get('callbackurl') ?? '', Number(form.get('appli'))]
    const own = this.subscriptions.filter((subscription) => subscription.user === user)
    if (action === 'list')
      return good('notify-list', {
        profiles: own.map((subscription) => ({ appli: subscription.appli, callbackurl: subscription.callbackurl, comment: '' })),
      })
    if (action !== 'subscribe' || !URL.canParse(callbackurl) || !appli) return errorAnswer(293, 'The callback URL is incorrect')
    if (!own.some((subscription) => subscription.appli === appli && subscription.callbackurl === callbackurl))
      this.subscriptions.push({ user, appli, callbackurl })
    return good('notify-subscribe', {})
  }

  #data(action: string, storedRows: Stored, form: URLSearchParams): VendorAnswer {
    const [start, end] = [Number(form.get('startdate')), Number(form.get('enddate'))]
    const isInDays = ({ date }: { date: string }) => date >= form.get('startdateymd')! && date <= form.get('enddateymd')!
    switch (action) {
      case '/measure getmeas': {
        const wanted = new Set(form.get('meastypes')?.split(',').map(Number))
        const found = storedRows.measuregrps.filter(({ date, category }) => date >= start && date <= end && category === 1)
        const { rows, more, offset } = this.#rows(found, form)
        const measuregrps = rows.map((group) => ({
          ...group,
          measures: (group.measures as { type: number }[]).filter(({ type }) => wanted.has(type)),
        }))
        return good('measure-getmeas', {
          updatetime: String(this.now_ms / 1000),
          timezone: this.zone,
          measuregrps,
          ...(more && { more: 1, offset }),
        })
      }
      case '/v2/measure getactivity': {
        const { rows, ...next } = this.#rows(storedRows.activities.filter(isInDays), form)
        return good('measurev2-getactivity', { activities: rows, ...next })
      }
      case '/v2/measure getworkouts': {
        const { rows, ...next } = this.#rows(storedRows.workouts.filter(isInDays), form)
        return good('measurev2-getworkouts', { series: rows, ...next })
      }
      case '/v2/measure getintradayactivity': {
        // Of more than a day only the first day is answered.
        const until = Math.min(end, start + 86_400)
        const series = Object.fromEntries(
          Object.entries(storedRows.intraday).filter(([at]) => Number(at) >= start && Number(at) < until),
        )
        return good('measurev2-getintradayactivity', { series })
      }
      case '/v2/heart list': {
        const found = storedRows.recordings.filter(({ timestamp }) => timestamp >= start && timestamp <= end)
        const { rows, ...next } = this.#rows(found, form)
        return good('heartv2-list', { series: rows.map(({ signal: _signal, ...row }) => row), ...next })
      }
      case '/v2/heart get': {
        const found = storedRows.recordings.find(({ ecg }) => String(ecg.signalid) === form.get('signalid'))
        if (!found) return errorAnswer(503, 'Invalid Params: invalid signalid')
        const { signal, model, heart_rate } = found
        return good('heartv2-get', { signal, sampling_frequency: 500, wearposition: 1, model, heart_rate })
      }
      case '/v2/sleep getsummary': {
        const { rows, ...next } = this.#rows(storedRows.nights.filter(isInDays), form)
        return good('sleepv2-getsummary', { series: rows, ...next })
      }
      case '/v2/sleep get':
        return good('sleepv2-get', {
          model: 16,
          series: storedRows.stages.filter((stage) => stage.enddate > start && stage.startdate < Math.min(end, start + 86_400)),
        })
      default:
        return errorAnswer(2554, 'Not implemented')
    }
  }

  #rows<R>(rows: R[], form: URLSearchParams): { rows: R[]; more: boolean; offset: number } {
    const from = Number(form.get('offset') ?? 0)
    const offset = from + this.page
    const more = rows.length > offset
    return { rows: rows.slice(from, offset), more, offset: more ? offset : 0 }
  }
}

const sign = (values: (string | null)[]): string =>
  createHmac('sha256', CLIENT.client_secret).update(values.join(',')).digest('hex')
/** An error: the status is in the body. */
const errorAnswer = (status: number, error: string): VendorAnswer => ({ status: 200, body: { status, body: {}, error } })
const good = (operation: string | undefined, body: Values): VendorAnswer => ({
  status: 200,
  body: { status: 0, body },
  ...(operation && { operation }),
})
