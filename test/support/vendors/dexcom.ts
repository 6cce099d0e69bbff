// Dexcom, version 3: refresh tokens that are used once, ranges of at most 30 days in UTC without an offset, two clocks. Written from a
// transcription of its description.
import { dexcom } from '../../../src/connections/connectors/dexcom/dexcom.ts'
import { VendorGrants } from './grants.ts'
import { CLIENT, VendorServer, type VendorAnswer, type VendorRequest } from './vendor-server.ts'

type Values = Record<string, unknown>
export interface StoredValue extends Values {
  systemTime: string
  displayTime: string
}

const instantOf = (time: string): number => Date.parse(/(Z|[+-]\d\d:\d\d)$/.test(time) ? time : `${time}Z`)

export class DexcomPeer extends VendorServer {
  protected readonly vendor = dexcom.urls
  readonly grants = new VendorGrants({ life_s: 7200, afterUse: 'dies' })
  readonly values: StoredValue[] = []
  readonly user = 'fictional-dexcom-user'
  left = 60_000

  protected answer(request: VendorRequest): VendorAnswer {
    const { path, query } = request
    if (path === '/v3/oauth2/login') return this.grants.consent(query, this.user, [query.get('scope')!])
    if (path === '/v3/oauth2/token') return this.#token(request.form)
    if (!this.grants.findBearer(request, this.now_ms)) return { status: 401, body: '' }
    if (this.left <= 0) return { status: 429, body: '' }
    this.left--
    if (path === '/v3/users/self/dataRange') return this.#dataRange()
    if (path === '/v3/users/self/egvs') return this.#egvs(query)
    return { status: 404, body: '' }
  }

  #token(form: URLSearchParams): VendorAnswer {
    if (form.get('client_id') !== CLIENT.client_id || form.get('client_secret') !== CLIENT.client_secret)
      return { status: 400, body: { error: 'invalid_client' } }
    const tokens = this.grants.answerForm(form, this.now_ms)
    if (!tokens) return { status: 400, body: { error: 'invalid_grant' } }
    const { access_token, refresh_token } = tokens
    const body = { access_token, expires_in: 7200, token_type: 'Bearer', refresh_token }
    return { status: 200, body, operation: 'postTokenV3' }
  }

  #wrapped(recordType: string, fields: Values): Values {
    return { recordType, recordVersion: '3.0', userId: this.user, ...fields }
  }

  #dataRange(): VendorAnswer {
    const sorted = this.values.toSorted((a, b) => instantOf(a.systemTime) - instantOf(b.systemTime))
    const moment = ({ systemTime, displayTime }: StoredValue) => ({ systemTime, displayTime })
    const egvs = sorted.length ? { start: moment(sorted[0]!), end: moment(sorted.at(-1)!) } : null
    const body = this.#wrapped('dataRange', { calibrations: null, egvs, events: null })
    return { status: 200, body, operation: 'getDataRangeV3' }
  }

  #egvs(query: URLSearchParams): VendorAnswer {
    const [start, end] = [query.get('startDate') ?? '', query.get('endDate') ?? '']
    const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/
    const length = instantOf(end) - instantOf(start)
    if (!form.test(start) || !form.test(end) || !(length > 0) || length > 30 * 86_400_000) return { status: 400, body: '' }
    const records = this.values
      .filter(({ systemTime }) => instantOf(systemTime) >= instantOf(start) && instantOf(systemTime) < instantOf(end))
      .toReversed()
    return { status: 200, body: this.#wrapped('egv', { records }), operation: 'getEstimatedGlucoseValuesV3' }
  }
}
