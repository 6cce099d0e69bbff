import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { placeTeam } from '../../tenancy/teams/teams.ts'
import { cells, client, createTestTeam, url as server } from '../../../test/support/server.ts'
import { endpoint } from '../../../test/support/webhook-receiver.ts'
import { contents } from '../../app/contents.ts'

const url = 'https://receiver.example.com/hook'

const operationalTypes = contents.eventTypes.filter(({ family }) => family === 'operational')
const eventTypes = contents.eventTypes.filter(({ family }) => family !== 'operational')

const webhooks = (team: { team: string }, environment = 'sandbox') => `/team/${team.team}/${environment}/webhook`

test('the catalog has 194 types of events and four about deliveries, each once', () => {
  assert.equal(eventTypes.length, 194)
  assert.equal(operationalTypes.length, 4)
  assert.equal(new Set([...eventTypes, ...operationalTypes].map(({ name }) => name)).size, 198)
})

describe('creating an endpoint', () => {
  test('creating an endpoint requires only an address and never returns the secret', async () => {
    const team = await createTestTeam()
    const { status, body } = await team.manage.post(webhooks(team), { url })
    assert.equal(status, 200)
    assert.match(body.id, /^ep_[0-9a-f]{32}$/)
    assert.deepEqual(
      { ...body, id: '', created_at: '' },
      {
        id: '',
        url,
        description: '',
        rate_limit: null,
        disabled: false,
        filter_types: null,
        created_at: '',
        updated_at: body.created_at,
        delivery_error: null,
      },
    )
    assert.deepEqual((await team.manage.get(`${webhooks(team)}/${body.id}`)).body, body)
  })

  test('creating an endpoint accepts a secret with or without its prefix and returns it with the prefix', async () => {
    const team = await createTestTeam()
    const bytes = Buffer.alloc(30, 7).toString('base64')
    for (const secret of [
      bytes,
      `whsec_${bytes}`,
      Buffer.alloc(75, 1).toString('base64'),
      Buffer.alloc(24, 2).toString('base64'),
    ])
      assert.equal((await endpoint(team, { url, secret })).key, `whsec_${secret.replace('whsec_', '')}`)
  })

  test('creating an endpoint rejects invalid secrets without repeating them', async () => {
    const team = await createTestTeam()
    const secrets = ['short', 'x'.repeat(101), `${'A'.repeat(40)}!`, Buffer.alloc(23, 7).toString('base64'), `${'='.repeat(40)}`]
    for (const secret of secrets) {
      const { status, body } = await team.manage.post(webhooks(team), { url, secret })
      assert.equal(status, 422, secret)
      assert.deepEqual(body.detail[0].loc, ['body', 'secret'])
      assert(!JSON.stringify(body).includes(secret))
    }
  })

  const faulty: [Record<string, unknown>, (string | number)[]][] = [
    [{}, ['body', 'url']],
    [{ url: 'nonsense' }, ['body', 'url']],
    [{ url: 'ftp://receiver.example.com' }, ['body', 'url']],
    [{ url: 'https://someone:word@receiver.example.com' }, ['body', 'url']],
    [{ url: 'http://10.0.0.1/' }, ['body', 'url']],
    [{ url, rate_limit: 0 }, ['body', 'rate_limit']],
    [{ url, rate_limit: 70_000 }, ['body', 'rate_limit']],
    [{ url, filter_types: ['labtest.order.created', 'no.such.type'] }, ['body', 'filter_types', 1]],
    [{ url, filter_types: 'labtest.order.created' }, ['body', 'filter_types']],
    [{ url, disabled: 'yes' }, ['body', 'disabled']],
  ]
  for (const [body, loc] of faulty)
    test(`creating an endpoint is rejected: ${JSON.stringify(body)}`, async () => {
      const team = await createTestTeam()
      const reply = await team.manage.post(webhooks(team), body)
      assert.equal(reply.status, 422)
      assert.deepEqual(reply.body.detail[0].loc, loc)
      assert.deepEqual((await team.manage.get(webhooks(team))).body.data, [])
    })

  test('production rejects plain http and loopback addresses, and the sandbox accepts them', async () => {
    const team = await createTestTeam()
    const production = await createTestTeam('production-us')
    for (const local of [
      'http://127.0.0.1:9/',
      'https://127.0.0.1/',
      'https://[::1]/',
      'https://localhost/',
      'http://2130706433/',
    ]) {
      assert.equal((await team.manage.post(webhooks(team), { url: local })).status, 200, local)
      assert.equal((await production.manage.post(webhooks(production, 'production'), { url: local })).status, 422, local)
    }
    assert.equal((await production.manage.post(webhooks(production, 'production'), { url })).status, 200)
    assert.equal(
      (await production.manage.post(webhooks(production, 'production'), { url: url.replace('https', 'http') })).status,
      422,
    )
  })

  test('creating a fifty-first endpoint is rejected', async () => {
    const team = await createTestTeam()
    for (let i = 0; i < 50; i++) assert.equal((await team.manage.post(webhooks(team), { url })).status, 200)
    assert.equal((await team.manage.post(webhooks(team), { url })).status, 400)
  })
})

