// The movable clock of a sandbox team: it only moves forward and runs the jobs that become due.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { iso, addSeconds } from '../../platform/runtime/clock.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { SECONDS_PER_DAY, getOrder, createOrder } from '../../../test/support/orders.ts'
import { createTestTeam, MOVE_JOBS_MAX, type TestTeam } from '../../../test/support/server.ts'
import { timeAfter } from '../../../test/support/teams.ts'

const CLOCK = '/v1/sandbox/clock'
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/

const advance = ({ api }: TestTeam, duration: Record<string, unknown>) => api.post(`${CLOCK}/advance`, duration)
const read = async ({ api }: TestTeam): Promise<{ now: string; offset_s: number }> => (await api.get(CLOCK)).body
const seconds = (start: string, end: string) => (Date.parse(end) - Date.parse(start)) / 1000

describe("a team's clock", () => {
  test("a team's clock shows the system time until it is advanced", async () => {
    const team = await createTestTeam()
    const { status, body } = await team.api.get(CLOCK)
    assert.equal(status, 200)
    assert.match(body.now, TIMESTAMP)
    assert.deepEqual(Object.keys(body), ['now', 'offset_s'])
    assert.equal(body.offset_s, 0)
    assert.ok(Math.abs(seconds(body.now, iso(new Date(await timeAfter(team, 0))))) < 60)
  })

  test('advances by seconds, immediately and for all later operations', async () => {
    const team = await createTestTeam()
    const before = await read(team)
    const { status, body } = await advance(team, { seconds: SECONDS_PER_DAY })
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body), ['now', 'offset_s', 'jobs_run', 'complete', 'jobs'])
    assert.deepEqual([body.jobs_run, body.complete], [0, true])
    const passed = seconds(before.now, body.now)
    assert.ok(passed >= SECONDS_PER_DAY && passed < SECONDS_PER_DAY + 60, String(passed))
    assert.ok(Math.abs(body.offset_s - SECONDS_PER_DAY) <= 1, String(body.offset_s))
    assert.ok(seconds(body.now, (await read(team)).now) >= 0)
    const { created_on } = (await team.api.post('/v2/user', { client_user_id: 'first' })).body
    assert.ok(seconds(body.now, created_on) >= 0)
  })

  test('advances to an instant, in every accepted format', async () => {
    const team = await createTestTeam()
    for (const [days, form] of [
      [1, (text: string) => text],
      [2, (text: string) => text.replace('+00:00', 'Z')],
      [3, (text: string) => text.slice(0, 19).replace('T', ' ')],
      [4, (text: string) => text.slice(0, 10)],
    ] as const) {
      const to = await timeAfter(team, days * SECONDS_PER_DAY)
      const { status, body } = await advance(team, { to: form(to) })
      assert.equal(status, 200, form(to))
      const behind = seconds(days === 4 ? `${to.slice(0, 10)}T00:00:00Z` : to, body.now)
      assert.ok(behind >= 0 && behind < 60, String(behind))
    }
  })

  test('only moves forward', async () => {
    const team = await createTestTeam()
    await advance(team, { seconds: SECONDS_PER_DAY })
    const before = await read(team)
    for (const to of ['2001-01-01', await timeAfter(team, -1), await timeAfter(team, -SECONDS_PER_DAY)]) {
      const { status, body } = await advance(team, { to })
      assert.deepEqual([status, body], [400, { detail: 'The clock can only move forward' }])
    }
    assert.equal((await read(team)).offset_s, before.offset_s)
  })

  test('moves at most ten years at a time', async () => {
    const team = await createTestTeam()
    const refused = await advance(team, { to: await timeAfter(team, 3651 * SECONDS_PER_DAY) })
    assert.deepEqual(
      [refused.status, refused.body],
      [400, { detail: 'The clock can be advanced by at most ten years at a time' }],
    )
    const { status, body } = await advance(team, { seconds: 315_360_001 })
    assert.deepEqual([status, body.detail[0].type], [422, 'less_than_equal'])
    assert.equal((await advance(team, { seconds: 315_360_000 })).status, 200)
  })

  const wrong: [string, Record<string, unknown>, string[], string][] = [
    ['an empty body', {}, ['body'], 'value_error'],
    ['null for both fields', { seconds: null, to: null }, ['body'], 'value_error'],
    ['both fields', { seconds: 1, to: '2999-01-01' }, ['body'], 'value_error'],
    ['zero seconds', { seconds: 0 }, ['body', 'seconds'], 'greater_than_equal'],
    ['negative seconds', { seconds: -5 }, ['body', 'seconds'], 'greater_than_equal'],
    ['fractions of seconds', { seconds: 1.5 }, ['body', 'seconds'], 'int_from_float'],
    ['seconds as text', { seconds: '5' }, ['body', 'seconds'], 'int_type'],
    ['an invalid instant', { to: 'tomorrow' }, ['body', 'to'], 'datetime_parsing'],
  ]
  for (const [what, by, loc, type] of wrong)
    test(`rejects ${what}`, async () => {
      const team = await createTestTeam()
      const { status, body } = await advance(team, by)
      assert.deepEqual([status, body.detail[0].loc, body.detail[0].type], [422, loc, type])
      assert.equal((await read(team)).offset_s, 0)
    })

  test('advancing a clock leaves the clocks of other teams and cells unchanged', async () => {
    const [team, other, european] = [await createTestTeam(), await createTestTeam(), await createTestTeam('sandbox-eu')]
    await advance(team, { seconds: SECONDS_PER_DAY })
    assert.deepEqual([(await read(other)).offset_s, (await read(european)).offset_s], [0, 0])
    assert.equal((await advance(european, { seconds: 60 })).status, 200)
  })

  test('does not exist in production', async () => {
    const team = await createTestTeam('production-eu')
    for (const reply of [await team.api.get(CLOCK), await advance(team, { seconds: 60 }), await advance(team, {})])
      assert.deepEqual([reply.status, reply.body], [404, { detail: 'Not Found' }])
  })
})

