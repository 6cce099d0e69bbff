// Simulations that wait for an instant. Source: lab-testing.md 6.3, 24.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { iso, machineNow } from '../platform/clock.ts'
import { teamNow } from '../platform/db.ts'
import { T } from '../platform/schema.ts'
import { sql } from '../platform/sql.ts'
import { DAY_S, orderOf, pass, placed, tenantOf } from '../testing-orders.ts'
import { given, type Given } from '../testing.ts'
import { KNOWN, start, statuses, tracking, updates } from './simulator.fixture.ts'

const lows = async (team: Given, id: string) => statuses(await orderOf(team, id)).map((status) => status.split('.').at(-1))
const nowOf = async (team: Given) => teamNow(await tenantOf(team))

async function dayIn(team: Given, days: number): Promise<string> {
  return new Date((await nowOf(team)).getTime() + days * DAY_S * 1000).toISOString().slice(0, 10)
}

/** Move the clock to an instant, or to so many seconds from it. */
async function until(team: Given, at: string | number | Date, seconds = 0): Promise<void> {
  const left_s = (new Date(at).getTime() - (await nowOf(team)).getTime()) / 1000 + seconds
  await pass(team, left_s)
}

const midnight = (day: string) => `${day}T00:00:00+00:00`

describe('simulating an order for a date', () => {
  test('waits for the date, and goes on when the clock passes it', async () => {
    const team = await given()
    const date = await dayIn(team, 3)
    const { id } = await placed(team, { activate_by: date })
    await start(team, id)
    await team.settle()
    assert.deepEqual(await lows(team, id), ['ordered'])
    await until(team, date, -60)
    assert.deepEqual(await lows(team, id), ['ordered'])
    await pass(team, 120)
    const order = await orderOf(team, id)
    assert.deepEqual(statuses(order), KNOWN)
    assert.deepEqual(
      order.events.slice(1).map(({ created_at }) => created_at),
      updates(7).map(() => midnight(date)),
    )
    assert.deepEqual(await team.jobs(), [])
  })

  test('keeps the pace that was asked for after the date', async () => {
    const team = await given()
    const date = await dayIn(team, 2)
    const { id } = await placed(team, { activate_by: date })
    await start(team, id, { delay: '3600', final_status: 'collecting_sample.testkit.transit_customer' })
    await until(team, date, 2 * DAY_S)
    assert.deepEqual(
      (await orderOf(team, id)).events.slice(1).map(({ created_at }) => created_at),
      [midnight(date), iso(new Date(Date.parse(date) + 3_600_000))],
    )
  })

  test('goes by the date that the order has got meanwhile, or at once when it has none any more', async () => {
    for (const [first, second] of [
      [2, 4],
      [4, 2],
      [3, null],
    ] as const) {
      const team = await given()
      const { id } = await placed(team, { activate_by: await dayIn(team, first) })
      await start(team, id)
      await team.settle()
      const date = second === null ? null : await dayIn(team, second)
      assert.equal((await team.api.patch(`/v3/order/${id}`, { activate_by: date })).status, 200)
      await team.settle()
      if (date === null) assert.deepEqual(statuses(await orderOf(team, id)), KNOWN)
      else {
        assert.deepEqual(await lows(team, id), ['ordered'])
        await until(team, date, -1)
        assert.deepEqual(await lows(team, id), ['ordered'])
      }
      await pass(team, 6 * DAY_S)
      const order = await orderOf(team, id)
      assert.deepEqual(statuses(order), KNOWN)
      if (date !== null) assert.equal(order.events[1]!.created_at, midnight(date))
      assert.deepEqual(await team.jobs(), [])
    }
  })

  test('does not wait where the order is to be cancelled', async () => {
    const team = await given()
    const { id } = await placed(team, { activate_by: await dayIn(team, 3) })
    await start(team, id, { final_status: 'cancelled.testkit.cancelled' })
    await team.settle()
    assert.deepEqual(await lows(team, id), ['ordered', 'cancelled'])
  })

  test('ships nothing where the order is cancelled before', async () => {
    const team = await given()
    const date = await dayIn(team, 1)
    const { id } = await placed(team, { activate_by: date })
    await start(team, id)
    await team.settle()
    assert.equal((await team.api.post(`/v3/order/${id}/cancel`)).status, 200)
    await pass(team, 3 * DAY_S)
    const order = await orderOf(team, id)
    assert.deepEqual([statuses(order).at(-1), tracking(order)], ['cancelled.testkit.cancelled', null])
    assert.deepEqual(await team.jobs(), [])
  })

  test('of today is not held up', async () => {
    const team = await given()
    const { id } = await placed(team, { activate_by: await dayIn(team, 0) })
    await start(team, id)
    await team.settle()
    assert.deepEqual(statuses(await orderOf(team, id)), KNOWN)
  })
})

const Due = T.Object({ due_at: T.String() })

test('the second step of a simulation comes no sooner than its delay after the first', async () => {
  const team = await given()
  const { id } = await placed(team)
  await start(team, id, { delay: '60' })
  // Late in a second: what is counted from its beginning comes too soon.
  const soon = (): boolean => machineNow().getMilliseconds() < 500 || machineNow().getMilliseconds() > 800
  for (const end = performance.now() + 60_000; soon(); await new Promise((resolve) => setTimeout(resolve, 10)))
    if (performance.now() > end) assert.fail('the clock stands still')
  const before = machineNow()
  await team.settle()
  const rows = await team.db.queries.many(
    Due,
    sql`select to_char(due_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as due_at from job where team_id = ${team.team}`,
  )
  assert.equal(rows.length, 1)
  const left_ms = new Date(rows[0]!.due_at).getTime() - before.getTime()
  assert.ok(left_ms >= 60_000, `the second step is due after ${left_ms} ms`)
})
