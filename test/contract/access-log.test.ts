// The access log as requests fill it: who is in a line, when it is written, and what happens when it cannot be.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { contents } from '../../src/app/contents.ts'
import { AccessLog, type AccessLogOptions } from '../../src/platform/access-log/access-log.ts'
import { schemaOf } from '../../src/platform/db/cells.ts'
import type { CellName } from '../../src/settings/cells.ts'
import { createLog } from '../../src/platform/telemetry/log.ts'
import type { AccessLine } from '../support/access-lines.ts'
import { createOrder, orderWithRequisition } from '../support/orders.ts'
import { BIRTH_YEAR, address, patient } from '../support/people.ts'
import { access, asOwner, assembleProcess, cells, client, createTestTeam, type TestTeam } from '../support/server.ts'
import { eventually } from '../support/eventually.ts'

const { operations } = contents

/** The lines about a team, oldest first, without those of what a test arranged. */
async function readLines(team: TestTeam, ...names: string[]): Promise<AccessLine[]> {
  await access.flush()
  return readWrittenLines(team, ...names)
}

async function readWrittenLines(team: TestTeam, ...names: string[]): Promise<AccessLine[]> {
  const { rows } = await team.db.pool.query<{ line: string }>('select line from access_log where team_id = $1 order by seq', [
    team.team,
  ])
  const lines = rows.map(({ line }) => JSON.parse(line) as AccessLine)
  return names.length ? lines.filter(({ operation }) => names.includes(operation)) : lines
}

