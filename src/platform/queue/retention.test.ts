// Overdue rows are deleted until none is left, at once after a start, and without keeping the process alive.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { access, assembleProcess, cells, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { idempotencyCleanup } from '../http/idempotency.ts'
import { createLog } from '../telemetry/log.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { Retention, type Cleanup } from './retention.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { HOUR_MS } from '../runtime/durations.ts'

const { periodicTasks, app } = assembleProcess()
after(() => app.close())

/** A process that runs one round, or rounds at an interval. */
function startWorker(options: { poll_ms?: number; cleanups?: readonly Cleanup[] } = {}) {
  const metrics = createMetrics(() => cells)
  const log = createLog('silent')
  const retention = new Retention({ cells, cleanups: periodicTasks, log, metrics, poll_ms: HOUR_MS, ...options })
  retention.start()
  const gauge = async (kind: string, name = 'overdue_seconds') =>
    (await metrics.registry.getSingleMetric(`drawbridge_retention_${name}`)!.get()).values.find(
      ({ labels }) => labels.cell === 'sandbox-us' && labels.kind === kind,
    )?.value
  return { retention, gauge }
}

const answers = ({ db, team }: TestTeam, n: number, expiry: string) =>
  db.pool.query(
    `insert into idempotency_key (team_id, scope, key, status, body, expires_at)
     select $1, 'a scope', gen_random_uuid(), 200, '{}', now() + $3::interval - nth * interval '1 us' from generate_series(1, $2) nth`,
    [team, n, expiry],
  )
const lines = ({ db, team }: TestTeam, n: number, age: string) =>
  db.pool.query(
    `insert into feed (team_id, event_id, created_at)
     select $1, gen_random_uuid(), now() - $3::interval - nth * interval '1 us' from generate_series(1, $2) nth`,
    [team, n, age],
  )
const left = async ({ db, team }: TestTeam): Promise<{ answers: number; lines: number }> =>
  (
    await db.pool.query(
      `select (select count(*)::integer from idempotency_key where team_id = $1) as answers,
              (select count(*)::integer from feed where team_id = $1) as lines`,
      [team],
    )
  ).rows[0]

describe('rows whose retention is over', () => {
  test('a process that has just started deletes 30,000 responses and 60,000 feed lines in its first round', async () => {
    const team = await createTestTeam()
    await answers(team, 30_000, '-1 second')
    await answers(team, 2, '1 hour')
    await lines(team, 3, '29 days')
    await lines(team, 60_000, '30 days 1 second')
    const { retention, gauge } = startWorker()
    try {
      await eventually(async () => ((await gauge('feed')) ?? 0) > 0)
      await eventually(async () => (await gauge('feed')) === 0 && (await gauge('idempotency_key')) === 0)
      assert.deepEqual(await left(team), { answers: 2, lines: 3 })
      assert.equal(await gauge('feed', 'deleted_rows_total'), 60_000)
      assert.equal(await gauge('idempotency_key', 'deleted_rows_total'), 30_000)
    } finally {
      await retention.stop()
    }
  })

  test('a later round deletes rows that become due while the process runs', async () => {
    const team = await createTestTeam()
    await answers(team, 3, '1 second')
    const { retention } = startWorker({ poll_ms: 50 })
    try {
      await eventually(async () => (await left(team)).answers === 0)
    } finally {
      await retention.stop()
    }
  })

  for (const [ahead_days, how] of [
    [40, 'ahead'],
    [-40, 'behind'],
  ] as const)
    test(`rows are deleted by the clock of the database when the clock of the process is ${how}`, async (t) => {
      const team = await createTestTeam()
      await answers(team, 2, '-1 second')
      await answers(team, 3, '1 hour')
      await lines(team, 4, '29 days')
      await lines(team, 5, '30 days 1 second')
      const deleted = await createTestTeam()
      for (const db of [deleted.db, cells.control])
        await db.pool.query(`update team set deleted_at = now() - interval '1 day' where id = $1`, [deleted.team])
      await team.user()
      await access.flush()
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + ahead_days * 24 * HOUR_MS })
      const { retention, gauge } = startWorker({ cleanups: periodicTasks })
      try {
        for (const kind of ['idempotency_key', 'feed', 'access_log_day', 'team'])
          await eventually(async () => (await gauge(kind)) !== undefined)
        await eventually(async () => (await gauge('feed')) === 0 && (await gauge('idempotency_key')) === 0)
        assert.deepEqual(await left(team), { answers: 3, lines: 4 })
        const { rows } = await team.db.pool.query(
          `select (select count(*)::integer from team where id = $1) as teams,
                  (select count(*)::integer from access_day where dropped_at is null) as days`,
          [deleted.team],
        )
        assert.deepEqual(rows, [{ teams: 1, days: 1 }])
      } finally {
        await retention.stop()
        t.mock.timers.reset()
      }
    })

  test('a transaction deletes a thousand rows, and those of the same instant as the last of them', async () => {
    const team = await createTestTeam()
    await answers(team, 2500, '-1 second')
    for (const deleted of [1000, 1000, 500, 0])
      assert.equal(await idempotencyCleanup.remove(team.db, cells.control, () => false), deleted)
    await answers(team, 1200, '-1 second')
    await team.db.pool.query(
      `update idempotency_key set expires_at = now() - interval '2 seconds' where ctid = any (array(select ctid from idempotency_key where team_id = $1 limit 1100))`,
      [team.team],
    )
    for (const deleted of [1100, 100, 0])
      assert.equal(await idempotencyCleanup.remove(team.db, cells.control, () => false), deleted)
  })

  test('several processes delete each row once', async () => {
    const team = await createTestTeam()
    await answers(team, 10_000, '-1 second')
    const several = [startWorker(), startWorker(), startWorker()]
    try {
      await eventually(async () => (await left(team)).answers === 0)
    } finally {
      for (const { retention } of several) await retention.stop()
    }
    let removed = 0
    for (const { gauge } of several) removed += (await gauge('idempotency_key', 'deleted_rows_total')) ?? 0
    assert.equal(removed, 10_000)
  })

  test('rows locked by another transaction are deleted in a later round, and reported as overdue until then', async () => {
    const team = await createTestTeam()
    await answers(team, 2, '-100 seconds')
    const holder = await team.db.pool.connect()
    await holder.query('begin')
    await holder.query('select from idempotency_key where team_id = $1 for update', [team.team])
    const { retention, gauge } = startWorker({ poll_ms: 50 })
    try {
      await eventually(async () => ((await gauge('idempotency_key')) ?? 0) >= 100)
      assert.equal((await left(team)).answers, 2)
      await holder.query('commit')
      await eventually(async () => (await left(team)).answers === 0)
      await eventually(async () => (await gauge('idempotency_key')) === 0)
    } finally {
      holder.release()
      await retention.stop()
    }
  })
})

