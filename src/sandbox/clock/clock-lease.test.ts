// Many teams advance their clocks concurrently in one process: each advance completes, and reads continue meanwhile.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import pg from 'pg'
import { Problem } from '../../platform/runtime/problem.ts'
import { LeaseLost } from '../../platform/db/leases.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { SECONDS_PER_DAY, countLockWaiters, createOrder } from '../../../test/support/orders.ts'
import { cells, clocks, connection, createTestTeam, runner, type TestTeam } from '../../../test/support/server.ts'
import { ClockMoves } from './clock-lease.ts'

const TEAMS = 50
const READERS = 4

const advance = ({ api }: TestTeam, seconds = SECONDS_PER_DAY) => api.post('/v1/sandbox/clock/advance', { seconds })
const db = cells.db('sandbox-us')

async function createSimulatedTeam(): Promise<TestTeam> {
  const team = await createTestTeam()
  const { id } = await createOrder(team)
  await team.api.post(`/v3/order/${id}/test?delay=3600`)
  return team
}

test('50 teams advance their clocks concurrently: every call returns 200, and reads are answered meanwhile', async (t) => {
  const teams = await Promise.all(Array.from({ length: TEAMS }, createSimulatedTeam))
  const times_ms: number[] = []
  const statuses = new Set<number>()
  let moving = true
  const reader = async (team: TestTeam) => {
    while (moving) {
      const began = performance.now()
      statuses.add((await team.api.get('/v3/orders')).status)
      times_ms.push(performance.now() - began)
    }
  }
  const readers = teams.slice(0, READERS).map(reader)
  const replies = await Promise.all(teams.map((team) => advance(team))).finally(() => (moving = false))
  await Promise.all(readers)
  assert.deepEqual(
    replies.map(({ status, body }) => [status, body.complete]),
    replies.map(() => [200, true]),
  )
  // The dispatch, and six steps of the simulation.
  for (const { body } of replies) assert.equal(body.jobs_run, 7)
  assert.deepEqual([...statuses], [200])
  assert(times_ms.length > TEAMS, `only ${times_ms.length} reads were answered meanwhile`)
  times_ms.sort((a, b) => a - b)
  t.diagnostic(`${times_ms.length} reads meanwhile, p99 ${Math.round(times_ms[Math.floor(times_ms.length * 0.99)]!)} ms`)
})

