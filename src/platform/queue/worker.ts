// The worker: runs the jobs of each cell. A job is deleted when its handlers have completed, so it runs at least once. After
// its last failed attempt the row stays, marked failed, for the operator. docs/decisions/jobs.md states the guarantees and
// their reasons.
import type { Cells } from '../db/cells.ts'
import type { Tenant } from '../db/transaction.ts'
import { errorFields } from '../telemetry/log.ts'
import { JobRunner, type CellJobs, type JobRunnerOptions } from './job-runner.ts'
import type { JobRow } from './jobs.ts'
import { QueueWorker, QueueWorkers } from './queue-worker.ts'

/** Jobs that a process runs at once in a cell. */
const SLOTS = 8
/** The last slots are reserved for teams without a running job. */
const SLOTS_FOR_OTHERS = 2

export interface WorkerOptions extends JobRunnerOptions {
  cells: Cells
  /** Jobs that run at once in a cell; 8 if not given. */
  slots?: number
  /** The time between two claims if nothing wakes the worker; half a second if not given. */
  poll_ms?: number
}

/** Runs the jobs of the cells it is given. */
export class Worker extends QueueWorkers<JobRow> {
  constructor(options: WorkerOptions) {
    const runner = new JobRunner(options)
    super(options.cells.names.map((name) => createWorker(runner.prepareCellJobs(name, options.cells.db(name)), runner, options)))
  }
}

function createWorker(
  jobs: CellJobs,
  runner: JobRunner,
  { log, tenantOf, handlers, slots = SLOTS, poll_ms }: WorkerOptions,
): QueueWorker<JobRow> {
  const { cell, db, queue } = jobs
  /** Each team is read once for the jobs of one claim. */
  let tenants = new Map<string, Promise<Tenant | undefined>>()
  const limited = new Map(
    handlers.flatMap(({ job, running_max = () => job.running_max }) => {
      const most = running_max()
      return most < Infinity ? [[job.name, most] as const] : []
    }),
  )
  const worker = new QueueWorker({
    runner: jobs.runner,
    ...(poll_ms !== undefined && { poll_ms }),
    async claim(limits) {
      const claimed = await queue.claimByTeam(limits)
      // After the claim: what was looked up before may be older than what the claimed jobs were queued with.
      tenants = new Map()
      return claimed
    },
    handle: (job) =>
      runner.handle(jobs, job, (_, team) => {
        const tenant = tenants.get(team) ?? tenantOf(cell, team)
        tenants.set(team, tenant)
        return tenant
      }),
    slots: {
      slots,
      groupOf: ({ team_id }) => team_id,
      groupMax: () => Math.max(1, slots - SLOTS_FOR_OTHERS),
      kinds: { kindOf: ({ name }) => name, max: (name) => limited.get(name) ?? Infinity },
    },
    onError: (error, message) => log.error({ cell, queue: 'jobs', causes: errorFields(error) }, message),
  })
  db.onJobNotification = () => worker.wake()
  return worker
}
