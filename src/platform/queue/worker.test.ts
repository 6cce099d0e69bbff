// Workers on a real cell, with handlers of the tests: handlers that never end, fairness, stops, and the clock that counts.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { afterEach, describe, test } from 'node:test'
import { enqueue, defineHandler, defineJob } from './outbox.ts'
import { T } from '../schema/schema.ts'
import { sql } from '../db/sql.ts'
import { asOwner, createTestTeam } from '../../../test/support/server.ts'
import {
  cells,
  Payload,
  work,
  working,
  stopWorkers,
  queue,
  rowsOf,
  runJobsNow,
  waitUntil,
  waitForJobs,
  effect,
} from '../../../test/support/jobs.ts'

/** Of handlers that are abandoned. */
const TIMEOUT_S = 0.3

afterEach(stopWorkers)

describe('a handler that never ends', { concurrency: 1 }, () => {
  test('a handler that never ends is abandoned, its job is retried, and other jobs of the cell continue', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    let calls = 0
    const hang = defineHandler({ ...work, timeout_s: TIMEOUT_S }, async () => {
      if (++calls === 1) await new Promise(() => {})
    })
    await queue(team)
    working([hang, defineHandler(defineJob('test.quick', Payload), async () => {})])
    await waitUntil('the handler hangs', () => calls === 1)
    await queue(other, 20, defineJob('test.quick', Payload))
    await waitForJobs(other)
    await waitUntil('its retry is scheduled', async () => (await rowsOf(team))[0]!.last_error === 'HandlerTimeout')
    assert.deepEqual([(await rowsOf(team))[0]!.owner, (await rowsOf(team))[0]!.leased_until], [null, null])
    await runJobsNow(team)
    await waitForJobs(team)
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
    await waitUntil('both failed', async () => (await rowsOf(team)).every(({ failed_at }) => failed_at !== null))
    abandoned.resolve()
    await waitUntil('the late transaction was tried', () => outcomes.length === 1)
    assert.deepEqual(outcomes, ['HandlerTimeout'])
    await waitUntil('every connection is back', () => cells.db('sandbox-us').poolStats.in_use === 0)
    assert.deepEqual(await team.events(), [])
    inTransaction.resolve()
  })
})

test('slow jobs of one team do not stop jobs of another', async () => {
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
  await waitUntil('the slow team has its share', () => running > 0)
  await queue(quick, 30, defineJob('test.quick', Payload))
  await waitForJobs(quick)
  assert((await rowsOf(slow)).length === 10_000)
  await slow.db.queries.run(sql`delete from job where team_id = ${slow.team} and owner is null`)
  finish.resolve()
  await waitForJobs(slow)
})

test('a job that waits for the limit of its kind begins when another one of its kind ends', async () => {
  const limited = defineJob('test.limited', Payload, { running_max: 1 })
  const team = await createTestTeam()
  const [ended, one] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let begun = 0
  const handler = defineHandler(limited, async () => {
    if (++begun === 1) await Promise.all([one.resolve(), ended.promise])
  })
  await queue(team, 1, limited)
  // No poll claims within the time of the test.
  working([handler], { poll_ms: 600_000 })
  await one.promise
  // The claim that this wakes finds the limit reached.
  await queue(team, 3, limited)
  ended.resolve()
  await waitForJobs(team)
  assert.equal(begun, 4)
})

test('a stopping worker releases jobs that it has claimed and not begun, including jobs that wait for the limit of their kind', async () => {
  const limited = defineJob('test.limited', Payload, { running_max: 1 })
  const team = await createTestTeam()
  const [begun, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const handler = defineHandler(limited, async () => {
    begun.resolve()
    await finish.promise
  })
  await queue(team, 4, limited)
  // It has claimed all of them, and no round within the time of the test releases any.
  const worker = working([handler], { poll_ms: 600_000 })
  await begun.promise
  const stopping = worker.stop()
  finish.resolve()
  await stopping
  const rows = await rowsOf(team)
  assert.deepEqual(
    rows.map(({ attempts, owner }) => [attempts, owner]),
    [0, 1, 2].map(() => [0, null]),
  )
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
  await waitUntil('every slot of the team is in use', () => running === 6)
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
  await waitUntil('both run', () => running === 2)
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
  await waitUntil('the job that is done is being deleted', async () => {
    const { rows } = await asOwner(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'delete from job%'`,
    )
    return rows.length > 0
  })
  finish[1]!.resolve()
  await waitUntil('the other one is deleted', async () => (await numbers()).join() === '0')
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

test('jobs for now are due in the order in which they are queued, including jobs of a job that began long before', async () => {
  const team = await createTestTeam()
  const Queued = T.Object({ payload: T.String() })
  const minutesAgo = (minutes: number) => new Date(Math.floor(Date.now() / 1000) * 1000 - minutes * 60_000)
  for (const [n, minutes] of [2, 0, 60].entries())
    await team.db.tx(team.tenant, async (tx) => enqueue(tx, work, { n }), minutesAgo(minutes))
  const queued = await team.db.queries.many(
    Queued,
    sql`select payload::text from job where team_id = ${team.team} order by due_at, id`,
  )
  assert.deepEqual(
    queued.map(({ payload }) => (JSON.parse(payload) as { n: number }).n),
    [0, 1, 2],
  )
  await team.db.queries.run(sql`delete from job where team_id = ${team.team}`)
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
  await waitForJobs(team)
  assert.equal(runs, 3)
})

test('a job runs at its own instant at the earliest, also in a process whose clock is behind', async () => {
  const team = await createTestTeam()
  const run_at = new Date(Date.now() + 3_600_000)
  await team.db.queries.run(sql`
    insert into job (id, team_id, name, payload, run_at, due_at)
    values (${randomUUID()}, ${team.team}, 'test.work', '{"n":0}', ${run_at}, statement_timestamp())`)
  const instants: Date[] = []
  working([defineHandler(work, (context) => context.tx(async (tx) => void instants.push(tx.now)))])
  await waitForJobs(team)
  assert.equal(instants.length, 1)
  assert(instants[0]! >= run_at, instants[0]!.toISOString())
})
