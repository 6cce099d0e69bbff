// A cell with jobs and their workers, for the simulation of jobs: the steps of a worker, the faults, and the invariants. The statements,
// the runner and the leases are those of the program.
import assert from 'node:assert/strict'
import { addSeconds } from '../../src/platform/runtime/clock.ts'
import type { Db } from '../../src/platform/db/database.ts'
import type { Tenant } from '../../src/platform/db/transaction.ts'
import { JobRunner, type CellJobs } from '../../src/platform/queue/job-runner.ts'
import type { JobRow } from '../../src/platform/queue/jobs.ts'
import type { Claimed } from '../../src/platform/queue/queue-runner.ts'
import { createLog } from '../../src/platform/telemetry/log.ts'
import type { Metrics } from '../../src/platform/telemetry/metrics.ts'
import { enqueue, defineHandler, defineJob, type JobContext } from '../../src/platform/queue/outbox.ts'
import { T } from '../../src/platform/schema/schema.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { ATTEMPTS_MAX, checkJobs, NEXT, PARTS, type Expected } from './jobs-check.ts'
import { SimulatedProcess, tolerateLoss, type Backends, type Faults } from './process.ts'
import type { Pause, Scheduler } from './scheduler.ts'

export const LEASE_S = 60
/** Longer than a lease, so that a slow handler needs a renewed lease. */
const TIMEOUT_S = 90
/** Jobs up to this number queue another one, whose number is higher by `NEXT`. */
const CHAINS_MAX = 1
/** Probability that a statement or a commit loses its connection. */
const LOSS = 0.02
/** Maximum difference within a seed between the monotonic clock of this machine and the clock of its database. */
const TOLERANCE_MS = 1000

const work = defineJob('simulated', T.Object({ n: T.Integer() }), { attempts_max: ATTEMPTS_MAX, timeout_s: TIMEOUT_S })
const log = createLog('silent')
const metrics = { countJob: () => {} } as unknown as Metrics

/** A job that a worker runs. */
interface Run {
  job: Claimed<JobRow>
  n: number
  completion: Promise<unknown>
}

/** Behavior of a handler, by weight. */
const PLANS = [[6, 'works'] as const, [1, 'fails'] as const, [1, 'hangs'] as const, [1, 'hangs in a transaction'] as const]

class Worker extends SimulatedProcess {
  readonly runner: JobRunner
  readonly jobs: CellJobs
  readonly runs = new Set<Run>()
  completedRuns: Run[] = []

  constructor(name: string, world: World, db: Db, faults: Faults) {
    super(name, db, faults)
    this.runner = new JobRunner({
      owner: faults.scheduler.random.uuid(),
      handlers: [defineHandler(work, (context, { n }) => world.handle(this, context, n))],
      tenantOf: async () => world.tenant,
      log,
      metrics,
      lease_s: LEASE_S,
      now_ms: () => world.now_ms(),
      tick_ms: 0,
    })
    this.jobs = this.runner.prepareCellJobs('sandbox-us', this.db)
  }

  get keeper() {
    return this.jobs.runner.leases
  }
}

/** The owner of a job according to the steps so far. */
interface Holder {
  owner: string
  fence: number
  until_ms: number
}

export class World {
  readonly scheduler: Scheduler
  readonly tenant: Tenant
  /** No fault happens any more. */
  calm = false
  readonly #admin: Db
  readonly #backends: readonly Backends[]
  readonly #workers: (Worker | undefined)[]
  readonly #expected: Expected = { jobs: new Set(), claims: new Map(), claimsLost: 0 }
  readonly #holders = new Map<number, Holder>()
  /** The fence of the last claim, by job number. */
  readonly #fences = new Map<number, number>()
  readonly #onBegin = new Map<string, () => void>()
  readonly #hanging: string[] = []
  #started = 0
  #passed_ms = 0

