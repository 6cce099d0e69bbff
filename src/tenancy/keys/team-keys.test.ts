import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import {
  assembleProcess,
  guards,
  cells,
  client,
  createTestTeam,
  settings,
  vault,
  type TestTeam,
} from '../../../test/support/server.ts'
import { createAccess } from '../access/access.ts'

const PREFIXES = { 'sandbox/us': 'sk_us_', 'sandbox/eu': 'sk_eu_', 'production/us': 'pk_us_', 'production/eu': 'pk_eu_' }

const createManagedTeam = async (org: TestTeam, region: string): Promise<string> =>
  (await org.manage.post('/team', { name: 'Made', region })).body.id
const speak = (org: TestTeam, key: string) => client(key, 'x-management-key', `/v1/org/${org.org_id}`)
const boundTo = async (org: TestTeam, team_id: string) =>
  speak(org, (await org.manage.post('/management_key', { label: 'x', team_id })).body.key)
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe('a team key', () => {
  for (const [place, prefix] of Object.entries(PREFIXES))
    test(`of ${place} begins with ${prefix}, works at once, and is shown once`, async () => {
      const org = await createTestTeam()
      const team_id = await createManagedTeam(org, place.slice(-2))
      const { status, body } = await org.manage.post(`/team_api_keys/${place}`, { label: 'north', team_id })
      assert.equal(status, 200)
      assert.match(body.value, new RegExp(`^${prefix}[\\w-]{43}$`))
      assert.equal((await client(body.value).get('/v2/user')).status, 200)
      const list = await org.manage.get(`/team_api_keys/${place}`)
      const value = `${prefix}…${body.value.slice(-4)}`
      assert.deepEqual(
        list.body.api_keys.find(({ id }: { id: string }) => id === body.id),
        { ...body, value },
      )
      const { rows } = await cells.control.pool.query('select k::text as k from api_key k where id = $1', [body.id])
      assert(!rows[0].k.includes(body.value.slice(6)))
    })

  test('is of a team of that region, which the organization has and the key reaches', async () => {
    const org = await createTestTeam()
    const apart = await createManagedTeam(org, 'us')
    const bound = await boundTo(org, org.team)
    const create = async (api: TestTeam['manage'], place: string, team_id: string) =>
      (await api.post(`/team_api_keys/${place}`, { label: 'x', team_id })).status
    assert.equal(await create(org.manage, 'sandbox/eu', org.team), 400)
    assert.equal(await create(org.manage, 'sandbox/us', (await createTestTeam()).team), 404)
    assert.equal(await create(org.manage, 'sandbox/us', randomUUID()), 404)
    assert.equal(await create(bound, 'sandbox/us', apart), 403)
    assert.equal(await create(bound, 'sandbox/us', org.team), 200)
    assert.equal(await create(org.manage, 'sandbox/moon', org.team), 422)
    assert.equal(await create(org.manage, 'staging/us', org.team), 422)
  })

  test('is listed for the teams that the key reaches', async () => {
    const org = await createTestTeam()
    const apart = await createManagedTeam(org, 'us')
    await org.manage.post('/team_api_keys/sandbox/us', { label: 'apart', team_id: apart })
    const bound = await boundTo(org, org.team)
    const labels = (reply: { body: { api_keys: { label: string }[] } }) => reply.body.api_keys.map(({ label }) => label)
    assert.deepEqual(labels(await org.manage.get('/team_api_keys/sandbox/us')), ['apart', 'test'])
    assert.deepEqual(labels(await org.manage.get(`/team_api_keys/sandbox/us?team_id=${apart}`)), ['apart'])
    assert.deepEqual(labels(await bound.get('/team_api_keys/sandbox/us')), ['test'])
    assert.deepEqual(labels(await org.manage.get('/team_api_keys/production/us')), [])
    assert.deepEqual(labels(await org.manage.get(`/team_api_keys/sandbox/eu?team_id=${org.team}`)), [])
    assert.equal((await bound.get(`/team_api_keys/sandbox/us?team_id=${apart}`)).status, 403)
    assert.equal((await org.manage.get(`/team_api_keys/sandbox/us?team_id=${(await createTestTeam()).team}`)).status, 404)
    assert.equal((await org.manage.get('/team_api_keys/sandbox/us?next_cursor=nonsense')).status, 400)
  })

  test('is deleted at once; an unknown or inaccessible key returns 404', async () => {
    const org = await createTestTeam()
    const apart = await createManagedTeam(org, 'us')
    const key = async (place: string, team_id: string) =>
      (await org.manage.post(`/team_api_keys/${place}`, { label: 'x', team_id })).body
    const good = await key('sandbox/us', org.team)
    const elsewhere = await key('production/us', org.team)
    const unbound = await key('sandbox/us', apart)
    const other = await createTestTeam()
    const foreign = (await other.manage.get('/team_api_keys/sandbox/us')).body.api_keys[0]
    const unknown = randomUUID()
    assert.equal((await client(good.value).get('/v2/user')).status, 200)
    const bound = await boundTo(org, org.team)
    const asked = [good.id, good.id, elsewhere.id, unbound.id, foreign.id, unknown]
    const { status, body } = await bound.delete(`/team_api_keys/sandbox/us?${asked.map((id) => `api_key_id=${id}`).join('&')}`)
    assert.equal(status, 200)
    assert.deepEqual(body, { success: [good.id], failure: [], not_found: [elsewhere.id, unbound.id, foreign.id, unknown] })
    assert.equal((await client(good.value).get('/v2/user')).status, 401)
    assert.equal((await client(unbound.value).get('/v2/user')).status, 200)
    assert.equal((await other.api.get('/v2/user')).status, 200)
    const again = await org.manage.delete(`/team_api_keys/sandbox/us?api_key_id=${good.id}`)
    assert.deepEqual([again.status, again.body.not_found], [200, [good.id]])
    assert.equal((await org.manage.delete('/team_api_keys/sandbox/us')).status, 422)
  })

  test('under a repeated idempotency key is refused', async () => {
    const org = await createTestTeam()
    const create = () =>
      org.manage.post('/team_api_keys/sandbox/us', { label: 'x', team_id: org.team }, { 'x-idempotency-key': 'the-same' })
    assert.deepEqual([(await create()).status, (await create()).status], [200, 409])
    assert.equal((await org.manage.get('/team_api_keys/sandbox/us')).body.api_keys.length, 2)
  })
})

