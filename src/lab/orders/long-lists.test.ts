// Long lists of orders: pages equal those of a plain query, and totals are exact.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import {
  countDuplicates,
  SECONDS_PER_DAY,
  kit,
  advanceClock,
  createOrder,
  registration,
  countLockWaiters,
  address,
  patient,
  shipping,
} from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { deleteUser } from '../../people/users/users.ts'
import { eraseOrders } from './orders.ts'
import type { Order } from './schema.ts'

const HOUR_S = 3600

const Id = T.Object({ id: T.String() })
const inOrder = async ({ db, team }: TestTeam): Promise<string[]> =>
  (
    await db.queries.many(
      Id,
      sql`
      select o.id from lab_order o join "user" u on u.team_id = o.team_id and u.id = o.user_id
      where o.team_id = ${team} and u.deleted_at is null order by o.created_at, o.id`,
    )
  ).map((row) => row.id)

const totalOf = async (team: TestTeam): Promise<number> => (await team.api.get('/v3/orders')).body.total as number

/** Checks that pages in both directions and every total equal those of a plain query. */
async function assertExact(team: TestTeam): Promise<void> {
  const ids = await inOrder(team)
  const total = ids.length
  for (const [direction, expected] of [
    ['asc', ids],
    ['desc', ids.toReversed()],
  ] as const)
    for (const [size, pages] of [
      [100, [1, 2, 5, Math.ceil(total / 100), Math.ceil(total / 100) + 1]],
      [7, [1, 3, 72, Math.ceil(total / 7)]],
    ] as const)
      for (const page of pages) {
        const { body } = await team.api.get(`/v3/orders?size=${size}&page=${page}&order_direction=${direction}`)
        assert.equal(body.total, total)
        assert.deepEqual(
          body.orders.map((order: Order) => order.id),
          expected.slice((page - 1) * size, page * size),
          `page ${page} of ${size}, ${direction}`,
        )
      }
  assert.equal((await team.api.get('/v2/user/metrics')).body.number_of_ordered_tests, total)
}

test('pages stay correct after a user is deleted, restored, deleted again and erased', async () => {
  const team = await createTestTeam()
  const [stays, goes] = [await team.user('stays'), await team.user('goes')]
  const [first, second] = [await createOrder(team, { user_id: stays }), await createOrder(team, { user_id: goes })]
  await countDuplicates(team, first, 300, 3 * HOUR_S)
  await countDuplicates(team, second, 250, 2 * HOUR_S)
  await countDuplicates(team, first, 300, HOUR_S)
  await assertExact(team)
  await team.api.delete(`/v2/user/${goes}`)
  assert.equal(await totalOf(team), 601)
  await assertExact(team)
  await team.api.post(`/v2/user/undo_delete?user_id=${goes}`)
  assert.equal(await totalOf(team), 852)
  await assertExact(team)
  await team.api.delete(`/v2/user/${goes}`)
  await advanceClock(team, 7 * SECONDS_PER_DAY)
  const { rows } = await team.db.pool.query('select from lab_order where team_id = $1 and user_id = $2', [team.team, goes])
  assert.equal(rows.length, 0)
  assert.equal(await totalOf(team), 601)
  await assertExact(team)
})

test('the total is exact after concurrent orders of which some are rejected at the end of their transaction', async () => {
  const [team, other] = [await createTestTeam(), await createTestTeam()]
  const { id, user_id } = await createOrder(team)
  await createOrder(other)
  const lab_test_id = await team.test('walk_in_test')
  const importOrder = (sample_id: string) =>
    team.api.post('/v3/order/import', {
      user_id,
      billing_type: 'client_bill',
      order_set: { lab_test_ids: [lab_test_id] },
      collection_method: 'walk_in_test',
      patient_details: patient,
      patient_address: { ...address, receiver_name: 'Testa Fictional' },
      sample_id,
    })
  // One in three has the sample id of another one.
  const replies = await Promise.all(Array.from({ length: 24 }, (_, i) => importOrder(i % 3 === 0 ? 'SAME' : `OTHER-${i}`)))
  const statuses = replies.map(({ status }) => status).toSorted()
  assert.deepEqual(statuses, [...Array<number>(17).fill(200), ...Array<number>(7).fill(422)])
  assert.equal(await totalOf(team), 18)
  assert.equal(await totalOf(other), 1)
  await assert.rejects(
    team.db.tx(team.tenant, async (tx) => {
      await eraseOrders(tx, user_id)
      throw new Error('rolled back')
    }),
    /rolled back/,
  )
  assert.equal(await totalOf(team), 18)
  assert.ok((await inOrder(team)).includes(id))
})

test('the total is exact if the user of an order is deleted while the order is created', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  await createOrder(team, { user_id })
  const [, created] = await Promise.all([
    team.api.delete(`/v2/user/${user_id}`),
    team.api.post('/v3/order/testkit', { user_id, lab_test_id: await team.test(), shipping_details: shipping }),
  ])
  assert.ok([200, 404].includes(created.status))
  assert.equal(await totalOf(team), 0)
  await team.api.post(`/v2/user/undo_delete?user_id=${user_id}`)
  await assertExact(team)
})

test('pages stay correct if a kit is registered for another user and that user is deleted', async () => {
  const team = await createTestTeam()
  const [stock, person] = [await team.user('stock'), await team.user('person')]
  const { sample_id } = await kit(team, { user_id: stock })
  await createOrder(team)
  assert.equal((await team.api.post('/v3/order/testkit/register', registration(sample_id, { user_id: person }))).status, 200)
  await team.api.delete(`/v2/user/${stock}`)
  assert.equal(await totalOf(team), 2)
  await team.api.delete(`/v2/user/${person}`)
  assert.equal(await totalOf(team), 1)
  await assertExact(team)
})

test('pages stay correct if a kit is registered while the user it was ordered for is deleted', async () => {
  const team = await createTestTeam()
  const [stock, person] = [await team.user('stock'), await team.user('person')]
  const { sample_id } = await kit(team, { user_id: stock })
  let registered: Promise<unknown> | undefined
  await team.db.tx(team.tenant, async (tx) => {
    await deleteUser(tx, stock)
    registered = team.api.post('/v3/order/testkit/register', registration(sample_id, { user_id: person }))
    await Promise.race([registered, countLockWaiters(1)])
  })
  await registered
  await assertExact(team)
})
