// Workers on a real cell, with handlers of the tests: which worker runs a job, for how long, how often, and what remains of it.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, describe, test } from 'node:test'
import { createLog } from '../telemetry/log.ts'
import { enqueue, defineHandler, defineJob, type Handler, type JobContext } from './outbox.ts'
import { T } from '../schema/schema.ts'
import { sql } from '../db/sql.ts'
import { Worker, type WorkerOptions } from './worker.ts'
import { Cells } from '../db/cells.ts'
import {
  asOwner,
  cells as testCells,
  connection,
  createTestTeam,
  guard,
  metrics,
  type TestTeam,
} from '../../../test/support/server.ts'
import { installation } from '../../../test/support/template.ts'

const options = { connection, connections_max: 8, checkRows: true, installation }
/** One cell alone: a worker takes whatever is due there. */
const cells = new Cells(options, new Map([['sandbox-us', options]]))
// Its connections would otherwise keep the process for a minute.
after(() => cells.close())
const log = createLog('silent')
const Payload = T.Object({ n: T.Integer() })
const work = defineJob('test.work', Payload, { timeout_s: 60, attempts_max: 3 })
/** Of handlers that are abandoned. */
const TIMEOUT_S = 0.3

const workers = new Set<Worker>()
function working(handlers: Handler[], more: Partial<WorkerOptions> = {}): Worker {
  const worker = new Worker({ cells, handlers, tenantOf: guard.tenant, log, metrics, tick_ms: 20, ...more })
  workers.add(worker)
  worker.start()
  return worker
}
afterEach(async () => {
  await Promise.all([...workers].map((worker) => worker.stop()))
  workers.clear()
  await testCells.of('sandbox-us').queries.run(sql`delete from job`)
})

const queue = (team: TestTeam, count = 1, of = work) =>
  team.db.tx(team.tenant, async (tx) => {
    for (let n = 0; n < count; n++) enqueue(tx, of, { n })
  })

const Row = T.Object({
  attempts: T.Integer(),
  fence: T.Integer(),
  owner: T.Union([T.String(), T.Null()]),
  leased_until: T.Union([T.String(), T.Null()]),
  failed_at: T.Union([T.String(), T.Null()]),
  last_error: T.Union([T.String(), T.Null()]),
})
const rowsOf = ({ db, team }: TestTeam) =>
  db.queries.many(
    Row,
    sql`select attempts, fence, owner, leased_until, failed_at, last_error from job where team_id = ${team} order by id`,
  )
/** Makes rows that wait for a retry due, and ends leases. */
const hurry = ({ db, team }: TestTeam) =>
  db.queries.run(
    sql`update job set due_at = due_at - interval '1 day', leased_until = leased_until - interval '1 day' where team_id = ${team}`,
  )

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 60_000; !(await holds()); await new Promise((resolve) => setTimeout(resolve, 10)))
    if (performance.now() > end) assert.fail(`never: ${what}`)
}
const gone = (team: TestTeam) => until('the jobs are done', async () => (await rowsOf(team)).length === 0)
/** An effect of a handler that can be counted: an event. */
const effect = (context: JobContext, n: number) =>
  context.tx(async (tx) => {
    await tx.run(sql`
      insert into event (id, team_id, type, object_id, created_at, body)
      values (${tx.uuid()}, ${tx.team}, ${`test.effect.${n}`}, ${randomUUID()}, ${tx.now}, '{}')`)
  })

