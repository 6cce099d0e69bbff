// The job that parses a report: a thread with limits of time and memory reads its files.
import type { Vault } from '../../platform/crypto/vault.ts'
import type { Service } from '../../platform/module/module.ts'
import { defineHandler, enqueue, type Handler, type JobContext } from '../../platform/queue/outbox.ts'
import { addSeconds } from '../../platform/runtime/clock.ts'
import { createWorkerPool, WorkerLimitExceeded, WorkerPoolBusy, type WorkerPool } from '../../platform/runtime/worker-pool.ts'
import { findReleaseTerms } from '../loinc/release.ts'
import type { ReadReport } from '../reading/read-report.ts'
import type { ReadOutcome, Reading } from '../reading/report.task.ts'
import { uncertainNames } from '../reading/uncertain-names.ts'
import { claimJob, endJob, filesOf, parseReport, READ_S_MAX, READ_S_PER_PAGE, type Outcome } from './jobs.ts'

/** A process that ends in the middle of a job leaves it to another; a report that ends three processes fails. */
const ATTEMPTS_MAX = 3
const RETRY_S = 2
/** A page of a scan takes 150 MB beside the networks, which the heap of the thread does not show. */
const THREAD_MB_MAX = 768
const DAY_S = 86_400

export interface ParserOptions {
  vault: Vault
  /** Reports that a process reads at once, each with a thread. */
  threads: number
  files_kept_days: number
  /** Folder with other networks of the text recognition. */
  ocr_models: string | undefined
  log: { warn(fields: { cell: string; 'team.id': string; job_id: string; reason: string }, message: string): void }
  /** What a thread may hold, in MB, and how long it may take. */
  thread_mb_max?: number
  read_ms_max?: number
}

const task = new URL('../reading/report.task.ts', import.meta.url)

/** Runs a task of the threads; undefined if it failed. */
type InThread = <R>(name: string, input: unknown) => Promise<R | undefined>

/** The parsing of a process. */
export class ReportParser implements Service {
  readonly #options: () => ParserOptions
  readonly #running = new Set<Promise<void>>()
  #pool: WorkerPool | undefined
  #isStopping = false

  constructor(options: () => ParserOptions) {
    this.#options = options
  }

  readonly handler: Handler = {
    ...defineHandler(parseReport, (context, { job_id }) => this.#handle(context, job_id)),
    // Those beyond wait in the queue, where their turns are.
    running_max: () => this.#options().threads,
  }

  start(): void {}

  /** Lets what is read end; what the stop of the process cuts off is read again by another one. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#pool?.close()
    await Promise.allSettled(this.#running)
  }

  async #handle(context: JobContext, id: string): Promise<void> {
    // The queue limits them in each cell; cells share the threads of the process.
    if (this.#isStopping || this.#running.size >= this.#options().threads) return later(context, id)
    const run = this.#run(context, id)
    this.#running.add(run)
    try {
      await run
    } finally {
      this.#running.delete(run)
    }
  }

  async #run(context: JobContext, id: string): Promise<void> {
    const options = this.#options()
    const claimed = await context.tx((tx) => claimJob(tx, id))
    if (!claimed) return
    let outcome: Outcome
    if (claimed.attempts > ATTEMPTS_MAX || claimed.file_key === null) outcome = { failure: 'processing_error' }
    else {
      const files = await context.tx((tx) => filesOf(tx, options.vault, id, claimed))
      const reading: Reading = { files, ocr_models: options.ocr_models }
      const inThread = <R>(name: string, input: unknown) =>
        this.#inThread<R>({ name, input, timeout_ms: readingTime_ms(claimed.pages) }, context, id)
      const read = await inThread<ReadOutcome>('default', reading)
      if (read && 'report' in read) outcome = { report: await this.#withReleaseTerms(context, read.report, inThread) }
      else if (read && 'failure' in read) outcome = read
      else outcome = { failure: 'processing_error' }
      if (read && 'unavailable' in read) this.#warn(context, id, read.unavailable)
    }
    await context.tx((tx) => endJob(tx, id, outcome, options.files_kept_days * DAY_S))
  }

  /** The report with candidates of the imported release for names that the shipped terms do not have; as it is if there are none. */
  async #withReleaseTerms(context: JobContext, report: ReadReport, inThread: InThread): Promise<ReadReport> {
    const names = uncertainNames(report)
    const terms = names.length ? await context.tx((tx) => findReleaseTerms(tx, names)) : new Map()
    if (!terms.size) return report
    const outcome = await inThread<ReadReport>('addReleaseTerms', { report, terms })
    return outcome ?? report
  }

  /**
   * The result of a task; undefined if it failed or exceeded its limits, which the log tells.
   * Errors: whatever kept this process from reading, such as its end; the job is then tried again.
   */
  async #inThread<R>(
    { name, input, timeout_ms }: { name: string; input: unknown; timeout_ms: number },
    context: JobContext,
    id: string,
  ): Promise<R | undefined> {
    const { threads, thread_mb_max = THREAD_MB_MAX, read_ms_max = timeout_ms } = this.#options()
    this.#pool ??= createWorkerPool({ threads_max: threads, memory_max_mb: thread_mb_max })
    try {
      return await this.#pool.run<R>(task, input, { name, timeout_ms: read_ms_max })
    } catch (error) {
      if (error instanceof WorkerPoolBusy || this.#isStopping) throw error
      this.#warn(context, id, reasonOf(error))
      return undefined
    }
  }

  #warn({ tenant }: JobContext, job_id: string, reason: string): void {
    const fields = { cell: tenant.cell, 'team.id': tenant.team, job_id, reason }
    this.#options().log.warn(fields, 'a lab report could not be read')
  }
}

/** The text of other errors can come from the document. */
const reasonOf = (error: unknown): string => (error instanceof WorkerLimitExceeded ? error.message : 'a task failed')

const readingTime_ms = (pages: number): number => Math.min(READ_S_MAX, 60 + pages * READ_S_PER_PAGE) * 1000

const later = (context: JobContext, job_id: string): Promise<void> =>
  context.tx(async (tx) => enqueue(tx, parseReport, { job_id }, addSeconds(tx.now, RETRY_S)))