describe('a line', () => {
  test('exists by default, soon after the read', async () => {
    const team = await createTestTeam()
    const order = await createOrder(team)
    assert.equal((await team.api.get(`/v3/order/${order.id}`)).status, 200)
    await eventually(async () => (await readWrittenLines(team, 'get_order')).length === 1)
  })

  test('of a change is in the database when the answer is', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const { rows } = await team.db.pool.query<{ n: number }>(
      `select (select count(*) from access_line where team_id = $1 and users = $2)::int
            + (select count(*) from access_log where team_id = $1 and users = $2::uuid[])::int as n`,
      [team.team, `{${user}}`],
    )
    assert.equal(rows[0]!.n, 1)
  })

  test('of a change that is undone does not exist; the rejection has one', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const id = randomUUID()
    const { status } = await team.api.patch(`/v2/user/${user}`, { ingestion_start: '2026-02-01', ingestion_end: '2026-01-01' })
    assert.equal(status, 422)
    assert.equal((await team.api.get(`/v2/user/${id}`)).status, 404)
    assert.deepEqual(
      (await readLines(team, 'patch_user', 'get_user')).map(({ operation, users, outcome }) => [operation, users, outcome]),
      [
        ['patch_user', [user], 422],
        ['get_user', [id], 404],
      ],
    )
  })

  test('names each person on the page of a list, and no person on another page', async () => {
    const team = await createTestTeam()
    const users = [await team.user(), await team.user(), await team.user()]
    await team.api.get('/v2/user?limit=2')
    const [line] = await readLines(team, 'get_teams_users')
    assert.deepEqual(line!.users, [users[2], users[1]])
  })

  for (const [name, filter] of [
    ['all orders', ''],
    ['orders of a kind', '&order_type=testkit'],
    ['orders of a name', '&shipping_recipient_name=fict'],
  ])
    test(`names each person on the page of a list of ${name}, and no person on another page`, async () => {
      const team = await createTestTeam()
      const test = await team.test()
      const users = [await team.user(), await team.user(), await team.user()]
      for (const user of users) {
        const { shipping_details, ...order } = kit(user, test)
        const named = { ...order, shipping_details: { ...shipping_details, receiver_name: 'Fictitia Parcel' } }
        assert.equal((await team.api.post('/v3/order/testkit', named)).status, 200)
      }
      assert.equal((await team.api.get(`/v3/orders?size=2${filter}`)).body.orders.length, 2)
      const [line] = await readLines(team, 'get_orders')
      assert.deepEqual(line!.users, [users[2], users[1]])
    })

  test('has ids and nothing else that a caller sends', async () => {
    const team = await createTestTeam()
    const reference = 'Testa Fictional, born 1990-01-31'
    await team.user(reference)
    assert.equal((await team.api.get(`/v2/user/resolve/${encodeURIComponent(reference)}`)).status, 200)
    assert.equal((await team.api.get(`/v2/user/${encodeURIComponent(reference)}`)).status, 422)
    assert.equal((await team.api.post('/v3/order/testkit', { user_id: `${reference}"user_id":"x` })).status, 422)
    const lines = await readLines(team)
    assert.equal(lines.length, 4)
    assert.doesNotMatch(JSON.stringify(lines), new RegExp(String.raw`Testa|${BIRTH_YEAR}`))
  })

  test('of an order set that names users under many keys has each user once, in any text', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const disguised = `"user_id":"${randomUUID()}"`
    const body = { ...kit(user, await team.test()), passthrough: disguised }
    const { order } = (await team.api.post('/v3/order/testkit', body)).body
    assert.equal(order.passthrough, disguised)
    await team.api.get('/v3/orders')
    for (const { users } of await readLines(team, 'create_testkit_order', 'get_orders')) assert.deepEqual(users, [user])
  })

  test('tells a key from a token, and a token from another', async () => {
    const team = await createTestTeam()
    const mint = async () => (await team.manage.post(`/team/${team.team}/create_api_access_token`, { env: 'sandbox' })).body
    for (let i = 0; i < 2; i++)
      await client(undefined).get('/v2/user', { authorization: `Bearer ${(await mint()).access_token}` })
    await team.api.get('/v2/user')
    const [one, other, key] = (await readLines(team, 'get_teams_users')).map((line) => line.key)
    assert.match(one!, /^token:[\w-]{12}$/)
    assert.match(other!, /^token:[\w-]{12}$/)
    assert.notEqual(one, other)
    const { rows } = await cells.control.pool.query('select id from api_key where team_id = $1', [team.team])
    assert.equal(key, rows[0].id)
  })

  test('is left by an answer that is given again under an idempotency key', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const body = { ...placing(user), lab_test_id: await team.test() }
    const headers = { 'x-idempotency-key': randomUUID() }
    const order = (await team.api.post('/v3/order', body, headers)).body.order
    assert.equal((await team.api.post('/v3/order', body, headers)).body.order.id, order.id)
    const lines = await readLines(team, 'create_order')
    assert.deepEqual(
      lines.map(({ users, outcome }) => [users, outcome]),
      [
        [[user], 200],
        [[user], 200],
      ],
    )
  })

  test('of a repeated response names its users, although neither request nor response does', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const { order } = (await team.api.post('/v3/order', { ...placing(user), lab_test_id: await team.test() })).body
    const simulate = () => team.api.post(`/v3/order/${order.id}/test`, undefined, { 'x-idempotency-key': user })
    assert.deepEqual((await simulate()).body, (await simulate()).body)
    const lines = (await readLines(team)).filter(
      ({ objects, operation }) => objects.includes(order.id) && operation !== 'create_order',
    )
    assert.deepEqual(
      lines.map(({ users }) => users),
      [[user], [user]],
    )
  })

  test('is left by the address of a requisition, which takes no key', async () => {
    const team = await createTestTeam()
    const order = await orderWithRequisition(team, 'walk_in_test')
    assert.equal((await fetch(order.requisition_form_url!)).status, 200)
    const [line, ...more] = await readLines(team, 'requisition_page')
    assert.equal(more.length, 0)
    assert.match(line!.key, /^link:[\w-]{12}$/)
    assert.deepEqual([line!.objects, line!.users, line!.outcome, line!.address], [[order.id], [order.user_id], 200, '127.0.0.1'])
  })

  test('is not left by a request about an unknown user', async () => {
    const team = await createTestTeam()
    const order = await createOrder(team)
    assert.equal((await client('sk_us_unknown').get(`/v3/order/${order.id}`)).status, 401)
    assert.equal((await fetch(`${order.requisition_form_url ?? ''}`).catch(() => ({ status: 0 }))).status, 0)
    assert.deepEqual(await readLines(team, 'get_order'), [])
  })
})

