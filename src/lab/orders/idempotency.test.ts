// Repeated order requests create one order: by the caller's idempotency key on both paths, by content on one. Source: lab-testing.md 7.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { address, orderBody, patient, proxy, advanceTo } from '../../../test/support/orders.ts'
import { client, createTestTeam, guard, type TestTeam, type Reply } from '../../../test/support/server.ts'

const KEY = 'X-Idempotency-Key'
const ON_ERROR = 'X-Idempotency-Error'

type Body = Record<string, unknown>

const post = ({ api }: TestTeam, body: Body, headers: Record<string, string> = {}, path = '/v3/order'): Promise<Reply> =>
  api.post(path, body, headers)

const total = async ({ api }: TestTeam): Promise<number> => (await api.get('/v3/orders')).body.total

/** A body that every team gets a 404 for. */
const unknownUser = async (team: TestTeam) => orderBody(team, { user_id: randomUUID() })

const expire = ({ db, team }: TestTeam) =>
  db.queries.run(sql`update idempotency_key set expires_at = expires_at - interval '1 day' where team_id = ${team}`)

describe('with an idempotency key', () => {
  test('a repeated key returns the stored response and writes nothing', async () => {
    const team = await createTestTeam()
    const body = await orderBody(team)
    const first = await post(team, body, { [KEY]: 'once' })
    const second = await post(team, body, { [KEY]: 'once' })
    assert.equal(first.status, 200)
    assert.deepEqual([second.status, second.body], [200, first.body])
    assert.equal(await total(team), 1)
    assert.deepEqual(await team.events(), ['labtest.order.created'])
    assert.deepEqual(await team.jobs(), [])
  })

  test('a repeated key ignores the content of the later body but validates its shape', async () => {
    const team = await createTestTeam()
    const first = await post(team, await orderBody(team), { [KEY]: 'once' })
    const other = await post(team, await unknownUser(team), { [KEY]: 'once' })
    assert.deepEqual([other.status, other.body], [200, first.body])
    assert.equal((await post(team, {}, { [KEY]: 'once' })).status, 422)
  })

  test('a repeated key returns the stored response even if the order has changed since', async () => {
    const team = await createTestTeam()
    const body = await orderBody(team)
    const first = await post(team, body, { [KEY]: 'once' })
    await team.api.post(`/v3/order/${first.body.order.id}/cancel`)
    assert.deepEqual((await post(team, body, { [KEY]: 'once' })).body, first.body)
  })

  test('a different key creates a different order', async () => {
    const team = await createTestTeam()
    const body = await orderBody(team)
    const ids = new Set<string>()
    for (const key of ['a', 'b', 'A', 'a ', undefined, undefined])
      ids.add((await post(team, body, key === undefined ? {} : { [KEY]: `key ${key} end` })).body.order.id)
    assert.equal(ids.size, 6)
  })

  test('both creation paths share their idempotency keys', async () => {
    const team = await createTestTeam()
    const body = await orderBody(team)
    for (const [key, from, to] of [
      ['there', '/v3/order', '/v3/order/create'],
      ['back', '/v3/order/create', '/v3/order'],
    ] as const) {
      const first = await post(team, body, { [KEY]: key }, from)
      assert.deepEqual((await post(team, body, { [KEY]: key }, to)).body, first.body)
    }
    assert.equal(await total(team), 2)
  })

  test('teams do not share idempotency keys', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const first = await post(team, await orderBody(team), { [KEY]: 'once' })
    const second = await post(other, await orderBody(other), { [KEY]: 'once' })
    assert.deepEqual([first.status, second.status], [200, 200])
    assert.deepEqual([first.body.order.team_id, second.body.order.team_id], [team.team, other.team])
  })

  test('a repeated key returns a stored rejection even if the request has become valid', async () => {
    const team = await createTestTeam()
    const first = await post(team, await unknownUser(team), { [KEY]: 'once' })
    const second = await post(team, await orderBody(team), { [KEY]: 'once' })
    assert.deepEqual([first.status, first.body], [404, { detail: 'User does not exist on this team' }])
    assert.deepEqual([second.status, second.body], [first.status, first.body])
    assert.equal(await total(team), 0)
    assert.deepEqual(await team.events(), [])
  })

  test('idempotency-error: no-cache stores orders but not rejections', async () => {
    const team = await createTestTeam()
    const noCache = { [KEY]: 'once', [ON_ERROR]: 'no-cache' }
    assert.equal((await post(team, await unknownUser(team), noCache)).status, 404)
    const first = await post(team, await orderBody(team), noCache)
    assert.equal(first.status, 200)
    assert.deepEqual((await post(team, await unknownUser(team), noCache)).body, first.body)
    assert.equal(await total(team), 1)
  })

  test('a request with an invalid shape is not stored', async () => {
    const team = await createTestTeam()
    const body = await orderBody(team)
    assert.equal((await post(team, { ...body, priority: 'yes' }, { [KEY]: 'once' })).status, 422)
    assert.equal((await post(team, body, { [KEY]: 'once' })).status, 200)
  })

  test('a request with a value that no patient can have is not stored', async () => {
    const team = await createTestTeam()
    const body = await orderBody(team)
    const unborn = { ...body, patient_details: { ...patient, dob: '9999-01-01' } }
    assert.equal((await post(team, unborn, { [KEY]: 'once' })).status, 422)
    assert.equal((await post(team, body, { [KEY]: 'once' })).status, 200)
  })

  test('concurrent requests with one key create one order and return the same response', async () => {
    const team = await createTestTeam()
    const body = await orderBody(team)
    const replies = await Promise.all(
      ['/v3/order', '/v3/order/create', '/v3/order', '/v3/order/create'].map((path) => post(team, body, { [KEY]: 'once' }, path)),
    )
    for (const reply of replies) assert.deepEqual([reply.status, reply.body], [200, replies[0]!.body])
    assert.equal(await total(team), 1)
    assert.deepEqual(await team.events(), ['labtest.order.created'])
  })

  test('concurrent rejected requests with one key return the same response', async () => {
    const team = await createTestTeam()
    const [wrong, right] = [await unknownUser(team), await orderBody(team)]
    const [first, second] = await Promise.all([wrong, wrong].map((body) => post(team, body, { [KEY]: 'once' })))
    assert.deepEqual([first!.status, second!.status], [404, 404])
    assert.equal((await post(team, right, { [KEY]: 'once' })).status, 404)
  })

  test('a stored response expires after a day', async () => {
    const team = await createTestTeam()
    const body = await orderBody(team)
    const first = await post(team, body, { [KEY]: 'once' })
    const { left_s } = await team.db.queries.one(
      T.Object({ left_s: T.Number() }),
      sql`select extract(epoch from expires_at - now())::float8 as left_s from idempotency_key where team_id = ${team.team}`,
    )
    assert.ok(left_s > 86_000 && left_s <= 86_400, String(left_s))
    await expire(team)
    const second = await post(team, body, { [KEY]: 'once' })
    assert.notEqual(second.body.order.id, first.body.order.id)
    assert.deepEqual((await post(team, body, { [KEY]: 'once' })).body, second.body)
  })

  test('an idempotency key has 1 to 255 characters', async () => {
    const team = await createTestTeam()
    const body = await orderBody(team)
    for (const key of ['k', 'k'.repeat(255)]) assert.equal((await post(team, body, { [KEY]: key })).status, 200)
    for (const key of ['', 'k'.repeat(256)]) {
      const { status, body: refusal } = await post(team, body, { [KEY]: key })
      assert.equal(status, 422)
      assert.deepEqual([refusal.detail[0].loc, refusal.detail[0].type], [['header', KEY], 'value_error'])
    }
  })

  test('idempotency-error accepts no-cache only', async () => {
    const team = await createTestTeam()
    const body = await orderBody(team)
    for (const value of ['cache', 'No-Cache', '']) {
      const { status, body: refusal } = await post(team, body, { [KEY]: 'once', [ON_ERROR]: value })
      assert.equal(status, 422)
      assert.deepEqual(refusal.detail, [
        {
          loc: ['header', ON_ERROR],
          msg: "Input should be 'no-cache'",
          type: 'literal_error',
          ctx: { expected: "'no-cache'" },
        },
      ])
    }
    assert.equal(await total(team), 0)
  })

  test('stored responses are not shared between teams', async () => {
    const team = await createTestTeam()
    const body = await orderBody(team)
    await post(team, body, { [KEY]: 'once' })
    assert.equal((await client('sk_us_none').post('/v3/order', body, { [KEY]: 'once' })).status, 401)
  })
})

