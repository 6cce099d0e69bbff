// The worker: claims due jobs and runs their handlers. A job is claimed by a lease, so a killed worker's jobs are found again; it
// is deleted when its handlers are done, so it runs at least once. After the last attempt it stays, failed, for people to see.
//
// A job may have several handlers. They run in the order of the list, which is from the top of the architecture down: rows that
// refer to others are dealt with before the rows they refer to.
import { machineNow, plusSeconds } from './clock.ts'
import type { Cells } from './cells.ts'
import { teamNow, type CellName, type Db, type Tenant } from './db.ts'
import { errorFields, type Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Handler, JobContext } from './outbox.ts'
import { T } from './schema.ts'
import { sql } from './sql.ts'

const BATCH = 40
const CONCURRENT_MAX = 8
const LEASE_S = 60
const POLL_MS = 500
/** Under load claims are this far apart, so that each takes a batch; the first after a rest is immediate. */
const PACE_MS = 10
const BACKOFF_S_MAX = 3600

const JobRow = T.Object({
  id: T.String(),
  team_id: T.String(),
  name: T.String(),
  payload: T.String(),
  run_at: T.String(),
  attempts: T.Integer(),
})
interface JobRow {
  id: string
  team_id: string
  name: string
  payload: string
  run_at: string
  attempts: number
}

export interface WorkerOptions {
  cells: Cells
  handlers: Handler[]
  /** The tenant of a team, as it is now; undefined when the team is gone. */
  tenantOf: (cell: CellName, team: string) => Promise<Tenant | undefined>
  log: Log
  metrics: Metrics
}

/** Runs jobs of the cells it is given, one after another per batch and several batches side by side. */
export class Worker {
  readonly #options: WorkerOptions
  readonly #runner: JobRunner
  readonly #running = new Set<Promise<void>>()
  readonly #wakers = new Map<CellName, () => void>()
  #stopped = false

  constructor(options: WorkerOptions) {
    this.#options = options
    this.#runner = new JobRunner(options)
  }

  start(): void {
    for (const name of this.#options.cells.names) this.#loop(name)
  }

  /** Stop claiming and wait for the jobs that are running. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const wake of this.#wakers.values()) wake()
    await Promise.all(this.#running)
  }

  #loop(name: CellName): void {
    const db = this.#options.cells.of(name)
    let wake = () => {}
    let woken = false
    const onWork = () => {
      woken = true
      wake()
    }
    db.onWork = onWork
    this.#wakers.set(name, onWork)
    const loop = async () => {
      while (!this.#stopped) {
        woken = false
        const claimed = performance.now()
        const full = await this.#claimAndRun(name, db)
        if (full || this.#stopped) continue
        const rest_ms = PACE_MS - (performance.now() - claimed)
        if (woken && rest_ms > 0) await new Promise((resolve) => setTimeout(resolve, rest_ms))
        if (woken) continue
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, POLL_MS)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
    }
    this.#track(loop())
  }

  #track(work: Promise<void>): void {
    this.#running.add(work)
    void work.finally(() => this.#running.delete(work))
  }

  /** @returns whether there may be more to do at once */
  async #claimAndRun(cell: CellName, db: Db): Promise<boolean> {
    try {
      const jobs = await claimDue(db)
      const batch = this.#runner.batch(cell, db)
      for (let i = 0; i < jobs.length; i += CONCURRENT_MAX)
        await Promise.all(jobs.slice(i, i + CONCURRENT_MAX).map((job) => batch.run(job)))
      await batch.close()
      return jobs.length === BATCH
    } catch (error) {
      if (!this.#stopped) this.#options.log.error({ cell, causes: errorFields(error) }, 'claiming jobs failed')
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      return false
    }
  }
}

function claimDue(db: Db): Promise<JobRow[]> {
  const now = machineNow()
  return db.relaxed.many(
    JobRow,
    sql`
    update job set leased_until = ${plusSeconds(now, LEASE_S)}, attempts = attempts + 1
    where id = any (array(
      select id from job
      where due_at <= ${now} and failed_at is null and (leased_until is null or leased_until < ${now})
      order by due_at, id limit ${BATCH} for update skip locked))
    returning id, team_id, name, payload, run_at, attempts`,
  )
}

/** Runs single jobs. Shared by the worker and by the travel of a team's clock. */
export class JobRunner {
  readonly #options: Pick<WorkerOptions, 'handlers' | 'tenantOf' | 'log' | 'metrics'>

  constructor(options: Pick<WorkerOptions, 'handlers' | 'tenantOf' | 'log' | 'metrics'>) {
    this.#options = options
  }

