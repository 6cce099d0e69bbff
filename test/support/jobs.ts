// Jobs and workers on a real cell, with handlers of the tests.
import { randomUUID } from 'node:crypto'
import { after } from 'node:test'
import { createLog } from '../../src/platform/telemetry/log.ts'
import { enqueue, defineJob, type Handler, type JobContext } from '../../src/platform/queue/outbox.ts'
import { T } from '../../src/platform/schema/schema.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { Worker, type WorkerOptions } from '../../src/platform/queue/worker.ts'
import { Cells } from '../../src/platform/db/cells.ts'
import { cells as testCells, connection, guard, metrics, type TestTeam } from './server.ts'
import { eventually } from './eventually.ts'
import { installation } from './template.ts'

const options = { connection, connections_max: 8, checkRows: true, installation }
/** One cell alone: a worker takes whatever is due there. */
export const cells = new Cells(options, new Map([['sandbox-us', options]]))
// Its connections would otherwise keep the process for a minute.
after(() => cells.close())
const log = createLog('silent')
export const Payload = T.Object({ n: T.Integer() })
export const work = defineJob('test.work', Payload, { timeout_s: 60, attempts_max: 3 })

const workers = new Set<Worker>()
export function working(handlers: Handler[], createWorker: Partial<WorkerOptions> = {}): Worker {
  const worker = new Worker({ cells, handlers, tenantOf: guard.tenant, log, metrics, tick_ms: 20, ...createWorker })
  workers.add(worker)
  worker.start()
  return worker
}

/** Stops the workers of a test, and deletes the jobs. */
export async function stopWorkers(): Promise<void> {
  await Promise.all([...workers].map((worker) => worker.stop()))
  workers.clear()
  await testCells.db('sandbox-us').queries.run(sql`delete from job`)
}

export const queue = (team: TestTeam, count = 1, job = work) =>
  team.db.tx(team.tenant, async (tx) => {
    for (let n = 0; n < count; n++) enqueue(tx, job, { n })
  })

const Row = T.Object({
  attempts: T.Integer(),
  fence: T.Integer(),
  owner: T.Union([T.String(), T.Null()]),
  leased_until: T.Union([T.String(), T.Null()]),
  failed_at: T.Union([T.String(), T.Null()]),
  last_error: T.Union([T.String(), T.Null()]),
})
export const rowsOf = ({ db, team }: TestTeam) =>
  db.queries.many(
    Row,
    sql`select attempts, fence, owner, leased_until, failed_at, last_error from job where team_id = ${team} order by id`,
  )
/** Makes rows that wait for a retry due, and ends leases. */
export const runJobsNow = ({ db, team }: TestTeam) =>
  db.queries.run(
    sql`update job set due_at = due_at - interval '1 day', leased_until = leased_until - interval '1 day' where team_id = ${team}`,
  )

export const waitUntil = (subject: string, holds: () => boolean | Promise<boolean>) => eventually(holds, subject)
/** Waits until the team has no job left. */
export const waitForJobs = (team: TestTeam) => waitUntil('the jobs are done', async () => (await team.jobs()).length === 0)
/** An effect of a handler that can be counted: an event. */
export const effect = (context: JobContext, n: number) =>
  context.tx(async (tx) => {
    await tx.run(sql`
      insert into event (id, team_id, type, object_id, created_at, body)
      values (${tx.uuid()}, ${tx.team}, ${`test.effect.${n}`}, ${randomUUID()}, ${tx.now}, '{}')`)
  })