describe('endpoints', () => {
  test('endpoints are listed newest first, page by page', async () => {
    const team = await createTestTeam()
    const made = []
    for (let i = 0; i < 5; i++) made.unshift((await endpoint(team, { url, description: `${i}` })).id)
    const seen: string[] = []
    for (let next: string | null = ''; next !== null;) {
      const { body } = await team.manage.get(`${webhooks(team)}?limit=2${next && `&next_cursor=${next}`}`)
      seen.push(...body.data.map(({ id }: { id: string }) => id))
      next = body.next_cursor
    }
    assert.deepEqual(seen, made)
    assert.equal((await team.manage.get(`${webhooks(team)}?limit=0`)).status, 422)
    assert.equal((await team.manage.get(`${webhooks(team)}?limit=251`)).status, 422)
    assert.equal((await team.manage.get(`${webhooks(team)}?next_cursor=nonsense`)).status, 400)
  })

  test('endpoints belong to a team and an environment, and return 404 to others', async () => {
    const team = await createTestTeam()
    const stranger = await createTestTeam()
    const { id } = await endpoint(team, { url })
    await cells.db('production-us').plainTx((tx) => placeTeam(tx, 'production-us', { id: team.team, org_id: team.org_id }))
    for (const [who, path] of [
      [stranger, webhooks(stranger)],
      [team, webhooks(team, 'production')],
    ] as const) {
      for (const rest of ['', '/headers', '/secret']) assert.equal((await who.manage.get(`${path}/${id}${rest}`)).status, 404)
      assert.equal((await who.manage.patch(`${path}/${id}`, { description: 'mine' })).status, 404)
      assert.equal((await who.manage.put(`${path}/${id}/headers`, { headers: {} })).status, 404)
      assert.equal((await who.manage.post(`${path}/${id}/secret/rotate`, {})).status, 404)
      assert.equal((await who.manage.delete(`${path}/${id}`)).status, 404)
      assert.deepEqual((await who.manage.get(path)).body, { data: [], next_cursor: null })
    }
    assert.equal((await stranger.manage.get(webhooks(team))).status, 404)
    const foreign = client(stranger.orgKey, 'x-management-key', `/v1/org/${team.org_id}`)
    assert.equal((await foreign.get(webhooks(team))).status, 403)
    assert.equal((await client(team.key).get(`/v1/org/${team.org_id}${webhooks(team)}`)).status, 401)
  })

  test('endpoints are changed field by field; null clears two of them and leaves the others', async () => {
    const team = await createTestTeam()
    const { path } = await endpoint(team, { url, description: 'first', rate_limit: 5, filter_types: ['labtest.order.created'] })
    const patch = async (body: unknown) => (await team.manage.patch(path, body)).body
    assert.equal((await patch({ description: 'second' })).rate_limit, 5)
    const cleared = await patch({ rate_limit: null, filter_types: null, description: null, url: null, disabled: null })
    assert.deepEqual([cleared.rate_limit, cleared.filter_types, cleared.description, cleared.url], [null, null, 'second', url])
    assert.deepEqual((await patch({ filter_types: ['endpoint.disabled', 'endpoint.disabled'] })).filter_types, [
      'endpoint.disabled',
    ])
    assert.equal((await patch({ filter_types: [] })).filter_types, null)
    assert.equal((await patch({ disabled: true })).disabled, true)
    assert.equal((await team.manage.patch(path, { url: 'http://10.0.0.1' })).status, 422)
    assert.equal((await team.manage.patch(path, { filter_types: ['no'] })).status, 422)
  })

  test('a deletion returns 204, and the endpoint then returns 404', async () => {
    const team = await createTestTeam()
    const { path } = await endpoint(team, { url })
    assert.equal((await team.manage.delete(path)).status, 204)
    assert.equal((await team.manage.get(path)).status, 404)
    assert.equal((await team.manage.delete(path)).status, 404)
  })
})