const kit = (user_id: string, lab_test_id: string) => ({
  user_id,
  lab_test_id,
  shipping_details: {
    receiver_name: 'Testa Fictional',
    first_line: '1 Sample Way',
    city: 'Phoenix',
    state: 'AZ',
    zip: '85004',
    country: 'US',
    phone_number: '+15550100199',
  },
})
const labTest = operations.find(({ id }) => id === 'create_lab_test_for_team')!.example as object
const placing = (user_id: string) => ({
  user_id,
  patient_details: patient,
  patient_address: address,
})

/** A server of its own on the same database, with an access log of its own. */
function serving(options: Omit<AccessLogOptions, 'log'>) {
  const own = new AccessLog({ log: createLog('silent'), ...options })
  const { app } = assembleProcess({ access: own })
  after(async () => {
    await app.close()
    await own.stop()
  })
  const ask = async (team: TestTeam, method: 'GET' | 'POST', url: string, payload?: object, overrides?: object) => {
    const { statusCode, headers, body } = await app.inject({
      method,
      url,
      headers: { 'x-service-api-key': team.key, ...overrides },
      ...(payload && { payload }),
    })
    return { status: statusCode, headers, body: JSON.parse(body) }
  }
  return { ask, log: own }
}

/** While `work` runs, nothing can be made part of the log of a cell. */
async function unwritable(cell: CellName, work: () => Promise<void>): Promise<void> {
  const schema = schemaOf(cell)
  await asOwner(`alter table ${schema}.access_day rename to access_day_away`)
  try {
    await work()
  } finally {
    await asOwner(`alter table ${schema}.access_day_away rename to access_day`)
  }
}

describe('strict', () => {
  const { ask } = serving({ mode: 'strict' })

  test('an answer leaves when its line is written', async () => {
    const team = await createTestTeam()
    const order = await createOrder(team)
    assert.equal((await ask(team, 'GET', `/v3/order/${order.id}`)).status, 200)
    assert.equal((await readWrittenLines(team, 'get_order')).length, 1)
    const many = await Promise.all(Array.from({ length: 50 }, () => ask(team, 'GET', `/v3/order/${order.id}`)))
    assert(many.every(({ status }) => status === 200))
    assert.equal((await readWrittenLines(team, 'get_order')).length, 51)
  })

  test('nothing is shown while no line can be written, and again when one can', async () => {
    const team = await createTestTeam('sandbox-eu')
    const order = await createOrder(team)
    await unwritable(team.cell, async () => {
      const { status, headers, body } = await ask(team, 'GET', `/v3/order/${order.id}`)
      assert.deepEqual([status, headers['retry-after'], Object.keys(body)], [503, '1', ['detail']])
    })
    assert.equal((await ask(team, 'GET', `/v3/order/${order.id}`)).status, 200)
    assert.deepEqual(
      (await readWrittenLines(team, 'get_order')).filter(({ outcome }) => outcome === 200).length,
      1,
      'the line of what was not shown is there',
    )
  })
})

