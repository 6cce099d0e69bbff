// The Google Health API: Google's OAuth, points with filters and page tokens, days added up, quota errors, and notifications with a registered
// authorization and a signature in the form of Tink. Written from its public description.
import { createHash, generateKeyPairSync, sign, verify, type KeyObject } from 'node:crypto'
import { googleHealth } from '../../../src/connections/connectors/google-health/google-health.ts'
import { redirectWithCode, VendorGrants } from './grants.ts'
import { CLIENT, VendorServer, type VendorAnswer, type VendorRequest } from './vendor-server.ts'

type Values = Record<string, unknown>
const camel = (name: string) => name.replace(/[-_]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
const scopeOf = (type: string): string => {
  if (type === 'electrocardiogram') return 'ecg'
  if (type === 'sleep') return 'sleep'
  if (type === 'irregular-rhythm-notification') return 'irn'
  if (type === 'nutrition-log' || type === 'hydration-log') return 'nutrition'
  const ofActivity = ['steps', 'distance', 'floors', 'exercise', 'active-energy-burned', 'basal-energy-burned', 'vo2-max']
  return [...ofActivity, 'active-minutes', 'total-calories', 'sedentary-period'].includes(type)
    ? 'activity_and_fitness'
    : 'health_metrics_and_measurements'
}
/** A value inside a point: `heart_rate.sample_time.physical_time`. */
const valueAt = (point: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((node, name) => (node as Values | undefined)?.[camel(name)], point)

/** A civil time or a date as a text that can be compared. */
function comparable(value: unknown): string {
  if (typeof value === 'string') return new Date(value).toISOString()
  const { date, time, ...own } = value as Values
  const { year, month, day } = (date ?? own) as Record<string, number>
  const { hours = 0, minutes = 0 } = (time ?? {}) as Record<string, number>
  const two = (part: number) => String(part).padStart(2, '0')
  const shown = `${year}-${two(month!)}-${two(day!)}`
  return date === undefined ? shown : `${shown}T${two(hours)}:${two(minutes)}`
}

interface SigningKey {
  id: number
  publicKey: KeyObject
  privateKey: KeyObject
}

export class GoogleHealthPeer extends VendorServer {
  protected readonly vendor = googleHealth.urls
  /** While the application is in testing a refresh token lives for seven days; a refresh brings no new one. */
  readonly grants = new VendorGrants({ life_s: 3599, afterUse: 'stays' })
  /** By type of data. */
  readonly points = new Map<string, Values[]>()
  /** TCX, by exercise. */
  readonly tracks = new Map<string, string>()
  readonly rollUps = new Map<string, Values[]>()
  readonly #challenges = new Map<string, string>()
  readonly health_user_id = '4503599627370497'
  left = 300
  /** Points on a page, at most. */
  page = 2
  readonly keys: SigningKey[] = [signingKey(3_141_592_653)]
  /** The operator's service account, and those that it may act as. */
  readonly operator = generateKeyPairSync('rsa', { modulusLength: 2048 })
  readonly operator_email = 'drawbridge@operator.example'
  readonly actsAs = new Set<string>()
  /** By name. */
  readonly subscribers = new Map<string, Values>()

  protected answer(request: VendorRequest): VendorAnswer | Promise<VendorAnswer> {
    const { path } = request
    if (path === '/o/oauth2/v2/auth') return this.#consent(request)
    if (path === '/token' && request.form.has('assertion')) return this.#accountToken(request.form.get('assertion')!)
    if (path === '/token') return this.#token(request.form)
    if (path.startsWith('/v1/projects/-/serviceAccounts/')) return this.#impersonate(request)
    if (path.startsWith('/v4/projects/')) return this.#subscriber(request)
    if (path === '/revoke') return this.#revoke(request.form.get('token') ?? '')
    if (path === '/googlehealthapi/webhooks/webhooks_public_keyset.json') return { status: 200, body: this.#keyset() }
    const held = this.grants.findBearer(request, this.now_ms)
    if (!held) return fault(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.')
    if (this.left <= 0) return fault(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', { 'retry-after': '60' })
    this.left--
    if (path === '/v4/users/me/identity') {
      const body = { name: 'users/me/identity', healthUserId: this.health_user_id, legacyUserId: 'A1B2C3' }
      return { status: 200, body, operation: 'health.users.getIdentity' }
    }
    const exported = /^\/v4\/users\/me\/dataTypes\/exercise\/dataPoints\/([^/]+):exportExerciseTcx$/.exec(path)
    if (exported) return this.#track(exported[1]!, held.scopes, request.query)
    const [, type, method] = /^\/v4\/users\/me\/dataTypes\/([a-z0-9-]+)\/dataPoints(:dailyRollUp)?$/.exec(path) ?? []
    if (!type) return fault(404, 'NOT_FOUND', 'Not found.')
    if (!held.scopes.some((scope) => scope.includes(`googlehealth.${scopeOf(type)}.`)))
      return fault(403, 'PERMISSION_DENIED', 'Request had insufficient authentication scopes.')
    return method ? this.#rollUp(type, request.body) : this.#list(type, request.query)
  }

  #consent({ query }: VendorRequest): VendorAnswer {
    const challenge = query.get('code_challenge') ?? undefined
    return redirectWithCode(query, this.agree(query.get('scope')!.split(' '), query.get('redirect_uri')!, challenge))
  }

  /** What the account has signed is exchanged for a token of the account (RFC 7523). */
  #accountToken(assertion: string): VendorAnswer {
    const [head = '', claims = '', signature = ''] = assertion.split('.')
    const said = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>
    const isSigned = verify(
      'sha256',
      Buffer.from(`${head}.${claims}`),
      this.operator.publicKey,
      Buffer.from(signature, 'base64url'),
    )
    const now_s = this.now_ms / 1000
    const isSound = said.iss === this.operator_email && said.aud === 'https://oauth2.googleapis.com/token'
    if (!isSigned || !isSound || Number(said.iat) > now_s + 1 || Number(said.exp) <= now_s)
      return { status: 400, body: { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' } }
    return { status: 200, body: { access_token: 'token-of-the-operator', expires_in: 3599, token_type: 'Bearer' } }
  }

  /** A token of another account, which has allowed it. */
  #impersonate({ path, headers }: VendorRequest): VendorAnswer {
    const email = decodeURIComponent(/serviceAccounts\/([^/]+):generateAccessToken$/.exec(path)?.[1] ?? '')
    if (headers.authorization !== 'Bearer token-of-the-operator' || !this.actsAs.has(email))
      return fault(403, 'PERMISSION_DENIED', "Permission 'iam.serviceAccounts.getAccessToken' denied on resource.")
    return { status: 200, body: { accessToken: `token-of ${email}`, expireTime: new Date(this.now_ms + 600_000).toISOString() } }
  }

  async #subscriber({ method, path, headers, query, body }: VendorRequest): Promise<VendorAnswer> {
    if (!headers.authorization?.startsWith('Bearer token-of ')) return fault(401, 'UNAUTHENTICATED', 'Unauthenticated.')
    const base = path.slice('/v4/'.length)
    if (method === 'GET') {
      const all = [...this.subscribers].filter(([name]) => name.startsWith(`${base}/`))
      const start = Number(query.get('pageToken')?.replace(/^page-/, '') ?? 0)
      const subscribers = all.slice(start, start + this.page).map(([name, one]) => {
        return { name, ...one, endpointAuthorization: { secretSet: true }, state: 'ACTIVE' }
      })
      const more = start + this.page < all.length && { nextPageToken: `page-${start + this.page}` }
      return { status: 200, body: { subscribers, totalSize: all.length, ...more }, operation: 'health.projects.subscribers.list' }
    }
    const done = { name: 'operations/1', done: true, response: {} }
    if (method === 'DELETE') {
      this.subscribers.delete(base)
      return { status: 200, body: done, operation: 'health.projects.subscribers.delete' }
    }
    const sent = JSON.parse(body) as Values
    if (method === 'PATCH') {
      const known = this.subscribers.get(base)
      if (!known || query.get('updateMask') !== 'subscriberConfigs') return fault(400, 'INVALID_ARGUMENT', 'Invalid.')
      this.subscribers.set(base, { ...known, subscriberConfigs: sent.subscriberConfigs })
      return { status: 200, body: done, operation: 'health.projects.subscribers.patch' }
    }
    const { endpointAuthorization, ...shown } = sent as Values & {
      endpointAuthorization: { secret: string }
      endpointUri: string
    }
    const { secret } = endpointAuthorization
    const probe = async (overrides: Record<string, string>) => {
      const headers = { 'content-type': 'application/json', ...overrides }
      return (await fetch(shown.endpointUri, { method: 'POST', headers, body: '{"type":"verification"}' })).status
    }
    const isVerified = (await probe({ authorization: secret })) === 201 && [401, 403].includes(await probe({}))
    if (!isVerified || !/^(Bearer|Basic) /.test(secret)) {
      const error = { code: 9, message: 'The endpoint could not be verified.' }
      return { status: 200, body: { name: 'operations/1', done: true, error }, operation: 'health.projects.subscribers.create' }
    }
    this.subscribers.set(`${base}/${query.get('subscriberId')}`, shown)
    return { status: 200, body: done, operation: 'health.projects.subscribers.create' }
  }

  agree(scopes: string[], redirect_uri: string, code_challenge?: string): string {
    const code = this.grants.agree(this.health_user_id, scopes, redirect_uri)
    if (code_challenge !== undefined) this.#challenges.set(code, code_challenge)
    return code
  }

  #token(form: URLSearchParams): VendorAnswer {
    if (form.get('client_id') !== CLIENT.client_id || form.get('client_secret') !== CLIENT.client_secret)
      return { status: 401, body: { error: 'invalid_client', error_description: 'The OAuth client was not found.' } }
    const challenge = this.#challenges.get(form.get('code') ?? '')
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isRefresh = form.get('grant_type') === 'refresh_token'
    const isProven = isRefresh || challenge === undefined || challenge === verifier
    const tokens = isProven ? this.grants.answerForm(form, this.now_ms) : undefined
    if (!tokens) return { status: 400, body: { error: 'invalid_grant', error_description: 'Token has been expired or revoked.' } }
    const { access_token, refresh_token, scopes } = tokens
    const more = isRefresh ? {} : { refresh_token }
    return { status: 200, body: { access_token, expires_in: 3599, ...more, scope: scopes.join(' '), token_type: 'Bearer' } }
  }

  #revoke(token: string): VendorAnswer {
    if (!this.grants.refresh(token, this.now_ms)) return { status: 400, body: { error: 'invalid_token' } }
    this.grants.end(this.health_user_id)
    return { status: 200, body: {} }
  }

  #list(type: string, query: URLSearchParams): VendorAnswer {
    // Of electrocardiograms only the beginning can be filtered, and only from an instant on.
    const form =
      type === 'electrocardiogram'
        ? /^(electrocardiogram\.interval\.start_time) >= "([^"]+)"$/
        : /^([a-z0-9_.]+) >= "([^"]+)" AND \1 < "([^"]+)"$/
    const filter = form.exec(query.get('filter') ?? '')
    if (!filter) return fault(400, 'INVALID_ARGUMENT', 'Invalid filter.')
    const [, field, from, to = '9999'] = filter as unknown as string[]
    const isIn = (point: Values) => {
      const value = comparable(valueAt(point, field!))
      return value >= from! && value < to
    }
    const found = (this.points.get(type) ?? []).filter(isIn)
    const start = Number(query.get('pageToken')?.replace(/^page-/, '') ?? 0)
    const end = start + Math.min(this.page, Number(query.get('pageSize')))
    const more = end < found.length && { nextPageToken: `page-${end}` }
    return {
      status: 200,
      body: { dataPoints: found.slice(start, end), ...more },
      operation: 'health.users.dataTypes.dataPoints.list',
    }
  }

  /** The track of an exercise needs two scopes. */
  #track(id: string, scopes: string[], query: URLSearchParams): VendorAnswer {
    if (!['activity_and_fitness', 'location'].every((name) => scopes.some((scope) => scope.includes(`.${name}.`))))
      return fault(403, 'PERMISSION_DENIED', 'Request had insufficient authentication scopes.')
    const tcx = this.tracks.get(id)
    if (tcx === undefined) return fault(404, 'NOT_FOUND', 'Not found.')
    if (query.get('alt') !== 'media') return { status: 200, body: { tcxData: tcx } }
    return { status: 200, body: tcx }
  }

  #rollUp(type: string, body: string): VendorAnswer {
    const { range, windowSizeDays } = JSON.parse(body) as { range: { start: Values; end: Values }; windowSizeDays: number }
    const [from, to] = [comparable(range.start), comparable(range.end)]
    const days = (Date.parse(`${to}Z`) - Date.parse(`${from}Z`)) / 86_400_000
    const days_max = ['heart-rate', 'active-minutes', 'total-calories'].includes(type) ? 14 : 90
    if (windowSizeDays !== 1 || !(days > 0) || days > days_max) return fault(400, 'INVALID_ARGUMENT', 'The range is too long.')
    const rollupDataPoints = (this.rollUps.get(type) ?? []).filter(({ civilStartTime }) => {
      const start = comparable(civilStartTime)
      return start >= from && start < to
    })
    return { status: 200, body: { rollupDataPoints }, operation: 'health.users.dataTypes.dataPoints.dailyRollUp' }
  }

  /** As Tink writes a keyset as JSON. */
  #keyset(): Values {
    return {
      primaryKeyId: this.keys.at(-1)!.id,
      key: this.keys.map(({ id, publicKey }) => ({
        keyData: {
          typeUrl: 'type.googleapis.com/google.crypto.tink.EcdsaPublicKey',
          value: ecdsaMessage(publicKey).toString('base64'),
          keyMaterialType: 'ASYMMETRIC_PUBLIC',
        },
        status: 'ENABLED',
        keyId: id,
        outputPrefixType: 'TINK',
      })),
    }
  }

  rotate(): void {
    this.keys.push(signingKey(this.keys.at(-1)!.id + 1))
  }

  /** A notification, signed with the newest key. */
  notification(dataType: string, startTime: string, endTime: string, authorization: string) {
    const body = JSON.stringify({
      data: {
        version: '1',
        clientProvidedSubscriptionName: 'subscriptions/fictional',
        healthUserId: this.health_user_id,
        operation: 'UPSERT',
        dataType,
        intervals: [{ physicalTimeInterval: { startTime, endTime } }],
      },
    })
    const { id, privateKey } = this.keys.at(-1)!
    const prefix = Buffer.alloc(5, 1)
    prefix.writeUInt32BE(id, 1)
    const signature = Buffer.concat([prefix, sign('sha256', Buffer.from(body), { key: privateKey, dsaEncoding: 'der' })])
    const headers = {
      authorization,
      'content-type': 'application/json',
      'google-health-api-signature': signature.toString('base64'),
    }
    return { body, headers }
  }
}

function signingKey(id: number): SigningKey {
  return { id, ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) }
}

/** An EcdsaPublicKey of Tink: version, parameters (SHA-256, P-256, DER), and coordinates with a zero before them. */
function ecdsaMessage(publicKey: KeyObject): Buffer {
  const { x, y } = publicKey.export({ format: 'jwk' })
  const bytes = (number: number, value: Buffer) => Buffer.concat([Buffer.from([(number << 3) | 2, value.length]), value])
  const coordinate = (value: string) => Buffer.concat([Buffer.from([0]), Buffer.from(value, 'base64url')])
  const params = Buffer.from([1 << 3, 3, 2 << 3, 2, 3 << 3, 2])
  return Buffer.concat([Buffer.from([1 << 3, 0]), bytes(2, params), bytes(3, coordinate(x!)), bytes(4, coordinate(y!))])
}

const fault = (code: number, status: string, message: string, headers: Record<string, string> = {}): VendorAnswer => ({
  status: code,
  body: { error: { code, message, status } },
  headers,
})