describe('an access token', () => {
  const mint = async (org: TestTeam, env = 'sandbox', team = org.team) =>
    (await org.manage.post(`/team/${team}/create_api_access_token`, { env })).body.access_token as string

  test('is equivalent to a key of its team and environment, under either path', async () => {
    const org = await createTestTeam()
    const user = await org.user('of-the-token')
    for (const path of ['create_api_access_token', 'create_access_token']) {
      const { status, body } = await org.manage.post(`/team/${org.team}/${path}`, { env: 'sandbox' })
      assert.deepEqual([status, body.expires_in], [200, 600])
      const reply = await client(undefined).get('/v2/user', bearer(body.access_token))
      assert.deepEqual(
        reply.body.users.map(({ user_id }: { user_id: string }) => user_id),
        [user],
      )
    }
    const team = await createManagedTeam(org, 'us')
    const [sandbox, production] = [await mint(org, 'sandbox', team), await mint(org, 'production', team)]
    const tests = async (token: string) => (await client(undefined).get('/v3/lab_tests', bearer(token))).body.length
    assert.deepEqual([await tests(sandbox), await tests(production)], [4, 0])
  })

  test('is refused when it is changed, made by others, for another purpose, or expired', async () => {
    const org = await createTestTeam()
    const token = await mint(org)
    const [said, ...signature] = token.slice(3).split('.')
    const words = JSON.parse(Buffer.from(said!, 'base64url').toString())
    const other = Buffer.from(JSON.stringify(words.map((word: unknown) => (word === org.team ? randomUUID() : word))))
    const bad = {
      changed: `at_${other.toString('base64url')}.${signature.join('.')}`,
      'without its signature': `at_${said}`,
      'with another signature': `at_${said}.${signature[0]}.${'A'.repeat(43)}`,
      expired: guards.tokens.sign(['sandbox-us', org.team], -1),
      'of a team that is not there': guards.tokens.sign(['sandbox-us', randomUUID()], 60),
      'of a cell that is not there': guards.tokens.sign(['sandbox-moon', org.team], 60),
      'signed for something else': `at_${said}.${vault.sign(said!, 'something else')}`,
      empty: '',
    }
    assert.equal((await client(undefined).get('/v2/user', bearer(token))).status, 200)
    for (const [what, text] of Object.entries(bad)) {
      const reply = await client(undefined).get('/v2/user', bearer(text))
      assert.equal(reply.status, 401, what)
      assert.equal(reply.headers.get('www-authenticate'), what === 'empty' ? null : 'Bearer', what)
      assert.equal(typeof reply.body.detail, 'string')
    }
  })

  test('is ignored in addition to a key, valid or invalid, and cannot use the Management API', async () => {
    const org = await createTestTeam()
    const token = await mint(org)
    assert.equal((await org.api.get('/v2/user', bearer('nonsense'))).status, 200)
    const wrong = await client(`${org.key.slice(0, -4)}AAAA`).get('/v2/user', bearer(token))
    assert.deepEqual([wrong.status, wrong.headers.get('www-authenticate')], [401, null])
    assert.equal((await client(undefined).get(`/v1/org/${org.org_id}`, bearer(token))).status, 401)
  })

  test('is for an environment that has to be named', async () => {
    const org = await createTestTeam()
    for (const path of ['create_api_access_token', 'create_access_token']) {
      const { status, body } = await org.manage.post(`/team/${org.team}/${path}`, {})
      assert.deepEqual([status, body.detail[0].loc, body.detail[0].type], [422, ['body', 'env'], 'missing'])
    }
    assert.equal((await org.manage.post(`/team/${org.team}/create_access_token`)).status, 422)
  })

  test('is minted 60 times a minute by one key for one team', async () => {
    const org = await createTestTeam()
    const path = (team: string) => `/team/${team}/create_api_access_token`
    for (let i = 0; i < 60; i++) assert.equal((await org.manage.post(path(org.team), { env: 'sandbox' })).status, 200)
    const { status, headers } = await org.manage.post(path(org.team), { env: 'sandbox' })
    assert.equal(status, 429)
    assert.match(headers.get('retry-after')!, /^([1-9]|[1-5]\d|60)$/)
    const bound = await boundTo(org, org.team)
    assert.equal((await bound.post(path(org.team), { env: 'sandbox' })).status, 200)
    assert.equal((await org.manage.post(path(await createManagedTeam(org, 'us')), { env: 'sandbox' })).status, 200)
  })
})

