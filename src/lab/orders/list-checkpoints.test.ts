// Long lists of orders: checkpoints must not change pages or totals.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { enqueue } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import {
  countDuplicates,
  SECONDS_PER_DAY,
  kit,
  advanceClock,
  createOrder,
  registration,
  tenantOf,
  countLockWaiters,
} from '../../../test/support/orders.ts'
import { rowsRead } from '../../../test/support/rows-read.ts'
import { asOwner, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { shouldQueueCheckpoints, createCheckpoints, CHECKPOINT_INTERVAL, orderList } from './list-checkpoints.ts'
import { deleteUser } from '../../people/users/users.ts'
import type { Order } from './schema.ts'

const HOUR_S = 3600

const setMarks = async (team: TestTeam) => {
  await team.db.tx(await tenantOf(team), async (tx) => enqueue(tx, createCheckpoints, {}))
  await team.settle()
}

const Id = T.Object({ id: T.String() })
const inOrder = async ({ db, team }: TestTeam): Promise<string[]> =>
  (
    await db.queries.many(
      Id,
      sql`
      select o.id from lab_order o join "user" u on u.id = o.user_id
      where o.team_id = ${team} and u.deleted_at is null order by o.created_at, o.id`,
    )
  ).map((row) => row.id)

const Rank = T.Object({ rank: T.Integer() })
/** The rank of each checkpoint: the number of listed orders before it. */
const ranksOf = async ({ db, team }: TestTeam): Promise<number[]> =>
  (
    await db.queries.many(
      Rank,
      sql`
      select sum(shown) over (order by created_at, id)::bigint as rank from order_checkpoint
      where team_id = ${team} order by created_at, id`,
    )
  ).map(({ rank }) => rank)

/** Checks that every page in both directions and every total equal those of a plain query. */
async function assertExact(team: TestTeam): Promise<void> {
  const ids = await inOrder(team)
  const total = ids.length
  for (const [direction, expected] of [
    ['asc', ids],
    ['desc', [...ids].reverse()],
  ] as const)
    for (const [size, pages] of [
      [100, [1, 2, 5, 6, Math.ceil(total / 100) - 1, Math.ceil(total / 100), Math.ceil(total / 100) + 1]],
      [7, [1, 3, 72, 143, 144, Math.ceil(total / 7)]],
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

describe('a long list of orders', () => {
  test('a long list returns the same pages with and without checkpoints', async () => {
    const team = await createTestTeam()
    const model = await createOrder(team)
    await countDuplicates(team, model, 3 * CHECKPOINT_INTERVAL + 3, HOUR_S)
    await assertExact(team)
    await setMarks(team)
    assert.deepEqual(await ranksOf(team), [500, 1000, 1500])
    await assertExact(team)
    for (let n = 0; n < 3; n++) await createOrder(team)
    await assertExact(team)
    await setMarks(team)
    assert.deepEqual(await ranksOf(team), [500, 1000, 1500])
  })

  test('checkpoint creation adds checkpoints as the list grows, each once, also in concurrent runs', async () => {
    const team = await createTestTeam()
    const model = await createOrder(team)
    await countDuplicates(team, model, CHECKPOINT_INTERVAL + 1, 2 * HOUR_S)
    await setMarks(team)
    assert.deepEqual(await ranksOf(team), [500])
    await countDuplicates(team, model, 2 * CHECKPOINT_INTERVAL, HOUR_S)
    await Promise.all([setMarks(team), setMarks(team), setMarks(team)])
    assert.deepEqual(await ranksOf(team), [500, 1000, 1500])
    await assertExact(team)
  })

  test('no checkpoint is created for orders younger than two minutes', async () => {
    const team = await createTestTeam()
    await countDuplicates(team, await createOrder(team), CHECKPOINT_INTERVAL + 20, 0)
    await setMarks(team)
    assert.deepEqual(await ranksOf(team), [])
    await assertExact(team)
  })

  test('checkpoint creation reads no order that is too young, also when statistics are from before most orders came', async () => {
    const team = await createTestTeam()
    const { id } = await createOrder(team)
    const old = CHECKPOINT_INTERVAL + 100
    await countDuplicates(team, await createOrder(team), old, HOUR_S)
    await team.db.tx(await tenantOf(team), async (tx) => {
      // A table with orders of this team alone: where there are many teams the planner uses an index in any case.
      await tx.run(sql`create temporary table alone (like lab_order including all) on commit drop`)
      await tx.run(sql`insert into alone select * from lab_order where team_id = ${tx.team}`)
      await tx.run(sql`alter table alone rename to lab_order`)
      await tx.run(sql`analyze lab_order`)
      await tx.run(sql`
        insert into lab_order
        select (jsonb_populate_record(o, jsonb_build_object('id', gen_random_uuid(), 'sample_id', null, 'created_at', ${tx.now}::timestamptz))).*
        from lab_order o, generate_series(1, 5000) where o.id = ${id}`)
      const read = await rowsRead(tx, ['lab_order'], (watched) => orderList.set(watched))
      assert(read >= old && read <= old + 10, `${read} rows`)
    })
    assert.deepEqual(await ranksOf(team), [CHECKPOINT_INTERVAL])
  })

  test('pages stay correct after a user is deleted, restored, deleted again and erased', async () => {
    const team = await createTestTeam()
    const [stays, goes] = [await team.user('stays'), await team.user('goes')]
    const kept = await createOrder(team, { user_id: stays })
    const erased = await createOrder(team, { user_id: goes })
    await countDuplicates(team, kept, 700, 3 * HOUR_S)
    await countDuplicates(team, erased, 450, 2 * HOUR_S)
    await countDuplicates(team, kept, 700, HOUR_S)
    await setMarks(team)
    assert.deepEqual(await ranksOf(team), [500, 1000, 1500])
    await team.api.delete(`/v2/user/${goes}`)
    // Of the orders 500 to 1,000 the user has 300, and of the next 500 the user has 150.
    assert.deepEqual(await ranksOf(team), [500, 700, 1050])
    assert.equal((await inOrder(team)).length, 1401)
    await assertExact(team)
    await team.api.post(`/v2/user/undo_delete?user_id=${goes}`)
    assert.deepEqual(await ranksOf(team), [500, 1000, 1500])
    await assertExact(team)
    await team.api.delete(`/v2/user/${goes}`)
    await countDuplicates(team, kept, 200, HOUR_S / 2)
    await advanceClock(team, 7 * SECONDS_PER_DAY)
    assert.equal((await inOrder(team)).length, 1601)
    await assertExact(team)
    await setMarks(team)
    // The checkpoint of 700 was at an order of the user, so it is erased as well.
    assert.deepEqual(await ranksOf(team), [500, 1050, 1550])
    await assertExact(team)
  })

  test('pages stay correct if a user is deleted during checkpoint creation', async () => {
    const team = await createTestTeam()
    const [stays, goes] = [await team.user('stays'), await team.user('goes')]
    await countDuplicates(team, await createOrder(team, { user_id: goes }), 100, 2 * HOUR_S)
    await countDuplicates(team, await createOrder(team, { user_id: stays }), 600, HOUR_S)
    let set: Promise<void> | undefined
    await team.db.tx(team.tenant, async (tx) => {
      await deleteUser(tx, goes)
      set = setMarks(team)
      await Promise.race([set, countLockWaiters(1)])
    })
    await set
    assert.equal((await inOrder(team)).length, 601)
    assert.deepEqual(await ranksOf(team), [500])
    await assertExact(team)
  })

  test('pages stay correct if a kit is registered for another user and that user is deleted', async () => {
    const team = await createTestTeam()
    const [stock, person] = [await team.user('stock'), await team.user('person')]
    const { id, sample_id } = await kit(team, { user_id: stock })
    await team.db.pool.query(`update lab_order set created_at = created_at - interval '2 days' where id = $1`, [id])
    await countDuplicates(team, await createOrder(team), 600, HOUR_S)
    await setMarks(team)
    assert.deepEqual(await ranksOf(team), [500])
    assert.equal((await team.api.post('/v3/order/testkit/register', registration(sample_id, { user_id: person }))).status, 200)
    await team.api.delete(`/v2/user/${stock}`)
    assert.deepEqual(await ranksOf(team), [500])
    await assertExact(team)
    await team.api.delete(`/v2/user/${person}`)
    assert.deepEqual(await ranksOf(team), [499])
    await assertExact(team)
  })

  test('pages stay correct if a kit is registered while the user it was ordered for is deleted', async () => {
    const team = await createTestTeam()
    const [stock, person] = [await team.user('stock'), await team.user('person')]
    const { id, sample_id } = await kit(team, { user_id: stock })
    await team.db.pool.query(`update lab_order set created_at = created_at - interval '2 days' where id = $1`, [id])
    await countDuplicates(team, await createOrder(team), 600, HOUR_S)
    await setMarks(team)
    let registered: Promise<unknown> | undefined
    await team.db.tx(team.tenant, async (tx) => {
      await deleteUser(tx, stock)
      registered = team.api.post('/v3/order/testkit/register', registration(sample_id, { user_id: person }))
      await Promise.race([registered, countLockWaiters(1)])
    })
    await registered
    await assertExact(team)
  })

  test('a team uses its own checkpoints only', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    await countDuplicates(team, await createOrder(team), CHECKPOINT_INTERVAL + 1, HOUR_S)
    await setMarks(team)
    await setMarks(other)
    await createOrder(other)
    assert.deepEqual([await ranksOf(team), await ranksOf(other)], [[500], []])
    assert.equal((await other.api.get('/v3/orders')).body.total, 1)
  })
})

test('queues checkpoint creation when an event id reaches the trigger interval', async () => {
  const team = await createTestTeam()
  for (const place of [createOrder, kit]) {
    // The next block of ids contains a trigger id.
    await asOwner(`select setval('sandbox_us.order_event_id', $1)`, [place === createOrder ? 1400 : 1899])
    const user_id = await team.user()
    let turns = 0
    for (let i = 0; i < 96; i++) {
      const [first] = (await place(team, { user_id })).events
      const turn = shouldQueueCheckpoints([first!.id, first!.id + 1])
      assert.equal((await team.checkpointJobs()).includes('orders.create_checkpoints'), turn, place.name)
      await team.settle()
      if (turn) turns++
    }
    // The simulated laboratory takes ids as well, so that a slow machine passes a second trigger id.
    assert.ok(turns >= 1, place.name)
  }
  for (const step of [2, 4, 6, 10, 20, 34, 50, 100, 500]) {
    const turns = Array.from({ length: 500 }, (_, i) => [i * step + 1, i * step + 2]).filter(shouldQueueCheckpoints)
    assert.ok(turns.length >= 2, `${step} ids for each order`)
  }
})