describe('without an idempotency key', () => {
  const create = (team: TestTeam, body: Body) => post(team, body, {}, '/v3/order/create')

  test('the idempotent path returns the same order for the same content', async () => {
    const team = await createTestTeam()
    const body = await orderBody(team)
    const first = await create(team, body)
    assert.equal(first.status, 200)
    const second = await create(team, body)
    assert.deepEqual([second.status, second.body], [200, first.body])
    assert.equal(await total(team), 1)
    assert.deepEqual(await team.events(), ['labtest.order.created'])
    assert.deepEqual(await team.jobs(), [])
  })

  test('the other path creates an order for each request, also for content already ordered on the idempotent path', async () => {
    const team = await createTestTeam()
    const body = await orderBody(team)
    const ids = [await create(team, body), await post(team, body), await post(team, body)].map((reply) => reply.body.order.id)
    assert.equal(new Set(ids).size, 3)
    assert.equal((await create(team, body)).body.order.id, ids[0])
  })

  test('different spellings of the same values are the same content', async () => {
    const team = await createTestTeam()
    const body = await orderBody(team, { clinical_notes: 'Once' })
    const first = await create(team, body)
    const { first_line, zip, ...rest } = address
    const spellings: Body[] = [
      Object.fromEntries(Object.entries(body).reverse()),
      { ...body, patient_address: { ...rest, street: first_line, zip_code: zip } },
      { ...body, patient_address: { ...address, country: 'united states', state: 'arizona', second_line: null } },
      { ...body, patient_details: { ...patient, phone_number: '+1 (555) 010-0199' } },
      { ...body, patient_details: { ...patient, gender: 'FEMALE', dob: '1990/01/31', race: null } },
      { ...body, user_id: String(body.user_id).toUpperCase(), unknown_field: 1 },
      { ...body, clinical_notes: undefined, comments: 'Once' },
    ]
    for (const spelling of spellings) assert.deepEqual((await create(team, spelling)).body, first.body)
    assert.equal(await total(team), 1)
  })

  test('any difference in content creates another order', async () => {
    const team = await createTestTeam()
    const body = await orderBody(team)
    const differences: Body[] = [
      {},
      { patient_address: { ...address, first_line: '2 Sample Way' } },
      { patient_details: { ...patient, phone_number: '+15550100198' } },
      { passthrough: 'second' },
      { user_id: await team.user() },
      { priority: true },
    ]
    for (const difference of differences) assert.equal((await create(team, { ...body, ...difference })).status, 200)
    assert.equal(await total(team), differences.length)
  })

  for (const steps of [
    ['cancelled'],
    ['requisition_created', 'transit_customer', 'do_not_process'],
    ['requisition_created', 'transit_customer', 'lost'],
    ['requisition_created', 'transit_customer', 'failure_to_deliver_to_customer'],
    ['requisition_created', 'transit_customer', 'with_customer', 'transit_lab', 'failure_to_deliver_to_lab'],
    ['requisition_created', 'transit_customer', 'with_customer', 'delivered_to_lab', 'sample_error'],
  ])
    test(`a repeated request replaces an order that ended as ${steps.at(-1)}, and further repeats return the new order`, async () => {
      const team = await createTestTeam()
      const body = await orderBody(team)
      const first = (await create(team, body)).body.order.id
      await advanceTo(team, first, ...steps)
      const second = await create(team, body)
      assert.equal(second.status, 200)
      assert.notEqual(second.body.order.id, first)
      assert.deepEqual((await create(team, body)).body, second.body)
      assert.equal(await total(team), 2)
    })

  for (const steps of [
    ['requisition_created'],
    ['requisition_created', 'transit_customer', 'with_customer', 'delivered_to_lab', 'completed'],
  ])
    test(`a repeated request for an order in status ${steps.at(-1)} returns the order as it was created`, async () => {
      const team = await createTestTeam()
      const body = await orderBody(team)
      const first = await create(team, body)
      await advanceTo(team, first.body.order.id, ...steps)
      assert.deepEqual((await create(team, body)).body, first.body)
    })

  test('replacing a cancelled order restarts the 24-hour window', async () => {
    const team = await createTestTeam()
    const body = await orderBody(team)
    const first = (await create(team, body)).body.order.id
    await team.db.queries.run(
      sql`update idempotency_key set expires_at = expires_at - interval '23 hours' where team_id = ${team.team}`,
    )
    await advanceTo(team, first, 'cancelled')
    await create(team, body)
    const { left_s } = await team.db.queries.one(
      T.Object({ left_s: T.Number() }),
      sql`select extract(epoch from expires_at - now())::float8 as left_s from idempotency_key where team_id = ${team.team}`,
    )
    assert.ok(left_s > 86_000, String(left_s))
  })

  test('the same content creates another order after a day', async () => {
    const team = await createTestTeam()
    const body = await orderBody(team)
    const first = (await create(team, body)).body.order.id
    await expire(team)
    assert.notEqual((await create(team, body)).body.order.id, first)
  })

  test('a rejected request without a key is not stored', async () => {
    const team = await createTestTeam('production-us')
    const body = await orderBody(team, { patient_details: { ...patient, dob: '2020-02-29', medical_proxy: proxy } })
    assert.equal((await create(team, body)).status, 400)
    await team.db.queries.run(
      sql`update team set settings = settings || '{"minor_ordering_enabled": true}' where id = ${team.team}`,
    )
    guard.invalidate(team.team)
    assert.equal((await create(team, body)).status, 200)
  })

  test('teams do not share content keys', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const body = await orderBody(team)
    assert.equal((await create(team, body)).status, 200)
    assert.equal((await create(other, body)).status, 404)
  })

  test('concurrent requests with the same content create one order', async () => {
    const team = await createTestTeam()
    const body = await orderBody(team)
    const replies = await Promise.all(Array.from({ length: 4 }, () => create(team, body)))
    for (const reply of replies) assert.deepEqual([reply.status, reply.body], [200, replies[0]!.body])
    assert.equal(await total(team), 1)
    assert.deepEqual(await team.events(), ['labtest.order.created'])
  })

  test('concurrent requests replace a cancelled order once', async () => {
    const team = await createTestTeam()
    const body = await orderBody(team)
    await advanceTo(team, (await create(team, body)).body.order.id, 'cancelled')
    const replies = await Promise.all(Array.from({ length: 4 }, () => create(team, body)))
    assert.equal(new Set(replies.map((reply) => reply.body.order.id)).size, 1)
    assert.equal(await total(team), 2)
  })

  test('different idempotency keys create different orders for the same content', async () => {
    const team = await createTestTeam()
    const body = await orderBody(team)
    const ids = ['a', 'b'].map((key) => post(team, body, { [KEY]: key }, '/v3/order/create'))
    const placed = (await Promise.all(ids)).map((reply) => reply.body.order.id)
    placed.push((await create(team, body)).body.order.id)
    assert.equal(new Set(placed).size, 3)
  })
})