test('the rate limits identify a key by its id, and each access token by an id of its own', async () => {
  const org = await createTestTeam()
  const { rows } = await cells.control.pool.query('select id from api_key where team_id = $1', [org.team])
  const ask = (headers: Record<string, string>) => guards.teams.authenticate(headers, '192.0.2.1')
  for (const time of ['looked up', 'cached']) assert.equal((await ask({ 'x-vital-api-key': org.key })).key_id, rows[0].id, time)
  const mint = () => guards.tokens.sign([org.cell, org.team], 60)
  const [one, other] = [mint(), mint()]
  const ids: string[] = []
  for (const token of [one, other, one]) ids.push((await ask(bearer(token))).key_id)
  for (const id of ids) assert.match(id, /^token:[\w-]{12}$/)
  assert.deepEqual([ids[0] === ids[2], ids[0] === ids[1]], [true, false])
})

describe('limits', () => {
  const limited = (changes: Record<string, number>) =>
    createAccess(
      cells,
      vault,
      { ...settings, ...changes },
      { isSessionActive: () => Promise.resolve(false), publicUrl: () => '' },
    )
  const refused = async (work: () => unknown): Promise<{ status: number; headers: Record<string, string> }> => {
    try {
      await work()
    } catch (error) {
      return error as { status: number; headers: Record<string, string> }
    }
    return { status: 200, headers: {} }
  }

  test('apply per key: after its burst it gets 429, and others do not', async () => {
    const { teams, orgs } = limited({ requests_per_s: 1, requests_burst: 3 })
    const [one, two] = [await createTestTeam(), await createTestTeam()]
    const ask = (org: TestTeam) => refused(() => teams.authenticate({ 'x-vital-api-key': org.key }, '192.0.2.1'))
    for (let i = 0; i < 3; i++) assert.equal((await ask(one)).status, 200)
    const { status, headers } = await ask(one)
    assert.deepEqual([status, headers['retry-after']], [429, '1'])
    assert.equal((await ask(two)).status, 200)
    const manage = () => refused(() => orgs.authenticate({ 'x-management-key': one.orgKey }, '192.0.2.1'))
    for (let i = 0; i < 3; i++) assert.equal((await manage()).status, 200)
    assert.equal((await manage()).status, 429)
  })

  test('are shown in the headers of every answer to a key', async () => {
    const org = await createTestTeam()
    const { app } = assembleProcess({ settings: { ...settings, requests_per_s: 0.01, requests_burst: 2 } })
    after(() => app.close())
    const ask = async (url: string, headers: Record<string, string>) => {
      const reply = await app.inject({ url, headers })
      const { 'ratelimit-limit': limit, 'ratelimit-remaining': remaining, 'ratelimit-reset': reset } = reply.headers
      return [reply.statusCode, limit, remaining, Number(reset) > 0 && Number(reset) <= 200]
    }
    const key = { 'x-vital-api-key': org.key }
    assert.deepEqual(await ask('/v2/user', key), [200, '2', '1', true])
    assert.deepEqual(await ask(`/v2/user/${randomUUID()}`, key), [404, '2', '0', true])
    assert.deepEqual(await ask('/v2/user', key), [429, '2', '0', true])
    const teams = `/v1/org/${org.org_id}/team`
    assert.deepEqual(await ask(teams, { 'x-management-key': org.orgKey }), [200, '2', '1', true])
    assert.deepEqual(await ask('/v2/user', bearer(guards.tokens.sign([org.cell, org.team], 60))), [200, '2', '1', true])
    const { headers } = await assembleProcess({ settings: { ...settings, requests_per_s: 0 } }).app.inject({
      url: '/v2/user',
      headers: key,
    })
    assert.equal(headers['ratelimit-limit'], undefined)
  })

  test('hold for all tokens of a team together', async () => {
    const { teams, tokens } = limited({ requests_per_s: 1, requests_burst: 2 })
    const org = await createTestTeam()
    const ask = () => refused(() => teams.authenticate({ ...bearer(tokens.sign([org.cell, org.team], 60)) }, '192.0.2.1'))
    assert.deepEqual([(await ask()).status, (await ask()).status, (await ask()).status], [200, 200, 429])
  })

  test('apply to invalid keys of one address, and a key in use still works', async () => {
    const { teams, orgs } = limited({ wrong_keys_per_min: 3 })
    const org = await createTestTeam()
    assert.equal((await refused(() => teams.authenticate({ 'x-vital-api-key': org.key }, '192.0.2.1'))).status, 200)
    const wrong = (address: string) => refused(() => teams.authenticate({ 'x-vital-api-key': `sk_us_${randomUUID()}` }, address))
    for (let i = 0; i < 2; i++) assert.equal((await wrong('192.0.2.1')).status, 401)
    assert.equal((await refused(() => orgs.authenticate({ 'x-management-key': 'mg_x' }, '192.0.2.1'))).status, 401)
    const { status, headers } = await wrong('192.0.2.1')
    assert.equal(status, 429)
    assert.match(headers['retry-after']!, /^([1-9]|[1-5]\d|60)$/)
    assert.equal((await wrong('192.0.2.2')).status, 401)
    assert.equal((await refused(() => teams.authenticate({}, '192.0.2.1'))).status, 401)
    assert.equal((await refused(() => teams.authenticate({ 'x-vital-api-key': org.key }, '192.0.2.1'))).status, 200)
  })

  test('of 0 do not limit requests', async () => {
    const { teams } = limited({})
    const org = await createTestTeam()
    for (let i = 0; i < 300; i++) await teams.authenticate({ 'x-vital-api-key': org.key }, '192.0.2.1')
    for (let i = 0; i < 30; i++)
      assert.equal((await refused(() => teams.authenticate({ 'x-vital-api-key': 'x' }, '192.0.2.1'))).status, 401)
  })
})

describe('an organization that has expired', () => {
  test('may read with its team keys but not write', async () => {
    const org = await createTestTeam()
    await cells.control.pool.query(`update org set expires_at = '2020-01-01' where id = $1`, [org.org_id])
    assert.equal((await org.api.get('/v2/user')).status, 200)
    const { status, body } = await org.api.post('/v2/user', { client_user_id: 'late' })
    assert.deepEqual([status, typeof body.detail], [403, 'string'])
    const { access_token } = { access_token: guards.tokens.sign(['sandbox-us', org.team], 60) }
    assert.equal((await client(undefined).get('/v2/user', bearer(access_token))).status, 200)
    assert.equal((await client(undefined).post('/v2/user', { client_user_id: 'late' }, bearer(access_token))).status, 403)
  })
})
