// Runs claimed jobs: their handlers in order, each within its timeout, in transactions that commit only while the lease of the
// job lasts. Used by the worker and when a team's clock is advanced.
//
// A job may have several handlers. They run in the order of the list, from the top of the architecture down: rows that refer to
// others are processed before the rows they refer to.
import { teamNow, type Db } from '../db/database.ts'
import type { Tenant } from '../db/transaction.ts'
import { JobQueue, backoffSeconds, type JobRow } from './jobs.ts'
import type { DueJobs } from './team-jobs.ts'
import { QueueRunner, type Claimed, type RunEnd, type RunOutcome } from './queue-runner.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Handler, JobContext } from './outbox.ts'
import { runWork } from '../runtime/loop-work.ts'
import { uuid } from '../runtime/uuid.ts'

export interface JobRunnerOptions {
  handlers: Handler[]
  /** The current tenant of a team; undefined if the team has been deleted. */
  tenantOf: TenantOf
  log: Log
  metrics: Metrics
  /** The duration of a claim unless it is renewed; 60 s by default. */
  lease_s?: number
  /** A monotonic clock, and how often leases are checked; see `LeaseKeeper`. */
  now_ms?: () => number
  tick_ms?: number
  owner?: string
}

type TenantOf = (cell: string, team: string) => Promise<Tenant | undefined>

/** The error of a job that this program has no handler for. */
const UNKNOWN_ATTEMPTS_MAX = 30
const POLL_MS_MIN = 20
const POLL_MS_MAX = 250

/** The jobs of a cell, and their runner. */
export interface CellJobs {
  cell: string
  db: Db
  queue: JobQueue
  runner: QueueRunner<JobRow>
}

/** A job that begins while a clock is advanced. */
export type StartedJob = Pick<DueJobs, 'name' | 'is_retry'>

export class JobRunner {
  readonly #options: JobRunnerOptions
  readonly #cells = new Map<Db, CellJobs>()
  /** The owner in the rows that this runner has claimed. */
  readonly owner: string

  constructor(options: JobRunnerOptions) {
    this.#options = options
    this.owner = options.owner ?? uuid()
  }

  /** The jobs of a cell. */
  prepareCellJobs(cell: string, db: Db): CellJobs {
    let jobs = this.#cells.get(db)
    if (!jobs) {
      const { log, lease_s, now_ms, tick_ms } = this.#options
      const queue = new JobQueue(db, { owner: this.owner, ...(lease_s !== undefined && { lease_s }) })
      const runner = new QueueRunner({
        queue,
        attemptsOf: ({ attempts }) => attempts,
        attemptsMax: ({ name }) => this.#handlersOf(name)[0]?.job.attempts_max ?? UNKNOWN_ATTEMPTS_MAX,
        backoffSeconds,
        onEnd: (row, end) => this.#logEnd(cell, row, end),
        onError: (error, message) => log.error({ cell, queue: 'jobs', causes: errorFields(error) }, message),
        ...(now_ms && { now_ms }),
        ...(tick_ms !== undefined && { tick_ms }),
      })
      this.#cells.set(db, (jobs = { cell, db, queue, runner }))
    }
    return jobs
  }