describe('lines that cannot be written', () => {
  test('wait, and are written when it is possible again; past the limit reads are refused, and changes are not', async () => {
    let lost = 0
    const { ask, log } = serving({ mode: 'batched', bytes_max: 3000, delay_ms: 5, onLost: (lines) => (lost += lines) })
    const team = await createTestTeam('production-eu')
    const user = (await team.api.post('/v2/user', { client_user_id: randomUUID() })).body.user_id as string
    await access.flush()
    let answered = 0
    await unwritable(team.cell, async () => {
      let last = await ask(team, 'GET', `/v2/user/${user}`)
      for (; last.status === 200; last = await ask(team, 'GET', `/v2/user/${user}`)) assert(++answered < 100, 'there is no limit')
      assert.deepEqual([last.status, last.headers['retry-after']], [503, '1'])
      assert(answered >= 5, `${answered} lines are not 3000 bytes`)
      assert.equal((await ask(team, 'POST', '/v2/user', { client_user_id: randomUUID() })).status, 200)
      const keyed = () => ask(team, 'POST', '/v2/user', { client_user_id: 'kept' }, { 'x-idempotency-key': user })
      assert.equal((await keyed()).status, 200)
      assert.equal((await keyed()).status, 503, 'an answer was shown again without a line')
      assert.equal((await ask(team, 'GET', '/v2/user')).status, 503)
    })
    await eventually(async () => {
      await log.flush().catch(() => {})
      return (await readWrittenLines(team, 'get_user')).length === answered
    })
    assert.equal((await ask(team, 'GET', `/v2/user/${user}`)).status, 200)
    assert.equal(lost, 3, 'a refusal that could not be kept is not counted')
    assert.equal((await readWrittenLines(team, 'create_user')).length, 3)
  })

  test('come with the next statement while one is under way, and not each with one of its own', async () => {
    const { ask, log } = serving({ mode: 'batched', delay_ms: 60_000 })
    const team = await createTestTeam('production-us')
    await access.flush()
    const client = await team.db.pool.connect()
    await client.query('begin; set local role none; lock table access_day in exclusive mode')
    const user = randomUUID()
    assert.equal((await ask(team, 'GET', '/v2/user')).status, 200)
    const first = log.flush()
    assert.equal((await ask(team, 'GET', `/v2/user/${user}`)).status, 404)
    await client.query('commit')
    client.release()
    await first
    assert.deepEqual(
      [(await readWrittenLines(team, 'get_teams_users')).length, (await readWrittenLines(team, 'get_user')).length],
      [1, 0],
    )
    await log.flush()
    assert.equal((await readWrittenLines(team, 'get_user')).length, 1)
  })

  test('are written when the server stops', async () => {
    const { ask, log } = serving({ mode: 'batched', delay_ms: 60_000 })
    const team = await createTestTeam()
    await ask(team, 'GET', '/v2/user')
    assert.equal((await readWrittenLines(team, 'get_teams_users')).length, 0)
    await log.stop()
    assert.equal((await readWrittenLines(team, 'get_teams_users')).length, 1)
  })
})

test('a list over several teams leaves a line for each team, with its own users', async () => {
  const team = await createTestTeam()
  const other = (await team.manage.post('/team', { name: 'Another', region: 'us' })).body.id as string
  const key = (await team.manage.post('/team_api_keys/sandbox/us', { label: 'x', team_id: other })).body.value as string
  const users = new Map<string, string>()
  for (const [id, api] of [
    [team.team, team.api],
    [other, client(key)],
  ] as const) {
    const user = (await api.post('/v2/user', { client_user_id: randomUUID() })).body.user_id as string
    const byHand = { ...labTest, lab_slug: 'manual', provider_ids: ['MAN-A1C'] }
    const lab_test_id = (await api.post('/v3/lab_tests', byHand)).body.id as string
    assert.equal((await api.post('/v3/order', { ...placing(user), lab_test_id })).status, 200)
    users.set(id, user)
  }
  const { body } = await team.manage.get('/fulfillment/sandbox/us')
  assert.equal(body.data.length, 2)
  await access.flush()
  const { rows } = await team.db.pool.query<{ team_id: string; users: string[] }>(
    `select team_id, users::text[] as users from access_log
     where line like '%"list_fulfillment_work"%' and (team_id = any ($1) or team_id is null and line like $2)`,
    [[...users.keys()], `%${team.org_id}%`],
  )
  assert.deepEqual(new Map(rows.map((row) => [row.team_id, row.users[0]!])), users)
  assert(rows.every((row) => row.users.length === 1))
})
