import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { CONSOLE_HEADERS, createMember } from '../../../test/support/console-sessions.ts'
import { CLIENT, followIssuer, forgingIssuer, realIssuer, type Forgery } from '../../../test/support/openid-issuer.ts'
import { freePort } from '../../../test/support/free-ports.ts'
import { assembleProcess, cells, createTestTeam, settings, type TestTeam } from '../../../test/support/server.ts'
import type { OidcSettings } from '../../settings/config.ts'

/** A server of its own that knows the issuer. */
async function serverWith(issuer: string, changes: Partial<OidcSettings> = {}) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const oidc = { issuer, ...CLIENT, label: 'Fictional', allowed_domains: [], role_claim: undefined, roles: new Map(), ...changes }
  const { app } = assembleProcess({ settings: { ...settings, oidc }, publicUrl: () => url })
  await app.listen({ port, host: '127.0.0.1' })
  after(() => app.close())
  const get = (path: string, cookie = '') => fetch(url + path, { redirect: 'manual', headers: { cookie } })
  const cookieOf = (response: Response, name: string) =>
    response.headers
      .getSetCookie()
      .map((text) => text.split(';')[0]!)
      .find((text) => text.startsWith(`${name}=`) && !text.endsWith('=')) ?? ''
  return {
    url,
    /** The way to the issuer: its address, and the cookie for the way back. */
    async leave(returnTo = '/console/orders') {
      const response = await get(`/console/api/sign-in/oidc?return_to=${encodeURIComponent(returnTo)}`)
      assert.equal(response.status, 302)
      return { location: response.headers.get('location')!, cookie: cookieOf(response, 'drawbridge_sign_in') }
    },
    async comeBack(parameters: URLSearchParams, cookie: string) {
      const response = await get(`/console/api/sign-in/oidc/callback?${parameters}`, cookie)
      assert.equal(response.status, 303)
      return { location: response.headers.get('location')!, cookie: cookieOf(response, 'drawbridge_session') }
    },
    session: async (cookie: string) =>
      (await fetch(`${url}/console/api/session`, { headers: { ...CONSOLE_HEADERS, cookie } })).json() as Promise<{
        member: { id: string; email: string }
        role: string
        teams: { role: string }[]
      }>,
    signOut: async (cookie: string) =>
      (
        await fetch(`${url}/console/api/sign-out`, { method: 'POST', headers: { ...CONSOLE_HEADERS, origin: url, cookie } })
      ).json() as Promise<{ logout_url: string | null }>,
  }
}

/** A member whom the issuer knows. */
async function memberWith(email: string, team?: TestTeam) {
  const member = await createMember(team ?? (await createTestTeam()))
  await cells.control.pool.query('update member set email = $2 where id = $1', [member.id, email])
  return { ...member, email }
}

const FAILED = '/console/sign-in?error=oidc_failed'
const REFUSED = '/console/sign-in?error=oidc_refused'

describe('signing in through a real issuer', () => {
  test('leads to the page that was asked for, with a session of the member with the address', async () => {
    const port = await freePort()
    const person = { email: `testa-${randomUUID()}@example.com` }
    const member = await memberWith(person.email)
    const redirectUri = `http://127.0.0.1:${port}/console/api/sign-in/oidc/callback`
    const issuer = await realIssuer(redirectUri, person)
    const oidc = {
      issuer: issuer.url,
      ...CLIENT,
      label: 'Fictional',
      allowed_domains: ['example.com'],
      role_claim: undefined,
      roles: new Map(),
    }
    const url = `http://127.0.0.1:${port}`
    const { app } = assembleProcess({ settings: { ...settings, oidc }, publicUrl: () => url })
    await app.listen({ port, host: '127.0.0.1' })
    after(() => app.close())
    const options = (await (await fetch(`${url}/console/api/sign-in`)).json()) as { methods: { oidc: unknown } }
    assert.deepEqual(options.methods.oidc, { label: 'Fictional' })
    const start = await fetch(`${url}/console/api/sign-in/oidc?return_to=/console/orders`, { redirect: 'manual' })
    const way = new URL(start.headers.get('location')!)
    assert.deepEqual([way.searchParams.get('code_challenge_method'), way.searchParams.get('response_type')], ['S256', 'code'])
    const back = await followIssuer(way.href, issuer.url)
    assert.equal(back.origin + back.pathname, redirectUri)
    const cookie = start.headers.getSetCookie()[0]!.split(';')[0]!
    const end = await fetch(back, { redirect: 'manual', headers: { cookie } })
    assert.deepEqual([end.status, end.headers.get('location')], [303, '/console/orders'])
    const session = end.headers.getSetCookie()[0]!.split(';')[0]!
    const body = (await (
      await fetch(`${url}/console/api/session`, { headers: { ...CONSOLE_HEADERS, cookie: session } })
    ).json()) as {
      member: { id: string }
    }
    assert.equal(body.member.id, member.id)
    // Neither the address nor the code is accepted again.
    const again = await fetch(back, { redirect: 'manual', headers: { cookie } })
    assert.equal(again.headers.get('location'), FAILED)
  })
})

