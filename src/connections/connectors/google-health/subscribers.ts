// The subscriber of a team's project at the Google Health API. The operator's service account acts as the one that the team names in its
// credentials, which the team has allowed. Source: discovery document of v4, projects.subscribers; RFC 7523; IAM Service Account Credentials API.
import { createHash, sign } from 'node:crypto'
import { VendorError, type Connector, type VendorApp, type VendorHttp } from '../connector.ts'
import { readList, objectIn, objectOrEmpty, refusalOf, readText, type Values } from '../reading.ts'
import { bearer, withQuery } from '../tokens.ts'
import type { ServiceAccount } from '../../../settings/service-account.ts'
import { notifiedTypes } from './webhooks.ts'
import { DAY_MS } from '../../../platform/runtime/durations.ts'

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const GOOGLE = 'https://health.googleapis.com/'
/** What Google signs for: the address of its token endpoint, wherever requests are sent. */
const AUDIENCE = 'https://oauth2.googleapis.com/token'
const LIFE_S = 600
const RENEW_MS = 7 * DAY_MS
const PAGES_MAX = 20

/** Where service accounts are impersonated; with another address for the vendor, below that one. */
const credentialsUrl = ({ urls }: Pick<VendorApp, 'urls'>): string =>
  urls.api.startsWith(GOOGLE) ? 'https://iamcredentials.googleapis.com' : urls.api.replace(/\/v4$/, '')

const encodeJson = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A statement of the account, signed by it (RFC 7523). */
function createAssertion({ client_email, private_key }: ServiceAccount, now_ms: number): string {
  const iat = Math.floor(now_ms / 1000)
  const claims = { iss: client_email, scope: SCOPE, aud: AUDIENCE, iat, exp: iat + LIFE_S }
  const signed = `${encodeJson({ alg: 'RS256', typ: 'JWT' })}.${encodeJson(claims)}`
  return `${signed}.${sign('sha256', Buffer.from(signed), private_key).toString('base64url')}`
}

async function call(http: VendorHttp, method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, token: string, body?: object) {
  const headers = { ...bearer(token), ...(body && { 'content-type': 'application/json' }) }
  const answer = await http({ method, url, headers, ...(body && { body: JSON.stringify(body) }) })
  if (answer.status !== 200) throw refusalOf(answer)
  return objectIn(answer.text)
}

/** An access token of the team's service account. Errors: VendorError. */
async function teamToken(http: VendorHttp, app: VendorApp, account: ServiceAccount, email: string, now_ms: number) {
  const form = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: createAssertion(account, now_ms) }
  const own = await http({ method: 'POST', url: app.urls.token, body: form })
  if (own.status !== 200) throw refusalOf(own)
  const url = `${credentialsUrl(app)}/v1/projects/-/serviceAccounts/${encodeURIComponent(email)}:generateAccessToken`
  const body = { scope: [SCOPE], lifetime: `${LIFE_S}s` }
  const { accessToken } = await call(http, 'POST', url, tokenIn(objectIn(own.text).access_token), body)
  return tokenIn(accessToken)
}

function tokenIn(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new VendorError('unexpected')
  return value
}

/** The subscribers of a project. Errors: VendorError. */
async function listSubscribers(http: VendorHttp, base: string, token: string): Promise<Values[]> {
  const found: Values[] = []
  let pageToken: string | null = null
  for (let page = 0; page < PAGES_MAX; page++) {
    const query: Record<string, string> = { pageSize: '1000', ...(pageToken !== null && { pageToken }) }
    const answer: Values = await call(http, 'GET', withQuery(base, query), token)
    found.push(...readList(answer.subscribers))
    pageToken = readText(answer.nextPageToken)
    if (pageToken === null) return found
  }
  throw new VendorError('unexpected')
}

/** Errors: VendorError, if the operation has failed: Google could not verify the address, for example. */
const assertSucceeded = ({ error }: Values): void => {
  if (error !== undefined && error !== null) throw new VendorError('unexpected')
}

const hasAllTypes = ({ subscriberConfigs }: Values): boolean => {
  const types = readList(subscriberConfigs).flatMap(({ dataTypes }) => (Array.isArray(dataTypes) ? (dataTypes as unknown[]) : []))
  return notifiedTypes.every((type) => types.includes(type))
}

/**
 * Makes the subscriber of a team's project, completes its types of data, and deletes those of this address that have another authorization.
 * Does nothing without the operator's account, or if the credentials name no service account: then the team registers the address.
 * Errors: VendorError.
 */
export const subscribe: NonNullable<Connector['subscribe']> = async (
  http,
  app,
  { callback_url, verify_token, now_ms, googleAccount },
) => {
  const { project_number, service_account_email } = objectOrEmpty(app.details)
  const [project, email] = [readText(project_number), readText(service_account_email)]
  if (!googleAccount || project === null || email === null) return { renew_at_ms: null }
  const token = await teamToken(http, app, googleAccount, email, now_ms)
  const base = `${app.urls.api}/projects/${encodeURIComponent(project)}/subscribers`
  const secret = `Bearer ${verify_token}`
  // The secret cannot be read back: the id says which one a subscriber has.
  const subscriberId = `drawbridge-${createHash('sha256').update(`${callback_url} ${secret}`).digest('hex').slice(0, 20)}`
  const ofHere = (await listSubscribers(http, base, token)).filter(({ endpointUri }) => endpointUri === callback_url)
  const known = ofHere.find(({ name }) => readText(name)?.endsWith(`/${subscriberId}`))
  const subscriberConfigs = [{ dataTypes: notifiedTypes, subscriptionCreatePolicy: 'AUTOMATIC' }]
  if (!known) {
    const made = { endpointUri: callback_url, endpointAuthorization: { secret }, subscriberConfigs }
    assertSucceeded(await call(http, 'POST', withQuery(base, { subscriberId }), token, made))
  } else if (!hasAllTypes(known))
    assertSucceeded(
      await call(http, 'PATCH', withQuery(`${base}/${subscriberId}`, { updateMask: 'subscriberConfigs' }), token, {
        subscriberConfigs,
      }),
    )
  for (const { name } of ofHere) {
    const id = readText(name)?.split('/').at(-1)
    if (id && id !== subscriberId)
      assertSucceeded(await call(http, 'DELETE', withQuery(`${base}/${encodeURIComponent(id)}`, { force: 'true' }), token))
  }
  return { renew_at_ms: now_ms + RENEW_MS }
}