describe('custom headers', () => {
  test('custom headers are replaced as a whole, and sensitive ones are returned by name only', async () => {
    const team = await createTestTeam()
    const { path } = await endpoint(team, { url })
    const put = (headers: unknown) => team.manage.put(`${path}/headers`, { headers })
    assert.equal(
      (await put({ 'X-Clinic': 'fictional', Authorization: 'Bearer swordfish', 'x-my-token': 'swordfish' })).status,
      204,
    )
    const { body } = await team.manage.get(`${path}/headers`)
    assert.deepEqual(body, { headers: { 'x-clinic': 'fictional' }, sensitive: ['authorization', 'x-my-token'] })
    assert.equal((await put(body.headers)).status, 204)
    assert.deepEqual((await team.manage.get(`${path}/headers`)).body, { headers: { 'x-clinic': 'fictional' }, sensitive: [] })
    assert.equal((await put({})).status, 204)
    assert.deepEqual((await team.manage.get(`${path}/headers`)).body, { headers: {}, sensitive: [] })
  })

  const refused = ['User-Agent', 'content-type', 'Host', 'connection', 'transfer-encoding', 'proxy-authorization', 'svix-id']
  for (const name of [...refused, 'webhook-signature', 'X-Amz-Date', 'x-google-x', 'x-gfe-y', 'bad name', '', 'x:y', 'ümlaut'])
    test(`custom headers named "${name}" are rejected`, async () => {
      const team = await createTestTeam()
      const { path } = await endpoint(team, { url })
      const { status, body } = await team.manage.put(`${path}/headers`, { headers: { ok: 'ok', [name]: 'swordfish' } })
      assert.equal(status, 422)
      assert.deepEqual(body.detail[0].loc, ['body', 'headers', name])
      assert(!JSON.stringify(body).includes('swordfish'))
      assert.deepEqual((await team.manage.get(`${path}/headers`)).body.headers, {})
    })

  for (const [what, value] of Object.entries({
    long: 'x'.repeat(4097),
    'in two lines': 'a\r\nx-b: c',
    'not ASCII': 'ü',
    'a number': 1,
  }))
    test(`custom headers whose value is ${what} are rejected`, async () => {
      const team = await createTestTeam()
      const { path } = await endpoint(team, { url })
      assert.equal((await team.manage.put(`${path}/headers`, { headers: { 'x-clinic': value } })).status, 422)
    })

  test('custom headers and secrets are encrypted in the database', async () => {
    const team = await createTestTeam()
    const secret = Buffer.alloc(30, 9).toString('base64')
    const { path } = await endpoint(team, { url, secret })
    await team.manage.put(`${path}/headers`, { headers: { 'x-clinic': 'swordfish' } })
    await team.manage.post(`${path}/secret/rotate`, { key: Buffer.alloc(30, 8).toString('base64') })
    for (const table of ['webhook', 'webhook_secret', 'audit_log']) {
      const { rows } = await team.db.pool.query(`select t::text as row from ${table} t where team_id = $1`, [team.team])
      assert(rows.length > 0)
      for (const { row } of rows as { row: string }[])
        for (const hidden of ['swordfish', secret, Buffer.alloc(30, 8).toString('base64')]) assert(!row.includes(hidden))
    }
  })
})

describe('rotating the secret', () => {
  test('a rotation returns 204 and creates a key, or uses the given one', async () => {
    const team = await createTestTeam()
    const { path, key } = await endpoint(team, { url })
    const now = async () => (await team.manage.get(`${path}/secret`)).body.key
    assert.equal((await team.manage.post(`${path}/secret/rotate`, {})).status, 204)
    const second = await now()
    assert.notEqual(second, key)
    assert.equal((await team.manage.post(`${path}/secret/rotate`, { key: null })).status, 204)
    assert.notEqual(await now(), second)
    const own = Buffer.alloc(30, 3).toString('base64')
    assert.equal((await team.manage.post(`${path}/secret/rotate`, { key: own })).status, 204)
    assert.equal(await now(), `whsec_${own}`)
    assert.equal((await team.manage.post(`${path}/secret/rotate`, { key: 'short' })).status, 422)
    assert.equal((await team.manage.post(`${path}/secret/rotate`)).status, 422)
  })

  test('a rotation to the current key is rejected, in every spelling', async () => {
    const team = await createTestTeam()
    const { path, key } = await endpoint(team, { url })
    for (const same of [key, key.replace('whsec_', '')])
      assert.equal((await team.manage.post(`${path}/secret/rotate`, { key: same })).status, 400)
  })

  test('a rotation is rejected while ten old keys sign, and works again a day later', async () => {
    const team = await createTestTeam()
    const { path } = await endpoint(team, { url })
    for (let i = 0; i < 10; i++) assert.equal((await team.manage.post(`${path}/secret/rotate`, {})).status, 204)
    assert.equal((await team.manage.post(`${path}/secret/rotate`, {})).status, 400)
    await team.api.post('/v1/sandbox/clock/advance', { seconds: 86_401 })
    assert.equal((await team.manage.post(`${path}/secret/rotate`, {})).status, 204)
  })
})

test('a team receives the address where its endpoints are managed', async () => {
  const { status, body } = await (await createTestTeam()).api.get('/v2/team/svix/url')
  assert.deepEqual([status, body], [200, { url: `${server}/docs#/webhooks` }])
})
