import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import {
  CONSOLE_HEADERS,
  createDemoMember,
  createMember,
  sessionHeaders,
  sessionToken,
  signedIn,
} from '../../../test/support/console-sessions.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { access, assembleProcess, cells, client, createTestTeam, expire, settings, url } from '../../../test/support/server.ts'
import { sessionCleanup } from './sessions.ts'

const anybody = client(undefined)
const cookieOf = (reply: { headers: Headers }): string => reply.headers.getSetCookie()[0]!.split(';')[0]!

describe('a session', () => {
  test('shows its member, teams and permissions, and reaches the operations of teams and of the organization', async () => {
    const team = await createTestTeam()
    const member = await createMember(team)
    const page = await signedIn(team, member)
    const { status, body } = await page.get('/console/api/session')
    assert.equal(status, 200)
    assert.deepEqual(body.member, { id: member.id, name: 'Testa Fictional', email: member.email })
    assert.deepEqual(body.teams, [{ id: team.team, name: 'Test team', region: 'us', role: 'administrator' }])
    assert(body.permissions.administrator.production.includes('create_order'))
    assert(body.org_permissions.includes('update_member'))
    assert.equal((await page.get('/v2/user')).status, 200)
    assert.equal((await page.get(`/v1/org/${team.org_id}`)).status, 200)
    assert.equal((await page.get(`/v1/org/${randomUUID()}`)).status, 403)
  })

  test('needs the console header and, in addition to the cookie, nothing else to read', async () => {
    const team = await createTestTeam()
    const { headers, get } = await signedIn(team, await createMember(team))
    assert.equal((await get('/v2/user')).status, 200)
    const { 'x-drawbridge-console': _, ...withoutHeader } = headers
    assert.equal((await anybody.get('/v2/user', withoutHeader)).status, 401)
    assert.equal((await anybody.get('/console/api/session', withoutHeader)).status, 401)
    const { origin: _origin, ...withoutOrigin } = headers
    assert.equal((await anybody.get('/v2/user', withoutOrigin)).status, 200)
  })

  test('changes nothing without the header, or for a page of another origin', async () => {
    const team = await createTestTeam()
    const { headers, post } = await signedIn(team, await createMember(team))
    const users = async () => (await team.api.get('/v2/user')).body.total
    const { 'x-drawbridge-console': _, ...withoutHeader } = headers
    const { origin: _origin, ...withoutOrigin } = headers
    const refused: Record<string, string>[] = [
      withoutHeader,
      withoutOrigin,
      { ...headers, origin: 'https://elsewhere.example' },
      { ...headers, origin: 'null' },
      { ...headers, origin: `${url}.elsewhere.example` },
    ]
    for (const sent of refused) {
      const reply = await anybody.post('/v2/user', { client_user_id: randomUUID() }, sent)
      assert.deepEqual([reply.status, typeof reply.body.detail], [403, 'string'])
      assert.equal((await anybody.patch(`/v1/org/${team.org_id}`, { name: 'Stolen' }, sent)).status, 403)
      assert.equal((await anybody.post('/console/api/sign-out', {}, sent)).status, 403)
    }
    assert.equal(await users(), 0)
    assert.equal((await post('/v2/user', { client_user_id: randomUUID() })).status, 200)
    assert.equal(await users(), 1)
  })

  test('is not a key, and a request with a key in addition is refused', async () => {
    const team = await createTestTeam()
    const { headers, token } = await signedIn(team, await createMember(team))
    for (const name of ['x-service-api-key', 'x-management-key', 'x-vital-org-key', 'authorization']) {
      assert.equal((await anybody.get('/v2/user', { ...headers, [name]: team.key })).status, 401, name)
      assert.equal((await anybody.get('/v2/user', { [name]: token })).status, 401, name)
    }
    // The page of the API sends a key, and the browser adds the cookie by itself.
    const byKey = { 'x-service-api-key': team.key, cookie: headers.cookie! }
    assert.equal((await anybody.post('/v2/user', { client_user_id: randomUUID() }, byKey)).status, 200)
  })

  test('names the team and the cell of each operation of teams, and finds no other team', async () => {
    const team = await createTestTeam()
    const other = await createTestTeam()
    const page = await signedIn(team, await createMember(team))
    const status = async (headers: Record<string, string>) => (await page.call('GET', '/v2/user', undefined, headers)).status
    assert.equal(await status({ 'x-drawbridge-team': other.team }), 404)
    assert.equal(await status({ 'x-drawbridge-cell': 'production-eu' }), 404)
    assert.equal(await status({ 'x-drawbridge-cell': 'production-us' }), 404)
    assert.equal(await status({ 'x-drawbridge-cell': 'elsewhere' }), 422)
    assert.equal(await status({ 'x-drawbridge-team': 'nonsense' }), 422)
    const { body } = await anybody.get('/v2/user', sessionHeaders(page.token))
    assert.deepEqual(
      body.detail.map(({ loc }: { loc: unknown }) => loc),
      [
        ['header', 'X-Drawbridge-Team'],
        ['header', 'X-Drawbridge-Cell'],
      ],
    )
  })

  test('of a member of one team does not find the other teams of the organization', async () => {
    const team = await createTestTeam()
    const other = (await team.manage.post('/team', { name: 'Other', region: 'us' })).body.id
    const page = await signedIn(team, await createMember(team, 'viewer'))
    assert.equal((await page.get('/v2/user')).status, 200)
    assert.equal((await page.call('GET', '/v2/user', undefined, { 'x-drawbridge-team': other })).status, 404)
    assert.deepEqual(
      (await page.get(`/v1/org/${team.org_id}/team`)).body.teams.map(({ id }: { id: string }) => id),
      [team.team],
    )
  })

  test('of a member without a role reaches no team', async () => {
    const team = await createTestTeam()
    const page = await signedIn(team, await createMember(team, 'no_role'))
    const { status, body } = await page.get('/console/api/session')
    assert.deepEqual([status, body.teams, body.permissions, body.org_permissions], [200, [], {}, []])
    assert.equal((await page.get('/v2/user')).status, 404)
    assert.equal((await page.get(`/v1/org/${team.org_id}/team`)).status, 403)
  })

  test('is named with its member in the access log and in the audit log', async () => {
    const team = await createTestTeam()
    const member = await createMember(team)
    const page = await signedIn(team, member)
    const { session_id } = (await page.get('/console/api/session')).body
    const { user_id } = (await page.post('/v2/user', { client_user_id: randomUUID() })).body
    await page.call('PATCH', `/v1/org/${team.org_id}`, { name: 'Renamed' })
    await access.flush()
    const lines = (await team.manage.get(`/team/${team.team}/sandbox/access_log?user_id=${user_id}`)).body.data
    assert.deepEqual(
      lines.map(({ key_id, member_id, operation }: Record<string, unknown>) => [key_id, member_id, operation]),
      [[`session:${session_id}`, member.id, 'create_user']],
    )
    const audit = (await team.manage.get('/audit')).body.data
    assert.deepEqual(
      audit.map(({ key_id, member_id, operation, object }: Record<string, unknown>) => [key_id, member_id, operation, object]),
      [
        [`session:${session_id}`, member.id, 'update_org', null],
        [`session:${session_id}`, member.id, 'sign_in', 'demo'],
      ],
    )
  })
})

