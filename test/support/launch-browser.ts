// A browser for tests of launch URLs: it follows nothing and keeps cookies only where a test does.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { hashKey } from '../../src/platform/crypto/api-keys.ts'
import { CONSOLE_HEADERS } from './console-sessions.ts'
import { cells, client, url, type TestTeam } from './server.ts'

export interface Page {
  status: number
  text: string
  location: string | null
  headers: Headers
  /** `name=value` of the cookie that was set. */
  cookie: string | undefined
}

/** Open an address, or a path of the server. */
export async function getPage(address: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Page> {
  const response = await fetch(new URL(address, url), { method, headers, redirect: 'manual' })
  return {
    status: response.status,
    text: await response.text(),
    location: response.headers.get('location'),
    headers: response.headers,
    cookie: response.headers.get('set-cookie')?.split(';')[0],
  }
}

export const APP = 'https://app.example.com'
export const CONTINUATION = `${APP}/continue?tenant=1`

/** An organization that embeds, with a member of every team. */
export async function embedding(org: TestTeam, overrides: Record<string, unknown> = {}) {
  const slug = `clinic-${randomUUID()}`
  const configuration = {
    slug,
    modalities: ['feature_embed', 'link_out'],
    origin_configs: [{ origin: APP, session_continuation_url: CONTINUATION }],
    ...overrides,
  }
  const put = await org.manage.put('/ehr_integration/configuration', configuration)
  if (put.status !== 200) throw new Error(JSON.stringify(put.body))
  return { slug, configuration, member: await member(org) }
}

export async function member(org: TestTeam, overrides: Record<string, unknown> = {}) {
  const body = { integration_member_id: randomUUID(), name: 'Testa Fictional', email: 'testa@example.com', ...overrides }
  const made = await org.manage.post('/ehr_integration/member', body)
  if (made.status !== 200) throw new Error(JSON.stringify(made.body))
  return made.body as { id: string; integration_member_id: string }
}

/** What a launch URL is asked for with. */
export const createLaunchBody = (
  org: TestTeam,
  { id }: { id: string },
  overrides: Record<string, unknown> = {},
): Record<string, unknown> => ({
  member_id: id,
  team_id: org.team,
  feature: 'team_panels',
  modality: 'link_out',
  environment: 'sandbox',
  ...overrides,
})

export const launch = (org: TestTeam, body: Record<string, unknown>) =>
  org.manage.post('/ehr_integration/create_dashboard_url', body)

/** A session that has begun: its cookie. */
export async function openSession(org: TestTeam, body: Record<string, unknown>): Promise<string> {
  const { cookie } = await getPage((await launch(org, body)).body.url)
  if (!cookie) throw new Error('no session has begun')
  return cookie
}

/** The launch URL of a launch. */
export const createLaunchUrl = async (org: TestTeam, body: Record<string, unknown>): Promise<string> =>
  (await launch(org, body)).body.url

/** The page of a session. */
export const session = (cookie: string) => getPage('/auth/session', { cookie })

/** The headers of requests of the page of a session. */
export async function launchedHeaders(cookie: string): Promise<Record<string, string>> {
  const token = cookie.slice(cookie.indexOf('=') + 1)
  const { rows } = await cells.control.pool.query<{ id: string }>(
    'select id from dashboard_session where session_token_hash = $1',
    [hashKey(token)],
  )
  return { ...CONSOLE_HEADERS, cookie, 'x-drawbridge-launch': rows[0]!.id }
}

/** A session that has begun, and requests of its page about the team. */
export async function openLaunched(org: TestTeam, body: Record<string, unknown>) {
  const cookie = await openSession(org, body)
  const headers: Record<string, string> = {
    ...(await launchedHeaders(cookie)),
    'x-drawbridge-team': org.team,
    'x-drawbridge-cell': org.cell,
  }
  const { call } = client(undefined)
  return {
    cookie,
    headers,
    call: (method: string, path: string, requestBody?: unknown, extraHeaders: Record<string, string> = {}) =>
      call(method, path, requestBody, { ...headers, ...extraHeaders }),
    get: (path: string) => call('GET', path, undefined, headers),
    post: (path: string, requestBody?: unknown) => call('POST', path, requestBody, headers),
  }
}

/** What every page forbids, and who may frame it. @param referrers its policy of referrers */
export const assertSecurityHeaders = ({ headers }: Page, ancestors = "'none'", referrers = 'no-referrer'): void => {
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.equal(headers.get('referrer-policy'), referrers)
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.match(headers.get('content-security-policy')!, /^default-src 'none'; /)
  assert(headers.get('content-security-policy')!.endsWith(`; frame-ancestors ${ancestors}`), String([...headers]))
  assert(headers.get('x-request-id'))
}
