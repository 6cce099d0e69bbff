// Long lists of orders: with marks, pages and totals must be what they would be without.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Tx } from '../platform/db.ts'
import { enqueue } from '../platform/outbox.ts'
import { T } from '../platform/schema.ts'
import { sql } from '../platform/sql.ts'
import { copies, DAY_S, kit, pass, placed, tenantOf, waiters } from '../testing-orders.ts'
import { given, type Given } from '../testing.ts'
import { eraseOrdersHandler } from './erase.ts'
import { isMarkTurn, markOrders, MARK_STRIDE } from './marks.ts'
import type { Order } from './schema.ts'

const HOUR_S = 3600

const setMarks = async (team: Given) => {
  await team.db.tx(await tenantOf(team), async (tx) => enqueue(tx, markOrders, {}))
  await team.settle()
}

const Id = T.Object({ id: T.String() })
const inOrder = async ({ db, team }: Given): Promise<string[]> =>
  (await db.queries.many(Id, sql`select id from lab_order where team_id = ${team} order by created_at, id`)).map((row) => row.id)

const Mark = T.Object({ rank: T.Integer(), id: T.String() })
const marksOf = ({ db, team }: Given) =>
  db.queries.many(Mark, sql`select rank, id from order_mark where team_id = ${team} order by rank`)

/** Whether every page in both directions, and every total, is what a plain query says; and each mark stands where it says. */
async function assertExact(team: Given): Promise<void> {
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
  for (const { rank, id } of await marksOf(team)) assert.equal(ids[rank], id)
}

const ranksOf = async (team: Given): Promise<number[]> => (await marksOf(team)).map((mark) => mark.rank)

describe('a long list of orders', () => {
  test('is the same with marks as without, and as it grows', async () => {
    const team = await given()
    const model = await placed(team)
    await copies(team, model, 3 * MARK_STRIDE + 3, HOUR_S)
    await assertExact(team)
    await setMarks(team)
    assert.deepEqual(await ranksOf(team), [500, 1000, 1500])
    await assertExact(team)
    for (let n = 0; n < 3; n++) await placed(team)
    await assertExact(team)
    await setMarks(team)
    assert.deepEqual(await ranksOf(team), [500, 1000, 1500])
  })

  test('gets further marks as it grows, each once, also from runs at the same time', async () => {
    const team = await given()
    const model = await placed(team)
    await copies(team, model, MARK_STRIDE + 1, 2 * HOUR_S)
    await setMarks(team)
    assert.deepEqual(await ranksOf(team), [500])
    await copies(team, model, 2 * MARK_STRIDE, HOUR_S)
    await Promise.all([setMarks(team), setMarks(team), setMarks(team)])
    assert.deepEqual(await ranksOf(team), [500, 1000, 1500])
    await assertExact(team)
  })

  test('gets no mark where an order is younger than two minutes', async () => {
    const team = await given()
    await copies(team, await placed(team), MARK_STRIDE + 20, 0)
    await setMarks(team)
    assert.deepEqual(await ranksOf(team), [])
    await assertExact(team)
  })

  test('is right after the orders of a user were erased, before and after marks are set again', async () => {
    const team = await given()
    const [stays, goes] = [await team.user('stays'), await team.user('goes')]
    const kept = await placed(team, { user_id: stays })
    const erased = await placed(team, { user_id: goes })
    await copies(team, kept, 700, 3 * HOUR_S)
    await copies(team, erased, 450, 2 * HOUR_S)
    await copies(team, kept, 700, HOUR_S)
    await setMarks(team)
    assert.deepEqual(await ranksOf(team), [500, 1000, 1500])
    await team.api.delete(`/v2/user/${goes}`)
    await pass(team, 7 * DAY_S)
    assert.deepEqual(await ranksOf(team), [500], 'those behind the first erased order are gone')
    assert.equal((await inOrder(team)).length, 1401)
    await assertExact(team)
    await setMarks(team)
    assert.deepEqual(await ranksOf(team), [500, 1000])
    await assertExact(team)
  })

  test('is right when orders are erased while marks are being set', async () => {
    const team = await given()
    const [stays, goes] = [await team.user('stays'), await team.user('goes')]
    await copies(team, await placed(team, { user_id: goes }), 100, 2 * HOUR_S)
    await copies(team, await placed(team, { user_id: stays }), 600, HOUR_S)
    await team.api.delete(`/v2/user/${goes}`)
    await team.db.queries.run(sql`
      update "user" set deleted_at = deleted_at - interval '8 days' where id = ${goes} and team_id = ${team.team}`)
    const context = { tenant: team.tenant, tx: <R>(work: (tx: Tx) => Promise<R>) => team.db.tx(team.tenant, work) }
    let erased: Promise<void> | undefined
    await team.db.tx(team.tenant, async (tx) => {
      await tx.locking.run(sql`select id from team where id = ${tx.team} for no key update`)
      const { created_at, id } = await tx.one(
        T.Object({ created_at: T.String(), id: T.String() }),
        sql`
        select created_at, id from lab_order where team_id = ${tx.team} order by created_at, id offset ${MARK_STRIDE} limit 1`,
      )
      erased = eraseOrdersHandler.run(context, { user_id: goes })
      await Promise.race([erased, waiters(team, 1)])
      await tx.run(sql`
        insert into order_mark (team_id, rank, created_at, id) values (${tx.team}, ${MARK_STRIDE}, ${created_at}, ${id})`)
    })
    await erased
    assert.equal((await inOrder(team)).length, 601)
    await assertExact(team)
  })

  test('has marks of its own team alone', async () => {
    const [team, other] = [await given(), await given()]
    await copies(team, await placed(team), MARK_STRIDE + 1, HOUR_S)
    await setMarks(team)
    await setMarks(other)
    await placed(other)
    assert.deepEqual([await ranksOf(team), await ranksOf(other)], [[500], []])
    assert.equal((await other.api.get('/v3/orders')).body.total, 1)
  })
})

test('whichever order takes the id whose turn it is has the marks set, and so, in any rhythm, one does in the end', async () => {
  const team = await given()
  for (const place of [placed, kit]) {
    // The next block of ids has a turn in it.
    await team.db.queries.run(sql`select setval('order_event_id', ${place === placed ? 1400 : 1899})`)
    const user_id = await team.user()
    let turns = 0
    for (let i = 0; i < 96; i++) {
      const [first] = (await place(team, { user_id })).events
      const turn = isMarkTurn([first!.id, first!.id + 1])
      assert.equal((await team.jobs()).includes('orders.mark'), turn, place.name)
      await team.settle()
      if (turn) turns++
    }
    assert.equal(turns, 1, place.name)
  }
  for (const step of [2, 4, 6, 10, 20, 34, 50, 100, 500]) {
    const turns = Array.from({ length: 500 }, (_, i) => [i * step + 1, i * step + 2]).filter(isMarkTurn)
    assert.ok(turns.length >= 2, `${step} ids for each order`)
  }
})
