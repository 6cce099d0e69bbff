// Runs claimed jobs: their handlers in order, each within its time, in transactions that are committed only while the job's lease holds.
// Shared by the worker and by the travel of a team's clock.
//
// A job may have several handlers. They run in the order of the list, which is from the top of the architecture down: rows that
// refer to others are dealt with before the rows they refer to.
import { teamNow, type Db } from '../db/database.ts'
import type { CellName } from '../db/cell-names.ts'
import type { Tenant } from '../db/transaction.ts'
import {
  JOB_LEASE_S,
  claimNextOfTeam,
  completeJobs,
  hasJobOfTeam,
  jobGuard,
  putOffJob,
  releaseJobs,
  renewJobs,
  type JobRow,
} from './jobs.ts'
import { LeaseKeeper, LeaseLost, type HeldLease } from '../db/leases.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Handler, JobContext } from './outbox.ts'
import { uuid } from '../runtime/uuid.ts'

export interface JobRunnerOptions {
  handlers: Handler[]
  /** The tenant of a team, as it is now; undefined when the team is gone. */
  tenantOf: (cell: CellName, team: string) => Promise<Tenant | undefined>
  log: Log
  metrics: Metrics
  /** How long a claim holds unless it is renewed; 60 s if not given. */
  lease_s?: number
  /** A monotonic clock, and how often leases are looked at; see `LeaseKeeper`. */
  now_ms?: () => number
  tick_ms?: number
  owner?: string
}

/** A claimed job and its lease. */
export interface HeldJob {
  row: JobRow
  lease: HeldLease
  team_id: string
}

/** What became of a run: `lost` has been, or will be, run by somebody else. */
export type JobOutcome = 'done' | 'retry' | 'failed' | 'lost'

const ERROR_LENGTH_MAX = 200
/** Of a job that this program has no handler for. */
const UNKNOWN_ATTEMPTS_MAX = 30
const POLL_MS_MIN = 20
const POLL_MS_MAX = 250

export class JobRunner {
  readonly #options: JobRunnerOptions
  readonly #keepers = new Map<Db, LeaseKeeper>()
  readonly lease_s: number
  /** Names this runner in the rows it has claimed. */
  readonly owner: string

  constructor(options: JobRunnerOptions) {
    this.#options = options
    this.owner = options.owner ?? uuid()
    this.lease_s = options.lease_s ?? JOB_LEASE_S
  }

  /** The leases of this runner in a cell. */
  leases(cell: CellName, db: Db): LeaseKeeper {
    let keeper = this.#keepers.get(db)
    if (!keeper) {
      const { log, now_ms, tick_ms } = this.#options
      keeper = new LeaseKeeper({
        lease_s: this.lease_s,
        renew: (leases) => renewJobs(db, this.owner, leases, this.lease_s),
        onError: (error) => log.error({ cell, causes: errorFields(error) }, 'renewing the leases of jobs failed; will retry'),
        ...(now_ms && { now_ms }),
        ...(tick_ms !== undefined && { tick_ms }),
      })
      this.#keepers.set(db, keeper)
    }
    return keeper
  }

  /** @param sent_ms when the claim was sent, by the clock of the keeper */
  hold(keeper: LeaseKeeper, row: JobRow, sent_ms: number): HeldJob {
    return { row, lease: keeper.hold(row, sent_ms), team_id: row.team_id }
  }

  /**
   * Run a claimed job to its end. Never throws for the job's sake: it is put off after an error, or failed for good. A job that is done
   * keeps its lease and its row until `completeJobs`; of every other one the lease has been given back.
   */
  async run(
    cell: CellName,
    db: Db,
    job: HeldJob,
    tenantOf: (team: string) => Promise<Tenant | undefined>,
    at?: Date,
  ): Promise<JobOutcome> {
    const { log, metrics } = this.#options
    const { row } = job
    const started = performance.now()
    const handlers = this.#options.handlers.filter((handler) => handler.job.name === row.name)
    const fields = { job: row.name, 'job.id': row.id, 'team.id': row.team_id, cell, attempt: row.attempts }
    const elapsed_s = () => (performance.now() - started) / 1000
    try {
      await this.#handle(db, job, handlers, tenantOf, at)
      metrics.job(row.name, 'done', elapsed_s())
      log.info({ ...fields, duration_ms: Math.round(elapsed_s() * 1e5) / 100 }, 'job done')
      return 'done'
    } catch (error) {
      const outcome = outcomeOf(error, job, handlers)
      metrics.job(row.name, outcome, elapsed_s())
      const unlimited = handlers[0]?.job.attempts_max === Infinity
      log.error({ ...fields, ...(unlimited && { unlimited }), causes: errorFields(error) }, SAID[outcome])
      if (outcome !== 'lost')
        await putOffJob(db, this.owner, row, { final: outcome === 'failed', error: errorCode(error) }).catch((fault: unknown) =>
          // Its lease ends by itself, and the attempt has been counted.
          log.error({ ...fields, causes: errorFields(fault) }, 'putting off a job failed'),
        )
      this.leases(cell, db).release(job.lease)
      return outcome
    }
  }