describe('what an issuer answers', async () => {
  const issuer = await forgingIssuer()
  const server = await serverWith(issuer.url)
  const member = await memberWith(issuer.email)
  const signIn = async (forgery: Forgery = {}) => {
    issuer.forge(forgery)
    const { location, cookie } = await server.leave()
    return server.comeBack(issuer.signIn(location), cookie)
  }
  const now_s = () => Math.floor(Date.now() / 1000)

  test('signs the member in, and the subject goes on naming the member when the address changes', async () => {
    const { location, cookie } = await signIn()
    assert.equal(location, '/console/orders')
    assert.equal((await server.session(cookie)).member.id, member.id)
    const other = await signIn({ claims: { email: `testa-${randomUUID()}@example.com` } })
    assert.equal((await server.session(other.cookie)).member.id, member.id)
  })

  const wrong: [what: string, forgery: () => Forgery][] = [
    ['another nonce', () => ({ claims: { nonce: 'another' } })],
    ['another audience', () => ({ claims: { aud: 'another' } })],
    ['another issuer', () => ({ claims: { iss: 'https://elsewhere.example' } })],
    ['an end five minutes ago', () => ({ claims: { iat: now_s() - 600, exp: now_s() - 300 } })],
    ['the signature of a key that is not published', () => ({ hasOtherKey: true })],
  ]
  for (const [what, forgery] of wrong)
    test(`is refused with ${what}`, async () => {
      const { location, cookie } = await signIn(forgery())
      assert.deepEqual([location, cookie], [FAILED, ''])
    })

  test('is accepted from a clock that differs by half a minute', async () => {
    for (const claims of [{ iat: now_s() + 30 }, { iat: now_s() - 90, exp: now_s() - 30 }])
      assert.equal((await signIn({ claims })).location, '/console/orders')
  })

  test('is accepted with the first key after a rotation', async () => {
    assert.equal((await signIn()).location, '/console/orders')
    issuer.rotateKey()
    assert.equal((await signIn()).location, '/console/orders')
  })

  test('is refused with another state, without the cookie, and a second time', async () => {
    issuer.forge({})
    const first = await server.leave()
    const other = await server.leave()
    const crossed = issuer.signIn(first.location)
    assert.equal((await server.comeBack(crossed, other.cookie)).location, FAILED)
    const second = await server.leave()
    assert.equal((await server.comeBack(issuer.signIn(second.location), '')).location, FAILED)
    const parameters = issuer.signIn(second.location)
    assert.equal((await server.comeBack(parameters, second.cookie)).location, '/console/orders')
    assert.equal((await server.comeBack(parameters, second.cookie)).location, FAILED)
  })

  test('is refused for an address that is not verified, that no member has, or that another subject has', async () => {
    assert.equal((await signIn({ claims: { sub: randomUUID(), email_verified: false } })).location, REFUSED)
    assert.equal((await signIn({ claims: { sub: randomUUID(), email: `testa-${randomUUID()}@example.com` } })).location, REFUSED)
    assert.equal((await signIn({ claims: { sub: randomUUID() } })).location, REFUSED)
  })

  test('leads to pages of this console and nowhere else', async () => {
    issuer.forge({})
    const places: [asked: string, led: string][] = [
      ['/console/t/sandbox-us/orders?status=x', '/console/t/sandbox-us/orders?status=x'],
      ['https://elsewhere.example/console', '/console'],
      ['//elsewhere.example/console', '/console'],
      ['/\\elsewhere.example/console', '/console'],
      ['/console/../docs', '/console'],
      ['/console/api/sign-out', '/console'],
      ['/consolence', '/console'],
      ['/console\r\nset-cookie: a=b', '/console'],
      ['javascript:alert(1)', '/console'],
      ['https:elsewhere.example/console', '/console'],
      ['https:/elsewhere.example/console', '/console'],
      ['\t//elsewhere.example/console', '/console'],
      ['/\t/elsewhere.example/console', '/console'],
      ['/\n/elsewhere.example/console', '/console'],
      [' //elsewhere.example/console', '/console'],
      ['///elsewhere.example/console', '/console'],
      ['/%2felsewhere.example/console', '/console'],
      ['%2f%2felsewhere.example/console', '/console'],
      ['/console/%2e%2e/%2felsewhere.example', '/console'],
      ['/console/../../%5celsewhere.example', '/console'],
      ['/console@elsewhere.example', '/console'],
      ['.elsewhere.example/console', '/console'],
      ['@elsewhere.example/console', '/console'],
      ['/auth/session', '/console'],
      ['data:text/html,x', '/console'],
      ['/console//elsewhere.example', '/console//elsewhere.example'],
    ]
    for (const [asked, led] of places) {
      const { location, cookie } = await server.leave(asked)
      assert.equal((await server.comeBack(issuer.signIn(location), cookie)).location, led, asked)
    }
  })

  test('is followed by the page of the issuer that ends its session, after signing out', async () => {
    const { cookie } = await signIn()
    const { logout_url } = await server.signOut(cookie)
    const page = new URL(logout_url!)
    assert.equal(page.origin + page.pathname, `${issuer.url}/end`)
    assert.equal(page.searchParams.get('post_logout_redirect_uri'), `${server.url}/console`)
  })
})