describe('a session ends', () => {
  test('when its member signs out, within seconds also in other processes, and the browser clears its storage', async () => {
    const team = await createTestTeam()
    const page = await signedIn(team, await createMember(team))
    const { app } = assembleProcess()
    const elsewhere = async () => (await app.inject({ url: '/console/api/session', headers: page.headers })).statusCode
    assert.equal(await elsewhere(), 200)
    const reply = await page.post('/console/api/sign-out', {})
    assert.equal(reply.status, 200)
    assert.equal(reply.headers.get('clear-site-data'), '"cache", "storage"')
    for (const cookie of reply.headers.getSetCookie()) assert.match(cookie, /^(__Host-)?drawbridge_session=; Path=\/; Max-Age=0;/)
    assert.equal((await page.get('/console/api/session')).status, 401)
    await eventually(async () => (await elsewhere()) === 401)
  })

  test('one by one and all at once, and of the own member alone', async () => {
    const team = await createTestTeam()
    const member = await createMember(team)
    const [one, two, three] = [await signedIn(team, member), await signedIn(team, member), await signedIn(team, member)]
    const stranger = await signedIn(team, await createMember(team))
    const { sessions } = (await one.get('/console/api/sessions')).body
    assert.equal(sessions.length, 3)
    const [current, ...more] = sessions.filter(({ is_current }: { is_current: boolean }) => is_current)
    assert.deepEqual([current.user_agent, current.address, more], ['Fictional browser', '127.0.0.1', []])
    const { session_id } = (await two.get('/console/api/session')).body
    assert.equal((await stranger.delete(`/console/api/sessions/${session_id}`)).status, 404)
    assert.equal((await one.delete(`/console/api/sessions/${session_id}`)).status, 200)
    assert.equal((await one.delete(`/console/api/sessions/${session_id}`)).status, 404)
    assert.equal((await two.get('/console/api/session')).status, 401)
    assert.equal((await one.delete('/console/api/sessions?keep_current=true')).status, 200)
    assert.deepEqual(
      [(await one.get('/console/api/session')).status, (await three.get('/console/api/session')).status],
      [200, 401],
    )
    assert.equal((await one.delete('/console/api/sessions')).status, 200)
    assert.equal((await one.get('/console/api/session')).status, 401)
    assert.equal((await stranger.get('/console/api/session')).status, 200)
  })

  test('without requests, and after its absolute time in any case', async () => {
    const team = await createTestTeam()
    const member = await createMember(team)
    const token = await sessionToken(team, member)
    const { rows } = await cells.control.pool.query(
      `select extract(epoch from idle_expires_at - created_at)::int as idle, extract(epoch from expires_at - created_at)::int as total
       from console_session where member_id = $1`,
      [member.id],
    )
    assert.deepEqual(rows, [{ idle: settings.session_idle_minutes * 60, total: settings.session_hours * 3600 }])
    const set = (values: string) =>
      cells.control.pool.query(`update console_session set ${values} where member_id = $1`, [member.id])
    // Two minutes without a request, and an absolute end in a minute.
    await set(
      `last_seen_at = now() - interval '2 minutes', expires_at = now() + interval '1 minute', idle_expires_at = now() + interval '50 seconds'`,
    )
    const status = async (extraHeaders: Record<string, string> = {}) =>
      (await anybody.get('/console/api/session', { ...sessionHeaders(token), ...extraHeaders })).status
    const isProlonged = async () =>
      (
        await cells.control.pool.query('select idle_expires_at = expires_at as is_so from console_session where member_id = $1', [
          member.id,
        ])
      ).rows[0].is_so
    assert.equal(await status({ 'x-drawbridge-console': 'background' }), 200)
    assert.equal(await isProlonged(), false)
    assert.equal(await status(), 200)
    assert.equal(await isProlonged(), true)
    await set(`idle_expires_at = now() - interval '1 second'`)
    await eventually(async () => (await status()) === 401)
    await expire(cells.control, sessionCleanup)
    assert.equal((await cells.control.pool.query('select from console_session where member_id = $1', [member.id])).rowCount, 0)
  })

  test('with its member, and with further sessions beyond twenty', async () => {
    const team = await createTestTeam()
    await createMember(team)
    const member = await createMember(team)
    const first = await signedIn(team, member)
    await cells.control.pool.query(`update console_session set last_seen_at = now() - interval '1 hour' where member_id = $1`, [
      member.id,
    ])
    for (let i = 0; i < 20; i++) await sessionToken(team, member)
    assert.equal((await first.get('/console/api/session')).status, 401)
    const last = await signedIn(team, member)
    assert.equal((await last.get('/console/api/session')).status, 200)
    assert.equal((await team.manage.delete(`/member/${member.id}`)).status, 200)
    assert.equal((await last.get('/console/api/session')).status, 401)
  })
})