  /** Jobs that were claimed together: a team is looked up once, and what is done is deleted at once. */
  batch(cell: CellName, db: Db) {
    const tenants = new Map<string, Promise<Tenant | undefined>>()
    const done: string[] = []
    const tenantOf = (team: string) => {
      const known = tenants.get(team) ?? this.#options.tenantOf(cell, team)
      tenants.set(team, known)
      return known
    }
    return {
      run: async (row: JobRow, at?: Date): Promise<void> => {
        if (await this.#run(cell, db, row, tenantOf, at)) done.push(row.id)
      },
      close: async (): Promise<void> => {
        if (done.length) await db.relaxed.run(sql`delete from job where id = any (${done}::uuid[])`)
      },
    }
  }

  /** Run a claimed job to its end. Never throws for the job's sake: it is put off after an error, or failed for good. */
  async #run(
    cell: CellName,
    db: Db,
    row: JobRow,
    tenantOf: (team: string) => Promise<Tenant | undefined>,
    at?: Date,
  ): Promise<boolean> {
    const { log, metrics } = this.#options
    const started = performance.now()
    const handlers = this.#options.handlers.filter((handler) => handler.job.name === row.name)
    const fields = { job: row.name, 'job.id': row.id, 'team.id': row.team_id, cell, attempt: row.attempts }
    const elapsed_s = () => (performance.now() - started) / 1000
    try {
      if (handlers.length === 0) throw new Error('no handler is bound to this job')
      const tenant = await tenantOf(row.team_id)
      if (tenant) {
        const instant = at ?? latest(tenant, row)
        const context: JobContext = { tenant, tx: (work) => db.tx(tenant, work, instant) }
        for (const handler of handlers) await handler.run(context, JSON.parse(row.payload))
      }
      metrics.job(row.name, 'done', elapsed_s())
      log.info({ ...fields, duration_ms: Math.round(elapsed_s() * 1e5) / 100 }, 'job done')
      return true
    } catch (error) {
      const final = row.attempts >= (handlers[0]?.job.attempts_max ?? 8)
      metrics.job(row.name, final ? 'failed' : 'retry', elapsed_s())
      log.error({ ...fields, causes: errorFields(error) }, final ? 'job failed' : 'job put off')
      await this.#putOff(db, row, final).catch(() => {})
      return false
    }
  }

  /** After an error: try again later, by machine time, with growing pauses; or mark as failed. */
  #putOff(db: Db, row: JobRow, final: boolean): Promise<number> {
    const now = machineNow()
    const pause_s = Math.min(BACKOFF_S_MAX, 2 ** row.attempts)
    return db.queries.run(
      final
        ? sql`update job set failed_at = ${now}, leased_until = null where id = ${row.id}`
        : sql`update job set due_at = ${plusSeconds(now, pause_s)}, leased_until = null where id = ${row.id}`,
    )
  }

  /**
   * Run the team's jobs that fall due up to `until`, a team instant, in order of their own instants, each at its own; jobs queued
   * on the way join the queue. Time starts at `from` and never goes back: an overdue job runs at the instant reached. `before` is
   * called ahead of each job, so that the team's clock can be set. Waits for jobs that a worker is running at the moment.
   * @returns how many ran, and whether none is left (false when `jobs_max` was reached)
   */
  async runUntil(
    cell: CellName,
    db: Db,
    team: string,
    span: { from: Date; until: Date; jobs_max: number },
    before: (at: Date) => Promise<void>,
  ): Promise<{ jobs: number; finished: boolean }> {
    let at = span.from
    for (let jobs = 0; ;) {
      const row = await claimNext(db, team, span.until)
      if (!row) {
        if (!(await isBusy(db, team, span.until))) return { jobs, finished: true }
        await new Promise((resolve) => setTimeout(resolve, 20))
        continue
      }
      if (jobs === span.jobs_max) {
        await db.queries.run(sql`update job set leased_until = null, attempts = attempts - 1 where id = ${row.id}`)
        return { jobs, finished: false }
      }
      const run_at = new Date(row.run_at)
      if (run_at > at) at = run_at
      await before(at)
      const single = this.batch(cell, db)
      await single.run(row, at)
      await single.close()
      jobs++
    }
  }
}

async function claimNext(db: Db, team: string, until: Date): Promise<JobRow | undefined> {
  const now = machineNow()
  return db.queries.maybe(
    JobRow,
    sql`
    update job set leased_until = ${plusSeconds(now, LEASE_S)}, attempts = attempts + 1
    where id = any (array(
      select id from job
      where team_id = ${team} and run_at <= ${until} and failed_at is null and (leased_until is null or leased_until < ${now})
      order by run_at, id limit 1 for update skip locked))
    returning id, team_id, name, payload, run_at, attempts`,
  )
}

const Busy = T.Object({ busy: T.Boolean() })

/**
 * Whether there is one of the team's jobs that a worker holds, or that came of one since we looked. A lease ends, and what nobody holds
 * is claimed next, so this ends too.
 */
async function isBusy(db: Db, team: string, until: Date): Promise<boolean> {
  const row = await db.queries.one(
    Busy,
    sql`
    select exists (select from job where team_id = ${team} and run_at <= ${until} and failed_at is null) as busy`,
  )
  return row.busy
}

/** A job never runs before its own instant, even where the database's and the process's idea of now differ by a second. */
function latest(tenant: Tenant, row: JobRow): Date {
  const now = teamNow(tenant)
  const run_at = new Date(row.run_at)
  return run_at > now ? run_at : now
}