  #handlersOf(name: string): Handler[] {
    return this.#options.handlers.filter(({ job }) => job.name === name)
  }

  #logEnd(cell: string, { name, id, team_id, attempts }: JobRow, { outcome, duration_s, error, cause }: RunEnd): void {
    const { log, metrics } = this.#options
    if (outcome === 'postponed') return
    metrics.countJob(name, outcome, duration_s)
    const fields = { job: name, 'job.id': id, 'team.id': team_id, cell, attempt: attempts }
    if (outcome === 'completed') {
      log.info({ ...fields, duration_ms: Math.round(duration_s * 1e5) / 100 }, 'job completed')
      return
    }
    const unlimited = this.#handlersOf(name)[0]?.job.attempts_max === Infinity
    log.error(
      { ...fields, ...(unlimited && { unlimited }), error, ...(cause !== undefined && { causes: errorFields(cause) }) },
      SAID[outcome],
    )
  }

  /** Runs the handlers of a claimed job. @param run_at the team instant at which they run; now by default */
  async handle(jobs: CellJobs, { row, lease }: Claimed<JobRow>, tenantOf: TenantOf, run_at?: Date): Promise<void> {
    const handlers = this.#handlersOf(row.name)
    if (handlers.length === 0) throw new Error('no handler is registered for this job')
    const found = await lease.whileHeld(tenantOf(jobs.cell, row.team_id))
    if (!found) return
    const tenant = run_at ? found : caughtUp(found, row)
    const instant = run_at ?? teamNow(tenant)
    const guard = jobs.queue.guard(row)
    const context: JobContext = {
      tenant,
      async tx(work) {
        if (lease.end) throw lease.end
        return jobs.db.tx(tenant, (tx) => lease.whileHeld(work(tx)), instant, guard)
      },
      othersWait: () => jobs.queue.hasDueJobOfOthers(row),
    }
    const payload: unknown = JSON.parse(row.payload)
    for (const handler of handlers) {
      if (lease.end) throw lease.end
      lease.deadline_ms = jobs.runner.leases.now_ms() + handler.job.timeout_s * 1000
      // An abandoned handler may never end; its context rejects further work.
      await lease.whileHeld(runWork({ kind: 'job', name: row.name }, () => handler.run(context, payload)))
    }
    lease.deadline_ms = Infinity
  }

  /**
   * Runs the team's jobs that become due up to `end`, a team instant, in the order of their instants, each at its own
   * instant. Jobs queued meanwhile join the queue. Time starts at `start` and never goes back: an overdue job runs at the
   * instant reached. `onJob` is called before each job, so that the team's clock can be set. Waits for jobs that a worker is
   * running. A job that fails gets its usual pause, by machine time, and is not retried in this call.
   * @returns the number of jobs run, and whether none is left (false if `jobs_max` was reached or `stopped` returned true)
   */
  async runUntil(
    cell: string,
    db: Db,
    team: string,
    span: { start: Date; end: Date; jobs_max: number; isStopped?: () => boolean },
    onJob: (instant: Date, job: StartedJob) => Promise<void>,
  ): Promise<{ jobs: number; finished: boolean }> {
    const jobs = this.prepareCellJobs(cell, db)
    const { queue, runner } = jobs
    const failed: string[] = []
    const jobsLeft = { team, end: span.end, exceptions: failed }
    let at = span.start
    let poll_ms = POLL_MS_MIN
    for (let count = 0; ;) {
      if (span.isStopped?.()) return { jobs: count, finished: false }
      const sent_ms = runner.leases.now_ms()
      const row = await queue.claimNextOf(jobsLeft)
      if (!row) {
        if (!(await queue.hasJobOf(jobsLeft))) return { jobs: count, finished: true }
        await new Promise((resolve) => setTimeout(resolve, poll_ms))
        poll_ms = Math.min(POLL_MS_MAX, poll_ms * 2)
        continue
      }
      poll_ms = POLL_MS_MIN
      if (count === span.jobs_max) {
        await queue.release([row])
        return { jobs: count, finished: false }
      }
      const run_at = new Date(row.run_at)
      if (run_at > at) at = run_at
      const claimed = runner.hold(row, sent_ms)
      try {
        await onJob(at, { name: row.name, is_retry: row.attempts > 1 }).catch(async (error: unknown) => {
          await queue.release([row]).catch(() => 0)
          throw error
        })
        const outcome = await runner.run(claimed, (job) => this.handle(jobs, job, this.#options.tenantOf, at))
        if (outcome === 'completed') await queue.complete([row])
        else failed.push(row.id)
      } finally {
        runner.leases.release(claimed.lease)
      }
      count++
    }
  }
}

const SAID: Record<Exclude<RunOutcome, 'completed' | 'postponed'>, string> = {
  retried: 'job failed; will retry',
  failed: 'job failed; will not be retried',
  lost: 'job lease lost; another worker runs the job',
}

/**
 * A job never runs before its own instant, even if the clock of this process is behind that of the process that queued it. The
 * team's clock is advanced by the difference, so that work which the job queues for now is due now.
 */
function caughtUp(tenant: Tenant, row: JobRow): Tenant {
  const behind_s = Math.ceil((new Date(row.run_at).getTime() - teamNow(tenant).getTime()) / 1000)
  return behind_s > 0 ? { ...tenant, clock_offset_s: tenant.clock_offset_s + behind_s } : tenant
}