describe('jobs due during an advance', () => {
  /** When each of the team's events was emitted, oldest first. */
  const eventsOf = async ({ db, team }: TestTeam) =>
    db.queries.many(
      T.Object({ type: T.String(), object_id: T.String(), created_at: T.String() }),
      sql`select type, object_id, created_at from event where team_id = ${team} order by id`,
    )

  test('run in order at their scheduled times, including jobs they enqueue', async () => {
    const team = await createTestTeam()
    const [slow, fast] = [await createOrder(team), await createOrder(team)]
    await team.api.post(`/v3/order/${slow.id}/test?delay=3600`)
    await team.api.post(`/v3/order/${fast.id}/test?delay=1000`)
    const { status, body } = await advance(team, { seconds: 7200 })
    assert.equal(status, 200)
    assert.deepEqual([body.jobs_run, body.complete], [3 + 7, true])
    assert.deepEqual(body.jobs, [{ kind: 'simulated_step', job: 'simulator.step', count: 3 + 7 }])
    const since = async (id: string) => {
      const { events } = await getOrder(team, id)
      return events.slice(1).map((event) => seconds(events[1]!.created_at, event.created_at))
    }
    assert.deepEqual(await since(slow.id), [0, 3600, 7200])
    assert.deepEqual(await since(fast.id), [0, 1000, 2000, 3000, 4000, 5000, 6000])
    const times = (await eventsOf(team)).map((event) => event.created_at)
    assert.deepEqual(times, [...times].sort(), 'events are in the order of their times')
    assert.deepEqual(await team.jobs(), ['simulator.step'])
    assert.equal((await advance(team, { seconds: SECONDS_PER_DAY })).body.jobs_run, 4)
    assert.deepEqual(await since(slow.id), [0, 3600, 7200, 10800, 14400, 18000, 21600])
    assert.deepEqual(await team.jobs(), [])
  })

  test('an advance runs jobs up to its last second, and no job after it', async () => {
    const team = await createTestTeam()
    const { id } = await createOrder(team)
    await team.api.post(`/v3/order/${id}/test?delay=3600`)
    await team.settle()
    const first = (await getOrder(team, id)).last_event.created_at
    await advance(team, { to: iso(addSeconds(new Date(first), 3599)) })
    // The clock continues during the test, but no worker looks for jobs: the next advance runs the due ones.
    assert.equal((await getOrder(team, id)).events.length, 2)
    await advance(team, { to: iso(addSeconds(new Date(first), 3600 + 60)) })
    const { events } = await getOrder(team, id)
    assert.equal(events.length, 3)
    assert.ok(seconds(first, events[2]!.created_at) >= 3600 && seconds(first, events[2]!.created_at) < 3660)
  })

  test('a job that was already due runs at the current time, because the clock never moves back', async () => {
    const team = await createTestTeam()
    const order = await createOrder(team)
    await team.api.post(`/v3/order/${order.id}/test?delay=60`)
    await team.db.queries.run(sql`
      update job set run_at = run_at - interval '1 hour', due_at = due_at - interval '1 hour' where team_id = ${team.team}`)
    await advance(team, { seconds: 90 })
    const { events } = await getOrder(team, order.id)
    assert.ok(seconds(order.created_at, events[1]!.created_at) >= 0)
    assert.equal(seconds(events[1]!.created_at, events[2]!.created_at), 60)
  })

  test('an advance runs no job of another team', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const { id } = await createOrder(other)
    await other.api.post(`/v3/order/${id}/test?delay=60`)
    assert.equal((await advance(team, { seconds: SECONDS_PER_DAY })).body.jobs_run, 0)
    assert.equal((await getOrder(other, id)).events.length, 1)
  })

  test('waiting jobs move with the clock, so that each stays due at its own time', async () => {
    const team = await createTestTeam()
    const { user_id } = await createOrder(team)
    await team.api.delete(`/v2/user/${user_id}`)
    await advance(team, { seconds: 3 * SECONDS_PER_DAY })
    const { run_at, due_at } = await team.db.queries.one(
      T.Object({ run_at: T.String(), due_at: T.String() }),
      sql`select run_at, due_at from job where team_id = ${team.team} and name = 'users.erase'`,
    )
    assert.equal(seconds(due_at, run_at), (await read(team)).offset_s)
  })

  test('continues in further calls after the job limit', async () => {
    const team = await createTestTeam()
    await team.db.queries.run(sql`
      insert into job (id, team_id, name, payload, run_at, due_at)
      select gen_random_uuid(), ${team.team}, 'users.end_ingestion', json_build_object('user_id', gen_random_uuid())::text, at, at
      from generate_series(1, ${MOVE_JOBS_MAX + 3}::integer) n cross join lateral (select date_trunc('second', now()) + n * interval '10 seconds' as at) t`)
    const { now } = await read(team)
    const first = (await advance(team, { seconds: SECONDS_PER_DAY })).body
    assert.deepEqual([first.jobs_run, first.complete], [MOVE_JOBS_MAX, false])
    const stopped = seconds(now, first.now)
    assert.ok(Math.abs(stopped - 10 * MOVE_JOBS_MAX) < 60, `the clock stands where the work was interrupted: ${stopped}`)
    assert.equal((await team.jobs()).length, 3)
    const second = (await advance(team, { to: iso(addSeconds(new Date(now), SECONDS_PER_DAY)) })).body
    assert.deepEqual([second.jobs_run, second.complete], [3, true])
    assert.ok(seconds(now, second.now) >= SECONDS_PER_DAY)
  })
})