describe('a handler that never ends', { concurrency: 1 }, () => {
  test('a handler that never ends is abandoned, its job is retried, and other jobs of the cell continue', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    let calls = 0
    const hang = defineHandler({ ...work, timeout_s: TIMEOUT_S }, async () => {
      if (++calls === 1) await new Promise(() => {})
    })
    await queue(team)
    working([hang, defineHandler(defineJob('test.quick', Payload), async () => {})])
    await until('the handler hangs', () => calls === 1)
    await queue(other, 20, defineJob('test.quick', Payload))
    await gone(other)
    await until('its retry is scheduled', async () => (await rowsOf(team))[0]!.last_error === 'HandlerTimeout')
    assert.deepEqual([(await rowsOf(team))[0]!.owner, (await rowsOf(team))[0]!.leased_until], [null, null])
    await hurry(team)
    await gone(team)
    assert.equal(calls, 2)
  })

  test('an abandoned handler cannot begin a transaction, and its open one is rolled back and releases its connection', async () => {
    const team = await createTestTeam()
    const outcomes: string[] = []
    const [inTransaction, abandoned] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const late = defineHandler({ ...work, attempts_max: 1, timeout_s: TIMEOUT_S }, async (context, { n }) => {
      if (n === 0)
        await context.tx(async (tx) => {
          await tx.run(sql`
            insert into event (id, team_id, type, object_id, created_at, body)
            values (${tx.uuid()}, ${tx.team}, 'test.effect.0', ${randomUUID()}, ${tx.now}, '{}')`)
          await inTransaction.promise
        })
      await abandoned.promise
      outcomes.push(
        await effect(context, n).then(
          () => 'committed',
          (error: Error) => error.name,
        ),
      )
    })
    await queue(team, 2)
    working([late])
    await until('both failed', async () => (await rowsOf(team)).every(({ failed_at }) => failed_at !== null))
    abandoned.resolve()
    await until('the late transaction was tried', () => outcomes.length === 1)
    assert.deepEqual(outcomes, ['HandlerTimeout'])
    await until('every connection is back', () => cells.of('sandbox-us').poolStats.in_use === 0)
    assert.deepEqual(await team.events(), [])
    inTransaction.resolve()
  })
})