describe('the loop', () => {
  /** A kind with a number of overdue rows in one cell, deleted one at a time. */
  const kind = (name: string, turns: number, remove: () => Promise<void> = async () => {}) => {
    const state = { left: turns, removals: 0 }
    const cleanup: Cleanup = {
      kind: name,
      control: false,
      overdueFor: (db) => Promise.resolve(state.left > 0 && db === cells.db('sandbox-us') ? 1 : undefined),
      async remove() {
        state.removals++
        await remove()
        state.left--
        return 1
      },
    }
    return { state, cleanup }
  }

  test('the loop deletes a batch of each kind in turn, so that a backlog of one does not delay another', async () => {
    const order: string[] = []
    const long = kind('long', 5, async () => void order.push('long'))
    const short = kind('short', 1, async () => void order.push('short'))
    const { retention } = startWorker({ cleanups: [long.cleanup, short.cleanup] })
    await eventually(async () => long.state.left === 0)
    await retention.stop()
    assert.deepEqual(order, ['long', 'short', 'long', 'long', 'long', 'long'])
  })

  test('the loop rests for as long as a batch took, so that it uses half of one connection at most', async () => {
    let began_ms: number | undefined
    let ended_ms = 0
    const rounds: { took_ms: number; rested_ms: number }[] = []
    const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
    const cleanup: Cleanup = {
      kind: 'slow',
      control: false,
      async overdueFor(db) {
        if (db !== cells.db('sandbox-us') || rounds.length) return undefined
        if (began_ms !== undefined) {
          rounds.push({ took_ms: ended_ms - began_ms, rested_ms: performance.now() - ended_ms })
          return undefined
        }
        began_ms = performance.now()
        await pause(100)
        return 1
      },
      async remove() {
        await pause(1100)
        ended_ms = performance.now()
        return 1
      },
    }
    const { retention } = startWorker({ cleanups: [cleanup] })
    await eventually(async () => rounds.length > 0)
    await retention.stop()
    const { took_ms, rested_ms } = rounds[0]!
    // Timers of Node are at most a millisecond early.
    assert(rested_ms >= took_ms - 2, `${took_ms} ms of work, ${rested_ms} ms of rest`)
  })

  test('the loop continues with other kinds when one fails, and retries that one in the next round', async () => {
    let failures = 0
    const failing = kind('failing', 1, () => {
      return failures++ < 2 ? Promise.reject(new Error('as if the database had gone')) : Promise.resolve()
    })
    const other = kind('other', 3)
    const { retention, gauge } = startWorker({ cleanups: [failing.cleanup, other.cleanup], poll_ms: 20 })
    await eventually(async () => other.state.left === 0 && failing.state.left === 0)
    await eventually(async () => (await gauge('failing')) === 0)
    await retention.stop()
    assert.equal(failing.state.removals, 3)
  })

  test('the loop stops after the current transaction, regardless of remaining rows and rest time', async () => {
    const [began, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow = kind('slow', 1_000_000, () => {
      began.resolve()
      return finished.promise
    })
    const { retention } = startWorker({ cleanups: [slow.cleanup] })
    await began.promise
    const stopped = retention.stop()
    finished.resolve()
    await stopped
    assert.equal(slow.state.removals, 1)
    const idle = startWorker({ cleanups: [] })
    await idle.retention.stop()
  })
})