  async #handle(
    db: Db,
    { row, lease }: HeldJob,
    handlers: Handler[],
    tenantOf: (team: string) => Promise<Tenant | undefined>,
    at: Date | undefined,
  ): Promise<void> {
    if (handlers.length === 0) throw new Error('no handler is bound to this job')
    // Every attempt so far ended with its process: the next would too.
    if (row.attempts > handlers[0]!.job.attempts_max) throw new Interrupted('every attempt ended with the process that made it')
    const found = await Promise.race([tenantOf(row.team_id), lease.ended])
    if (!found) return
    const tenant = at ? found : caughtUp(found, row)
    const instant = at ?? teamNow(tenant)
    const guard = jobGuard(this.owner, row)
    const context: JobContext = {
      tenant,
      async tx(work) {
        if (lease.end) throw lease.end
        return db.tx(tenant, (tx) => Promise.race([work(tx), lease.ended]), instant, guard)
      },
    }
    const payload: unknown = JSON.parse(row.payload)
    const keeper = this.#keepers.get(db)!
    for (const handler of handlers) {
      if (lease.end) throw lease.end
      lease.deadline_ms = keeper.now_ms() + handler.job.timeout_s * 1000
      // A handler that is given up may never end; what it still does is refused by its context.
      await Promise.race([handler.run(context, payload), lease.ended])
    }
    lease.deadline_ms = Infinity
  }

  /**
   * Run the team's jobs that fall due up to `until`, a team instant, in order of their own instants, each at its own; jobs queued
   * on the way join the queue. Time starts at `from` and never goes back: an overdue job runs at the instant reached. `before` is
   * called ahead of each job, so that the team's clock can be set. Waits for jobs that a worker is running at the moment. A job that
   * fails is put off as ever, by machine time, and is not tried again on the way.
   * @returns how many ran, and whether none is left (false when `jobs_max` was reached, or `stopped` said so)
   */
  async runUntil(
    cell: CellName,
    db: Db,
    team: string,
    span: { from: Date; until: Date; jobs_max: number; stopped?: () => boolean },
    before: (at: Date) => Promise<void>,
  ): Promise<{ jobs: number; finished: boolean }> {
    const keeper = this.leases(cell, db)
    const failed: string[] = []
    const jobsLeft = { team, until: span.until, but: failed }
    let at = span.from
    let poll_ms = POLL_MS_MIN
    for (let jobs = 0; ;) {
      if (span.stopped?.()) return { jobs, finished: false }
      const sent_ms = keeper.now_ms()
      const row = await claimNextOfTeam(db, this.owner, { ...jobsLeft, lease_s: this.lease_s })
      if (!row) {
        if (!(await hasJobOfTeam(db, jobsLeft))) return { jobs, finished: true }
        await new Promise((resolve) => setTimeout(resolve, poll_ms))
        poll_ms = Math.min(POLL_MS_MAX, poll_ms * 2)
        continue
      }
      poll_ms = POLL_MS_MIN
      if (jobs === span.jobs_max) {
        await releaseJobs(db, this.owner, [row])
        return { jobs, finished: false }
      }
      const run_at = new Date(row.run_at)
      if (run_at > at) at = run_at
      const job = this.hold(keeper, row, sent_ms)
      try {
        await before(at).catch(async (error: unknown) => {
          await releaseJobs(db, this.owner, [row]).catch(() => {})
          throw error
        })
        const outcome = await this.run(cell, db, job, (id) => this.#options.tenantOf(cell, id), at)
        if (outcome === 'done') await completeJobs(db, this.owner, [row])
        else failed.push(row.id)
      } finally {
        keeper.release(job.lease)
      }
      jobs++
    }
  }
}

/** The process ended in the middle of each attempt. */
class Interrupted extends Error {
  override name = 'Interrupted'
}

const SAID: Record<Exclude<JobOutcome, 'done'>, string> = {
  retry: 'job failed; will retry',
  failed: 'job failed; will not be retried',
  lost: 'job lease lost; another worker runs the job',
}

function outcomeOf(error: unknown, { row, lease }: HeldJob, [first]: Handler[]): Exclude<JobOutcome, 'done'> {
  if (error instanceof LeaseLost || lease.end instanceof LeaseLost) return 'lost'
  // Without a handler: queued by a newer program, whose workers know it.
  return row.attempts >= (first?.job.attempts_max ?? UNKNOWN_ATTEMPTS_MAX) ? 'failed' : 'retry'
}

/** What is kept of an error with the job: classes and codes, never a message, which may quote anybody's data. */
function errorCode(error: unknown): string {
  const [first] = errorFields(error)
  return [first!.name, first!.code, first!.constraint].filter(Boolean).join(' ').slice(0, ERROR_LENGTH_MAX)
}

/**
 * A job never runs before its own instant, even where the clock of this process is behind that of the process that queued it. The team's
 * clock is taken to be as far ahead as that, so that what the job queues for now is due now.
 */
function caughtUp(tenant: Tenant, row: JobRow): Tenant {
  const behind_s = Math.ceil((new Date(row.run_at).getTime() - teamNow(tenant).getTime()) / 1000)
  return behind_s > 0 ? { ...tenant, clock_offset_s: tenant.clock_offset_s + behind_s } : tenant
}