describe('a job', { concurrency: 1 }, () => {
  test('the lease of a job is renewed while its handler runs, so that no other worker runs it', async () => {
    const team = await createTestTeam()
    let calls = 0
    const finish = Promise.withResolvers<void>()
    await queue(team)
    const handler = defineHandler(work, async (context) => {
      calls++
      await finish.promise
      await effect(context, 0)
    })
    working([handler], { lease_s: 1 })
    working([handler], { lease_s: 1 })
    await until('it runs', () => calls === 1)
    const first = (await rowsOf(team))[0]!
    for (let renewals = 0, last = first.leased_until; renewals < 6;) {
      const { leased_until } = (await rowsOf(team))[0]!
      if (leased_until !== last) renewals++
      last = leased_until
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    finish.resolve()
    await gone(team)
    assert.deepEqual([calls, await team.events()], [1, ['test.effect.0']])
  })

  test('a job claimed by another owner is not changed by the previous one, whether that succeeds or fails', async () => {
    for (const outcome of ['succeeds', 'fails'] as const) {
      const team = await createTestTeam()
      const finish = Promise.withResolvers<void>()
      let calls = 0
      await queue(team)
      // The first owner neither renews its lease nor notices that it has ended.
      const first = working(
        [
          defineHandler(work, async () => {
            calls++
            await finish.promise
            if (outcome === 'fails') throw new Error('late')
          }),
        ],
        { tick_ms: 0 },
      )
      await until('the first owner runs it', () => calls === 1)
      await team.db.queries.run(
        sql`update job set owner = ${randomUUID()}, fence = fence + 1, attempts = 2, leased_until = leased_until + interval '1 hour' where team_id = ${team.team}`,
      )
      const claimed = await rowsOf(team)
      finish.resolve()
      await first.stop()
      assert.deepEqual(await rowsOf(team), claimed, outcome)
    }
  })

  test('a job commits nothing when its lease has ended', async () => {
    const team = await createTestTeam()
    const outcomes: string[] = []
    await queue(team)
    working(
      [
        defineHandler(work, async (context) => {
          await team.db.queries.run(sql`update job set leased_until = statement_timestamp() where team_id = ${team.team}`)
          for (const write of [
            () => effect(context, 1),
            () => context.tx(async (tx) => tx.defer(sql`update team set settings = '{}' where id = ${tx.team}`)),
          ])
            outcomes.push(
              await write().then(
                () => 'committed',
                (error: Error) => error.name,
              ),
            )
        }),
      ],
      { tick_ms: 0, lease_s: 3600 },
    )
    await until('both were tried', () => outcomes.length === 2)
    assert.deepEqual([outcomes, await team.events()], [['LeaseLost', 'LeaseLost'], []])
  })

  test('a job in an open transaction of its owner is not claimed by another one, even when its lease has ended', async () => {
    const team = await createTestTeam()
    let calls = 0
    const [began, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const handler = defineHandler(work, async (context) => {
      calls++
      await context.tx(async (tx) => {
        await tx.run(sql`update team set settings = settings where id = ${tx.team}`)
        began.resolve()
        await finish.promise
      })
    })
    await queue(team)
    working([handler], { tick_ms: 0 })
    await began.promise
    await team.db.queries.run(sql`update job set leased_until = statement_timestamp() where team_id = ${team.team}`)
    let looked = 0
    working([handler], { tenantOf: guard.tenant })
    for (; looked < 20; looked++) {
      await createTestTeam()
      assert.equal(calls, 1)
    }
    finish.resolve()
    await until('the first owner is done', async () => (await rowsOf(team)).length === 0 || calls === 2)
  })

  test('a job starts as soon as a slot is free, without waiting for other jobs to end', async () => {
    const team = await createTestTeam()
    const others = Promise.withResolvers<void>()
    let done = 0
    const handler = defineHandler(work, async (_context, { n }) => {
      if (n === 0) await others.promise
      else done++
    })
    await queue(team, 60)
    working([handler])
    await until('all others are done', () => done === 59)
    others.resolve()
    await gone(team)
  })

  test('a failing job is attempted as often as its kind allows, then stays failed with its last error class and code', async () => {
    const team = await createTestTeam()
    let calls = 0
    await queue(team)
    working([
      defineHandler(work, async () => {
        calls++
        throw Object.assign(new Error('Testa Fictional'), { code: 'E_TEST' })
      }),
    ])
    for (let attempt = 1; attempt <= 3; attempt++) {
      await until(`attempt ${attempt}`, () => calls === attempt)
      await until('its retry is scheduled', async () => (await rowsOf(team))[0]!.owner === null)
      await hurry(team)
    }
    const [row] = await rowsOf(team)
    assert.deepEqual([row!.attempts, row!.last_error, row!.failed_at !== null, calls], [3, 'Error E_TEST', true, 3])
  })

  test('a job whose process was killed in every attempt is not retried', async () => {
    const team = await createTestTeam()
    await queue(team)
    await team.db.queries.run(sql`update job set attempts = 3 where team_id = ${team.team}`)
    let calls = 0
    working([defineHandler(work, async () => void calls++)])
    await until('it failed', async () => (await rowsOf(team))[0]!.failed_at !== null)
    assert.deepEqual([calls, (await rowsOf(team))[0]!.last_error], [0, 'interrupted'])
  })

  test('a job without an attempt limit never fails permanently', async () => {
    const team = await createTestTeam()
    await queue(team)
    await team.db.queries.run(sql`update job set attempts = 5000 where team_id = ${team.team}`)
    working([
      defineHandler({ ...work, attempts_max: Infinity }, async () => {
        throw new Error('not yet')
      }),
    ])
    await until('its retry is scheduled', async () => (await rowsOf(team))[0]!.last_error === 'Error')
    const { pause_s } = await team.db.queries.one(
      T.Object({ pause_s: T.Number() }),
      sql`select round(extract(epoch from due_at - statement_timestamp()))::float8 as pause_s from job where team_id = ${team.team}`,
    )
    assert((await rowsOf(team))[0]!.failed_at === null && pause_s > 3500 && pause_s <= 3600, String(pause_s))
  })
})

test('slow jobs of one team do not stop those of another', async () => {
  const [slow, quick] = [await createTestTeam(), await createTestTeam()]
  const finish = Promise.withResolvers<void>()
  let running = 0
  await slow.db.queries.run(sql`
    insert into job (id, team_id, name, payload, run_at, due_at)
    select gen_random_uuid(), ${slow.team}, 'test.work', '{"n":1}', at, at
    from generate_series(1, 10000) n cross join lateral (select statement_timestamp() - interval '1 hour' as at) t`)
  working([
    defineHandler(work, async () => {
      running++
      await finish.promise
    }),
    defineHandler(defineJob('test.quick', Payload), async () => {}),
  ])
  await until('the slow team has its share', () => running > 0)
  await queue(quick, 30, defineJob('test.quick', Payload))
  await gone(quick)
  assert((await rowsOf(slow)).length === 10_000)
  await slow.db.queries.run(sql`delete from job where team_id = ${slow.team} and owner is null`)
  finish.resolve()
  await gone(slow)
})

test('a stopping worker releases jobs that it has not begun, and that does not count as an attempt', async () => {
  const team = await createTestTeam()
  const finish = Promise.withResolvers<void>()
  let running = 0
  await queue(team, 30)
  const worker = working([
    defineHandler(work, async () => {
      running++
      await finish.promise
    }),
  ])
  await until('every slot of the team is in use', () => running === 6)
  const stopping = worker.stop()
  finish.resolve()
  await stopping
  const rows = await rowsOf(team)
  assert.deepEqual([running, rows.length], [6, 24])
  for (const { attempts, owner } of rows) assert.deepEqual([attempts, owner], [0, null])
})

test('a stopping worker waits for the deletion of jobs completed after the stop was requested', async () => {
  const team = await createTestTeam()
  const finish = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let running = 0
  await queue(team, 2)
  const worker = working([
    defineHandler(work, async (_context, { n }) => {
      running++
      await finish[n]!.promise
    }),
  ])
  await until('both run', () => running === 2)
  const numbers = async () =>
    (
      await team.db.pool.query<{ n: number }>(`select (payload::json ->> 'n')::integer as n from job where team_id = $1`, [
        team.team,
      ])
    ).rows.map(({ n }) => n)
  const holder = await team.db.pool.connect()
  await holder.query('begin')
  await holder.query(`select from job where team_id = $1 and payload::json ->> 'n' = '0' for update`, [team.team])
  let isStopped = false
  const stopping = worker.stop().then(() => (isStopped = true))
  finish[0]!.resolve()
  await until('the job that is done is being deleted', async () => {
    const { rows } = await asOwner(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'delete from job%'`,
    )
    return rows.length > 0
  })
  finish[1]!.resolve()
  await until('the other one is deleted', async () => (await numbers()).join() === '0')
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert(!isStopped, 'it stopped before the first one was deleted')
  await holder.query('rollback')
  holder.release()
  await stopping
  assert.deepEqual(await numbers(), [])
})

test('a job that is queued by a process whose clock is wrong is due by the clock of the database', async (t) => {
  const team = await createTestTeam()
  const Due = T.Object({ due_in_s: T.Number() })
  const dueIn = async () =>
    (
      await team.db.queries.one(
        Due,
        sql`select extract(epoch from due_at - statement_timestamp())::float8 as due_in_s from job where team_id = ${team.team}`,
      )
    ).due_in_s
  for (const skew_s of [60, -60, 0])
    for (const delay_s of [0, 3600]) {
      const now = Date.now()
      t.mock.timers.enable({ apis: ['Date'], now: now + skew_s * 1000 })
      await team.db.tx(team.tenant, async (tx) => enqueue(tx, work, { n: 0 }, new Date(tx.now.getTime() + delay_s * 1000)))
      t.mock.timers.reset()
      const due_in_s = await dueIn()
      assert(due_in_s <= delay_s && due_in_s > delay_s - 30, `skew ${skew_s}, delay ${delay_s}: due in ${due_in_s}`)
      await team.db.queries.run(sql`delete from job where team_id = ${team.team}`)
    }
})

test('work that a job queues for now is due now, even if a process whose clock is ahead queued the job', async () => {
  const team = await createTestTeam()
  let runs = 0
  await team.db.queries.run(sql`
    insert into job (id, team_id, name, payload, run_at, due_at)
    values (${randomUUID()}, ${team.team}, 'test.work', '{"n":2}', statement_timestamp() + interval '1 hour', statement_timestamp())`)
  working([
    defineHandler(work, async (context, { n }) => {
      runs++
      if (n > 0) await context.tx(async (tx) => enqueue(tx, work, { n: n - 1 }))
    }),
  ])
  await gone(team)
  assert.equal(runs, 3)
})