describe('the settings of an issuer', () => {
  test('limit the domains of addresses', async () => {
    const issuer = await forgingIssuer()
    const server = await serverWith(issuer.url, { allowed_domains: ['elsewhere.example'] })
    await memberWith(issuer.email)
    const { location, cookie } = await server.leave()
    assert.equal((await server.comeBack(issuer.signIn(location), cookie)).location, REFUSED)
  })

  test('map a claim to a role, which applies at each sign-in and makes a member of a person who is none', async () => {
    const issuer = await forgingIssuer()
    const roles = new Map([
      ['lab-admins', 'org_admin'],
      ['lab-readers', 'viewer'],
    ])
    const server = await serverWith(issuer.url, { role_claim: 'groups', roles })
    const signIn = async (groups: unknown) => {
      issuer.forge({ claims: { groups } })
      const { location, cookie } = await server.leave()
      const end = await server.comeBack(issuer.signIn(location), cookie)
      return { ...end, session: end.cookie ? await server.session(end.cookie) : undefined }
    }
    assert.equal((await signIn(['others'])).location, REFUSED)
    const viewer = await signIn(['others', 'lab-readers'])
    assert.equal(viewer.session!.role, 'team_admin')
    assert(viewer.session!.teams.length > 0 && viewer.session!.teams.every(({ role }) => role === 'viewer'))
    assert.equal((await signIn('lab-admins')).session!.role, 'org_admin')
  })

  test('without an answer of the issuer lead back to the sign-in page', async () => {
    const { url } = await serverWith(`http://127.0.0.1:${await freePort()}`)
    const response = await fetch(`${url}/console/api/sign-in/oidc`, { redirect: 'manual' })
    assert.deepEqual([response.status, response.headers.get('location')], [303, '/console/sign-in?error=oidc_unavailable'])
  })
})
