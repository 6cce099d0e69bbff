// The worker: in each cell claims due jobs and runs them as slots become free. A job is claimed by a lease that is renewed while the job is
// in hand, so a killed worker's jobs are found again; it is deleted when its handlers are done, so it runs at least once. After its last
// attempt it stays, failed, for people to see. docs/decisions/jobs.md says what holds and why.
import type { Cells } from '../db/cells.ts'
import type { CellName } from '../db/cell-names.ts'
import type { Db } from '../db/database.ts'
import type { Tenant } from '../db/transaction.ts'
import { JobRunner, type HeldJob, type JobRunnerOptions } from './job-runner.ts'
import { JobSlots } from './job-slots.ts'
import { JobClaims, completeJobs, releaseJobs } from './jobs.ts'
import { errorFields, type Log } from '../telemetry/log.ts'

const POLL_MS = 500
/** Under load claims are this far apart, so that each takes a batch; the first after a rest is immediate. */
const PACE_MS = 10
/** What is done is deleted together after so long. */
const COMPLETE_MS = 5
const COMPLETED_MAX = 40
/** A claimed job that has waited so long for a slot is given back: another worker may have one. */
const WAITED_MS_MAX = 1000

export interface WorkerOptions extends JobRunnerOptions {
  cells: Cells
  /** Jobs that run at once in a cell; 8 if not given. */
  slots?: number
}

/** Runs the jobs of the cells it is given. */
export class Worker {
  readonly #workers: CellWorker[]

  constructor(options: WorkerOptions) {
    const runner = new JobRunner(options)
    this.#workers = options.cells.names.map((name) => new CellWorker(name, options.cells.of(name), runner, options))
  }

  start(): void {
    for (const worker of this.#workers) worker.start()
  }

  /** Claims nothing more and waits for the jobs that are running. */
  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()))
  }
}

interface WaitingJob extends HeldJob {
  claimed_ms: number
}

/** The jobs of one cell in this process. */
class CellWorker {
  readonly #cell: CellName
  readonly #db: Db
  readonly #runner: JobRunner
  readonly #log: Log
  readonly #tenantOf: JobRunnerOptions['tenantOf']
  readonly #claims: JobClaims
  readonly #slots: JobSlots<WaitingJob>
  readonly #running = new Set<Promise<void>>()
  /** Teams of the jobs in hand: each is looked up once for the jobs of one claim. */
  #tenants = new Map<string, Promise<Tenant | undefined>>()
  #done: WaitingJob[] = []
  #completing: NodeJS.Timeout | undefined
  #loop: Promise<void> | undefined
  #stopped = false
  /** There was more to claim than was claimed: the next job that ends makes room for it. */
  #more = false
  #woken = false
  #wake = () => {}

  constructor(cell: CellName, db: Db, runner: JobRunner, { log, tenantOf, slots }: WorkerOptions) {
    this.#cell = cell
    this.#db = db
    this.#runner = runner
    this.#log = log
    this.#tenantOf = tenantOf
    this.#claims = new JobClaims(db, runner.owner, runner.lease_s)
    this.#slots = new JobSlots(slots)
  }

  start(): void {
    this.#db.onWork = () => this.#onWork()
    this.#loop = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#onWork()
    await this.#loop
    await this.#giveBack()
    // What is being deleted when the last job ends began after the first look.
    while (this.#running.size > 0) await Promise.all(this.#running)
    await this.#complete()
  }

  #onWork(): void {
    this.#woken = true
    this.#wake()
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      this.#woken = false
      const began = performance.now()
      const claimed = await this.#claim()
      this.#startJobs()
      const waited_ms = performance.now() - WAITED_MS_MAX
      await this.#giveBack(({ claimed_ms }) => claimed_ms < waited_ms)
      if (this.#stopped) return
      if (claimed > 0 && this.#more && this.#slots.room(performance.now()).total > 0) this.#woken = true
      const rest_ms = PACE_MS - (performance.now() - began)
      if (this.#woken && rest_ms > 0) await new Promise((resolve) => setTimeout(resolve, rest_ms))
      if (this.#woken) continue
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, POLL_MS)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  /** Claim as much as there is room for. @returns how many jobs */
  async #claim(): Promise<number> {
    const room = this.#slots.room(performance.now())
    if (room.total === 0) return 0
    const keeper = this.#runner.leases(this.#cell, this.#db)
    const sent_ms = keeper.now_ms()
    try {
      const { jobs, more } = await this.#claims.claim(room)
      this.#more = more
      this.#tenants = new Map()
      const claimed_ms = performance.now()
      for (const row of jobs) this.#slots.add({ ...this.#runner.hold(keeper, row, sent_ms), claimed_ms })
      return jobs.length
    } catch (error) {
      if (!this.#stopped) this.#log.error({ cell: this.#cell, causes: errorFields(error) }, 'claiming jobs failed; will retry')
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      return 0
    }
  }

  #startJobs(): void {
    if (this.#stopped) return
    for (let job = this.#slots.next(); job; job = this.#slots.next()) this.#track(this.#runOne(job))
  }

  #track(work: Promise<void>): void {
    this.#running.add(work)
    void work.finally(() => this.#running.delete(work))
  }

  async #runOne(job: WaitingJob): Promise<void> {
    const outcome = await this.#runner.run(this.#cell, this.#db, job, (team) => this.#tenant(team))
    this.#slots.end(job, performance.now())
    if (outcome === 'done') this.#completeSoon(job)
    this.#startJobs()
    if (this.#more) this.#onWork()
  }

  #tenant(team: string): Promise<Tenant | undefined> {
    const known = this.#tenants.get(team) ?? this.#tenantOf(this.#cell, team)
    this.#tenants.set(team, known)
    return known
  }

  #completeSoon(job: WaitingJob): void {
    this.#done.push(job)
    if (this.#done.length >= COMPLETED_MAX) this.#track(this.#complete())
    else this.#completing ??= setTimeout(() => this.#track(this.#complete()), COMPLETE_MS)
  }

  /** Delete what is done; what cannot be deleted now is tried again, as long as it is ours. */
  async #complete(): Promise<void> {
    clearTimeout(this.#completing)
    this.#completing = undefined
    const done = this.#done.filter(({ lease }) => !lease.end)
    const lost = this.#done.filter(({ lease }) => lease.end)
    this.#done = []
    this.#release(lost)
    if (done.length === 0) return
    try {
      const rows = done.map(({ row }) => row)
      await completeJobs(this.#db, this.#runner.owner, rows)
      this.#release(done)
    } catch (error) {
      this.#log.error(
        { cell: this.#cell, jobs: done.length, causes: errorFields(error) },
        'deleting completed jobs failed; will retry',
      )
      this.#done.push(...done)
      // Not at the end: whoever claims them next does them again.
      if (!this.#stopped) this.#completing ??= setTimeout(() => this.#track(this.#complete()), POLL_MS)
    }
  }

  /** Give back claimed jobs that have not begun: at the end, or those that have waited too long. */
  async #giveBack(chosen?: (job: WaitingJob) => boolean): Promise<void> {
    const jobs = this.#slots.withdraw(chosen)
    if (jobs.length === 0) return
    this.#release(jobs)
    const rows = jobs.map(({ row }) => row)
    // Otherwise their leases end.
    await releaseJobs(this.#db, this.#runner.owner, rows).catch(() => {})
  }

  #release(jobs: WaitingJob[]): void {
    const keeper = this.#runner.leases(this.#cell, this.#db)
    for (const { lease } of jobs) keeper.release(lease)
  }
}