describe('signing in to the demo', () => {
  const demo = (headers: Record<string, string> = CONSOLE_HEADERS) => anybody.post('/console/api/sign-in/demo', {}, headers)

  test('needs one request and sets a cookie that scripts do not read', async () => {
    await createDemoMember(await createTestTeam())
    const options = (await anybody.get('/console/api/sign-in')).body
    assert.equal(options.demo, true)
    const reply = await demo()
    assert.equal(reply.status, 200)
    const [cookie] = reply.headers.getSetCookie()
    assert.match(cookie!, /^drawbridge_session=cs_[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/)
    const session = await anybody.get('/console/api/session', { ...CONSOLE_HEADERS, cookie: cookieOf(reply) })
    assert.equal(session.body.role, 'org_admin')
  })

  test('gives each browser its own token for any earlier cookie', async () => {
    await createDemoMember(await createTestTeam())
    const planted = `drawbridge_session=cs_${'A'.repeat(43)}`
    const reply = await demo({ ...CONSOLE_HEADERS, cookie: planted })
    assert.notEqual(cookieOf(reply), planted)
    assert.equal((await anybody.get('/console/api/session', { ...CONSOLE_HEADERS, cookie: planted })).status, 401)
    const former = cookieOf(await demo())
    assert.notEqual(cookieOf(await demo({ ...CONSOLE_HEADERS, cookie: former })), former)
  })

  test('is refused to pages of other origins, and where the cookie would be sent in clear', async () => {
    await createDemoMember(await createTestTeam())
    assert.equal((await demo({ origin: url })).status, 403)
    assert.equal((await demo({ ...CONSOLE_HEADERS, origin: 'https://elsewhere.example' })).status, 403)
    const inClear = { ...CONSOLE_HEADERS, origin: 'http://drawbridge.internal', host: 'drawbridge.internal' }
    assert.equal((await demo(inClear)).status, 403)
    const overTls = { ...CONSOLE_HEADERS, origin: 'https://drawbridge.internal', host: 'drawbridge.internal' }
    const secure = await demo(overTls)
    assert.match(secure.headers.getSetCookie()[0]!, /^__Host-drawbridge_session=.*; Secure$/)
    // Beyond loopback no other cookie counts.
    const token = cookieOf(secure).split('=')[1]!
    const status = async (name: string) =>
      (await anybody.get('/console/api/session', { ...overTls, cookie: `${name}=${token}` })).status
    assert.deepEqual([await status('__Host-drawbridge_session'), await status('drawbridge_session')], [200, 401])
  })

  test('does not exist without demo data', async () => {
    const { app } = assembleProcess({ settings: { ...settings, demo: false } })
    const { statusCode } = await app.inject({
      method: 'POST',
      url: '/console/api/sign-in/demo',
      headers: CONSOLE_HEADERS,
      payload: {},
    })
    assert.equal(statusCode, 404)
  })
})