describe('clock advances', () => {
  /** Starts an advance that continues until the test ends it. */
  function begun(moves: ClockMoves, team: string) {
    const [began, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const done = moves.run(db, team, async () => {
      began.resolve()
      await finish.promise
    })
    return { began: began.promise, finish: () => finish.resolve(), done }
  }
  const isProblem = (status: number) => (error: unknown) => error instanceof Problem && error.status === status

  test('an advance waits for its turn, and returns 503 if too many wait or the turn does not come in time', async () => {
    const [first, second, third] = await Promise.all([createTestTeam(), createTestTeam(), createTestTeam()])
    const moves = new ClockMoves({ running_max: 1, waiting_max: 1, wait_ms: 50 })
    const running = begun(moves, first.team)
    await running.began
    const waiting = begun(moves, second.team)
    const [late, refused] = await Promise.allSettled([waiting.done, begun(moves, third.team).done])
    for (const outcome of [late, refused]) assert(outcome.status === 'rejected' && isProblem(503)(outcome.reason))
    running.finish()
    await running.done
    const again = begun(moves, second.team)
    await again.began
    again.finish()
    await again.done
  })

  test('a third of the connections for teams are for advances: further ones wait', async () => {
    const third = Math.floor(db.connections_max / 3)
    const teams = await Promise.all(Array.from({ length: third + 1 }, () => createTestTeam()))
    const moves = new ClockMoves({ waiting_max: 0 })
    const running = teams.slice(1).map(({ team }) => begun(moves, team))
    await Promise.all(running.map(({ began }) => began))
    await assert.rejects(begun(moves, teams[0]!.team).done, isProblem(503))
    for (const { finish } of running) finish()
    await Promise.all(running.map(({ done }) => done))
  })

  test('an advance holds no connection between its statements', async () => {
    const teams = await Promise.all(Array.from({ length: 20 }, () => createTestTeam()))
    const moves = new ClockMoves({ running_max: 20 })
    const running = teams.map(({ team }) => begun(moves, team))
    await Promise.all(running.map(({ began }) => began))
    // Other code, such as the access log, may use a connection for a moment. An advance with a connection would hold it until the test ends
    // it.
    for (const end = performance.now() + 10_000; db.poolStats.in_use > 0; await setImmediate()) assert(performance.now() < end)
    for (const { finish } of running) finish()
    await Promise.all(running.map(({ done }) => done))
  })

  test("a team's clock is advanced by one caller at a time, also across processes", async () => {
    const team = await createTestTeam()
    const running = begun(new ClockMoves(), team.team)
    await running.began
    const { status, body } = await advance(team, 60)
    assert.deepEqual([status, body], [409, { detail: 'The clock of this team is already being advanced' }])
    assert.equal((await team.api.get('/v1/sandbox/clock')).body.offset_s, 0)
    running.finish()
    await running.done
    assert.equal((await advance(team, 60)).status, 200)
  })

  test('an advance takes over when the lease of a killed process has expired, and the late process changes nothing', async () => {
    const team = await createTestTeam()
    const offset = async () => (await team.api.get('/v1/sandbox/clock')).body.offset_s as number
    await assert.rejects(
      clocks.run(db, team.team, async ({ guard }) => {
        await db.queries.run(
          sql`update clock_move set leased_until = leased_until - interval '1 hour' where team_id = ${team.team}`,
        )
        assert.equal((await advance(team, 60)).status, 200)
        const move = sql`update team set clock_offset_s = 7200 where id = ${team.team}`
        await db.tx(team.tenant, (tx) => tx.run(move), undefined, guard)
      }),
      LeaseLost,
    )
    const moved = await offset()
    assert(moved >= 60 && moved < 120, String(moved))
  })

  test('an advance whose clock another process has taken over meanwhile changes nothing, and returns 503', async () => {
    const team = await createTestTeam()
    const holder = new pg.Client(connection)
    await holder.connect()
    try {
      // The advance has its lease by then, and looks for jobs.
      await holder.query('begin; lock table sandbox_us.job in access exclusive mode')
      const late = advance(team, 60)
      await countLockWaiters(1)
      await db.queries.run(
        sql`update clock_move set owner = ${randomUUID()}, fence = fence + 1 where team_id = ${team.team} and owner is not null`,
      )
      await holder.query('commit')
      const { status, body } = await late
      assert.deepEqual([status, body], [503, { detail: 'Advancing the clock was interrupted; try again' }])
    } finally {
      await holder.end()
    }
    assert.equal((await team.api.get('/v1/sandbox/clock')).body.offset_s, 0)
  })

  test('an advance renews its lease while it runs', async () => {
    const team = await createTestTeam()
    const running = begun(new ClockMoves({ lease_s: 3 }), team.team)
    await running.began
    const Row = T.Object({ leased_until: T.String(), fence: T.Integer() })
    const row = () => db.queries.one(Row, sql`select leased_until, fence from clock_move where team_id = ${team.team}`)
    const first = await row()
    for (const end = performance.now() + 60_000; (await row()).leased_until === first.leased_until; await createTestTeam())
      if (performance.now() > end) assert.fail('it was never renewed')
    assert.equal((await row()).fence, first.fence)
    running.finish()
    await running.done
  })

  test('an advance ends when another worker holds a job of the team for too long', async () => {
    const team = await createTestTeam()
    await db.queries.run(sql`
      insert into job (id, team_id, name, payload, run_at, due_at, owner, fence, attempts, leased_until)
      values (${randomUUID()}, ${team.team}, 'users.erase', '{}', statement_timestamp(), statement_timestamp(), ${randomUUID()}, 1, 1,
              statement_timestamp() + interval '1 hour')`)
    const start = new Date()
    const span = { start, end: new Date(start.getTime() + 1000 * SECONDS_PER_DAY), jobs_max: 10 }
    const outcome = await new ClockMoves({ move_ms: 50 }).run(db, team.team, ({ isOver }) =>
      runner.runUntil('sandbox-us', db, team.team, { ...span, isStopped: isOver }, async () => {}),
    )
    assert.deepEqual(outcome, { jobs: 0, finished: false })
  })
})