  /** @param backends one for each worker */
  constructor(scheduler: Scheduler, tenant: Tenant, admin: Db, backends: readonly Backends[]) {
    this.scheduler = scheduler
    this.tenant = tenant
    this.#admin = admin
    this.#backends = backends
    this.#workers = backends.map(() => undefined)
  }

  /** The monotonic clocks of the workers: what the steps have taken in truth, as the database counts it as well, and what was made to pass. */
  now_ms(): number {
    return performance.now() + this.#passed_ms
  }

  /** Queues jobs; some are due later. */
  async queue(count: number): Promise<void> {
    await this.#admin.tx(this.tenant, async (tx) => {
      for (let n = 1; n <= count; n++) {
        enqueue(tx, work, { n }, addSeconds(tx.now, this.scheduler.random.pick([0, 0, 5, 30])))
        this.#expected.jobs.add(n)
      }
    })
  }

  start(i: number): void {
    const faults = { scheduler: this.scheduler, loss: () => (this.calm ? 0 : LOSS) }
    const worker = new Worker(`w${i}.${++this.#started}`, this, this.#backends[i]!.db, faults)
    this.#workers[i] = worker
    worker.act(worker.name, (pause) => this.#work(worker, pause))
  }

  /** The loop of a worker: claim, run, renew, complete. */
  async #work(worker: Worker, pause: Pause): Promise<void> {
    for (;;) {
      await pause('claim')
      await this.#claim(worker)
      await pause('tick')
      await this.#tick(worker)
      await pause('complete')
      await this.#complete(worker)
    }
  }

  async #claim(worker: Worker): Promise<void> {
    const { random } = this.scheduler
    const sent_ms = worker.keeper.now_ms()
    const limits = {
      total: random.whole(1, 2),
      groupMax: () => 4,
      claimedRows: new Map([[this.tenant.team, worker.runs.size]]),
      fullKinds: [],
    }
    const lostBefore = worker.lossCount
    const { rows } = await worker.jobs.queue.claimByTeam(limits).catch(tolerateLoss(worker, { rows: [] }))
    if (worker.lossCount > lostBefore) this.#expected.claimsLost++
    for (const row of rows) {
      const { n } = JSON.parse(row.payload) as { n: number }
      this.#assertFree(n, row)
      this.#expected.claims.set(n, (this.#expected.claims.get(n) ?? 0) + 1)
      this.#holders.set(n, { owner: worker.runner.owner, fence: row.fence, until_ms: sent_ms + LEASE_S * 1000 })
      this.#fences.set(n, row.fence)
      const job = worker.jobs.runner.hold(row, sent_ms)
      if (this.calm || !random.chance(0.05)) await this.#begin(worker, job, n)
      else await this.#release(worker, job, n)
    }
  }

  async #release(worker: Worker, { row, lease }: Claimed<JobRow>, n: number): Promise<void> {
    worker.keeper.release(lease)
    this.#holders.delete(n)
    const given = await worker.jobs.queue.release([row]).catch(tolerateLoss(worker, 0))
    this.#expected.claims.set(n, this.#expected.claims.get(n)! - given)
    this.scheduler.note(`  ${worker.name} releases job ${n}`)
  }

  #assertFree(n: number, { fence }: JobRow): void {
    const holder = this.#holders.get(n)
    const left_ms = (holder?.until_ms ?? 0) - this.now_ms()
    assert(
      !holder || left_ms <= TOLERANCE_MS,
      `job ${n} was claimed with fence ${fence} although the owner with fence ${holder?.fence} has it for another ${left_ms} ms`,
    )
  }

  /** Run a job as far as its handler's first pause, or to its end where it has none. */
  async #begin(worker: Worker, job: Claimed<JobRow>, n: number): Promise<void> {
    const began = Promise.withResolvers<void>()
    const { id, fence } = job.row
    this.#onBegin.set(id + fence, began.resolve)
    const run: Run = { job, n, completion: Promise.resolve() }
    run.completion = worker.jobs.runner
      .run(job, (claimedJob) => worker.runner.handle(worker.jobs, claimedJob, async () => this.tenant))
      .then((outcome) => {
        this.scheduler.note(`  ${worker.name} job ${n} fence ${fence}: ${outcome}`)
        worker.runs.delete(run)
        if (outcome === 'completed') worker.completedRuns.push(run)
        else if (outcome !== 'lost' && this.#holders.get(n)?.fence === fence) this.#holders.delete(n)
      })
      .catch(tolerateLoss(worker, undefined))
    run.completion.catch(() => {})
    worker.runs.add(run)
    await Promise.race([began.promise, run.completion])
  }

  /** The handler: two parts, each a transaction; the second one queues another job for some. An actor of its own. */
  handle(worker: Worker, context: JobContext, n: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const run = [...worker.runs].findLast((run) => run.n === n)!
    const { id, fence } = run.job.row
    const name = `${worker.name} job ${n} fence ${fence}`
    const plan = this.calm ? 'works' : this.scheduler.random.pickWeighted(PLANS)
    worker.act(name, async (pause) => {
      try {
        for (let part = 1; part <= PARTS; part++) {
          await pause(`begin part ${part}`)
          if (part === 2 && plan === 'fails') throw new Error('as planned')
          if (part === 2 && plan === 'hangs') await this.#hang(name, pause)
          await context.tx(async (tx) => {
            const isNew = await tx.run(sql`
              insert into simulated_effect (team_id, n, part, fence) select ${tx.team}, ${n}, ${part}, ${fence}
              where not exists (select from simulated_effect where team_id = ${tx.team} and n = ${n} and part = ${part})`)
            if (isNew && part === PARTS && n <= CHAINS_MAX) {
              enqueue(tx, work, { n: n + NEXT })
              this.#expected.jobs.add(n + NEXT)
            }
            if (part === 1 && plan === 'hangs in a transaction') await this.#hang(name, pause)
            else await pause(`commit part ${part}`)
          })
          await this.#assertOwned(worker, id, n, fence, part)
        }
        resolve()
      } catch (error) {
        reject(error as Error)
      }
      await run.completion
    })
    promise.catch(() => {})
    this.#onBegin.get(id + fence)?.()
    // An actor whose process is killed before its first step never begins.
    return Promise.race([promise, worker.death])
  }

  /** Resumes a handler much later, after its worker has lost the lease or was killed. */
  async #hang(name: string, pause: Pause): Promise<void> {
    this.scheduler.suspend(name)
    this.#hanging.push(name)
    await pause('go on after hanging')
  }

  /** Checks that the owner of the job has made the last commit. */
  async #assertOwned(worker: Worker, id: string, n: number, fence: number, part: number): Promise<void> {
    const Row = T.Object({ owner: T.Union([T.String(), T.Null()]), fence: T.Integer() })
    const row = await this.#admin.queries.maybe(Row, sql`select owner, fence from job where id = ${id}`)
    assert.deepEqual(
      row,
      { owner: worker.runner.owner, fence },
      `part ${part} of job ${n} was committed by ${worker.name} with fence ${fence}, which does not have the job`,
    )
  }

  async #tick(worker: Worker): Promise<void> {
    const [lostBefore, began_ms] = [worker.lossCount, this.now_ms()]
    await worker.keeper.tick()
    // A run whose lease has ended must end now, not later.
    const over = [...worker.runs].filter(({ job }) => job.lease.end)
    await Promise.all(over.map(({ completion }) => completion))
    const held = [...worker.runs].filter(({ job }) => !job.lease.end)
    for (const { job, n } of held) {
      const holder = this.#holders.get(n)
      if (holder?.fence === job.row.fence) holder.until_ms = job.lease.expires_ms
      if (worker.lossCount === lostBefore)
        assert(job.lease.expires_ms >= began_ms + (LEASE_S * 2000) / 3, `${worker.name} has not renewed its lease of job ${n}`)
    }
    if (this.scheduler.random.chance(0.3)) await this.#assertLeased(worker, held)
  }

  /** Checks that no worker relies on a lease after it has expired in the database. */
  async #assertLeased({ name, runner }: Worker, leasedRuns: readonly Run[]): Promise<void> {
    if (leasedRuns.length === 0) return
    const Row = T.Object({ id: T.String(), fence: T.Integer(), left_ms: T.Number() })
    const rows = await this.#admin.queries.many(
      Row,
      sql`
      select id, fence, (extract(epoch from leased_until - clock_timestamp()) * 1000)::float8 as left_ms
      from job where team_id = ${this.tenant.team} and owner = ${runner.owner}`,
    )
    for (const { job, n } of leasedRuns) {
      const row = rows.find(({ id, fence }) => id === job.row.id && fence === job.row.fence)
      const left_ms = job.lease.expires_ms - this.now_ms()
      assert(
        row && left_ms <= row.left_ms + TOLERANCE_MS,
        `${name} counts on its lease of job ${n} for ${left_ms} ms, the database for ${row?.left_ms} ms`,
      )
    }
  }

  async #complete(worker: Worker): Promise<void> {
    const over = worker.completedRuns.filter(({ job }) => job.lease.end)
    const done = worker.completedRuns.filter(({ job }) => !job.lease.end)
    for (const { job } of over) worker.keeper.release(job.lease)
    worker.completedRuns = []
    if (done.length === 0) return
    const rows = done.map(({ job }) => job.row)
    const gone = await worker.jobs.queue.complete(rows).catch(tolerateLoss(worker, undefined))
    if (gone === undefined) return void (worker.completedRuns = done)
    const ours = done.filter(({ job, n }) => this.#fences.get(n) === job.row.fence)
    assert(
      gone <= ours.length,
      `${worker.name} has completed ${gone} jobs, of which others had claimed ${gone - ours.length} since`,
    )
    for (const { job } of done) worker.keeper.release(job.lease)
    this.scheduler.note(`  ${worker.name} completes ${gone} of ${done.length}`)
  }

  /** Lets time pass for the database and for the monotonic clocks of the workers. */
  async pass(seconds: number): Promise<void> {
    this.#passed_ms += seconds * 1000
    await this.#admin.queries.run(sql`
      update job set due_at = due_at - make_interval(secs => ${seconds}), leased_until = leased_until - make_interval(secs => ${seconds})
      where team_id = ${this.tenant.team}`)
  }

  /** Closes a worker's connections for transactions, with the transactions that hang. */
  async loseConnections(i: number): Promise<void> {
    await this.#backends[i]!.terminate(this.#admin, 'all')
  }

  async kill(i: number): Promise<void> {
    const worker = this.#workers[i]
    if (!worker) return
    this.#workers[i] = undefined
    worker.kill()
    this.scheduler.abandon((name) => name === worker.name || name.startsWith(`${worker.name} `))
    await this.#backends[i]!.terminate(this.#admin, 'in a transaction')
    await Promise.all([...worker.runs].map(({ completion }) => completion))
  }

  isRunning = (i: number): boolean => this.#workers[i] !== undefined

  /** Suspends the loop of a worker: its handlers continue, its leases are not renewed. */
  suspend(i: number): void {
    const worker = this.#workers[i]
    if (worker) this.scheduler.suspend(worker.name)
  }

  resume(i: number): void {
    const worker = this.#workers[i]
    if (worker) this.scheduler.release(worker.name)
  }

  /** Resumes a handler that hangs. */
  wakeOne(): void {
    const name = this.#hanging.shift()
    if (name !== undefined) this.scheduler.release(name)
  }

  /** See `checkJobs`. */
  check = (): Promise<number> => checkJobs(this.#admin, this.tenant.team, this.#expected)

  async end(): Promise<void> {
    for (const i of this.#workers.keys()) await this.kill(i)
    await this.#admin.queries.run(sql`delete from job where team_id = ${this.tenant.team}`)
    await this.#admin.queries.run(sql`delete from simulated_effect where team_id = ${this.tenant.team}`)
  }
}
