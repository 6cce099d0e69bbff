// The job that parses a report: a child process with limits of time and memory reads its files.
import type { Service } from '../../platform/module/module.ts'
import { defineHandler, enqueue, type Handler, type JobContext } from '../../platform/queue/outbox.ts'
import { addSeconds } from '../../platform/runtime/clock.ts'
import type { Confinement } from '../../platform/runtime/task-limits.ts'
import { createProcessPool } from '../../platform/runtime/process-pool.ts'
import { WorkerLimitExceeded, WorkerPoolBusy, type WorkerPool } from '../../platform/runtime/worker-pool.ts'
import { StorageUnavailable } from '../../platform/stored-files/file-storage.ts'
import { findReleaseTerms } from '../loinc/release.ts'
import type { ReadReport, ReportFile } from '../reading/read-report.ts'
import type { ReadOutcome, Reading } from '../reading/report.task.ts'
import {
  asksForPerson,
  claimJob,
  endJob,
  parseReport,
  READ_S_MAX,
  READ_S_PER_PAGE,
  returnAttempt,
  type ClaimedJob,
  type Outcome,
} from './parsing-jobs.ts'
import { ReportFileMissing, type FilesOfJob, type ReportFiles } from './report-files.ts'
import { DAY_S } from '../../platform/runtime/durations.ts'
import { KNOWN_FROM } from '../loinc/match-loinc.ts'

/** A process that ends in the middle of a job, this one or the one that reads the file, leaves it to another; a report that ends two fails. */
const ATTEMPTS_MAX = 2
const RETRY_S = 2
/** A square scan, the largest page, takes 590. */
const MEMORY_MB_MAX = 704
/** Processor time of all reports that a process reads: the longest one takes half of it. */
const CPU_S_MAX = 2 * READ_S_MAX

export interface ParserOptions {
  files: ReportFiles
  /** Reports that are read at once, each in a child process. */
  processes: number
  files_kept_days: number
  /** Folder with other networks of the text recognition. */
  ocr_models: string | undefined
  log: { warn(fields: { cell: string; 'team.id': string; job_id: string; reason: string }, message: string): void }
  /** What a child process may hold, in MB, how long it may take, and after how long without work it ends. */
  memory_mb_max?: number
  read_ms_max?: number
  idle_ms?: number | undefined
  /** Called once: what the system enforces on child processes. */
  onConfined?: (confinement: Confinement) => void
}

const reportTask = new URL('../reading/report.task.ts', import.meta.url)
const pictureTask = new URL('../reading/file.task.ts', import.meta.url)
/** Drawing a page takes half a second. */
const DRAW_MS_MAX = 10_000

/** What runs in a child process. `attempts`: how often the job was begun. */
interface Task {
  task: URL
  name: string
  input: unknown
  timeout_ms: number
  attempts: number
}

/** Runs a task in a child process; undefined if it failed. */
type InProcess = <R>(name: string, input: unknown) => Promise<R | undefined>

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
    running_max: () => this.#options().processes,
  }

  start(): void {}

  /** Lets what is read end; what the stop of the process cuts off is read again by another one. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#pool?.close()
    await Promise.allSettled(this.#running)
  }

  async #handle(context: JobContext, id: string): Promise<void> {
    // The queue limits them in each cell; cells share the child processes.
    if (this.#isStopping || this.#running.size >= this.#options().processes) return later(context, id)
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
    const outcome = await this.#read(context, id, claimed).catch((error: unknown) => this.#fail(context, id, error))
    await context.tx((tx) => endJob(tx, id, outcome, options.files_kept_days * DAY_S))
  }

  /**
   * Throws the error of a job that is tried again: for as long as the storage of its files cannot be reached, or this process is about to
   * end; twice where a file is not there, perhaps by a process that has it, or the child process ended that read it.
   */
  async #fail(context: JobContext, id: string, error: unknown): Promise<never> {
    if (error instanceof ReportFileMissing || error instanceof StorageUnavailable) this.#warn(context, id, error.message)
    if (error instanceof StorageUnavailable || this.#isStopping) await context.tx((tx) => returnAttempt(tx, id))
    throw error
  }

  /** Errors: `StorageUnavailable`, `ReportFileMissing`, and whatever kept this process from reading. */
  async #read(context: JobContext, id: string, claim: ClaimedJob): Promise<Outcome> {
    const { attempts, file_key, file_types, pages } = claim
    if (attempts > ATTEMPTS_MAX || file_key === null) return { failure: 'processing_error' }
    const job = { id, file_key, file_types }
    const files = await this.#options().files.readAll(context.tx, job)
    const reading: Reading = { files, ocr_models: this.#options().ocr_models }
    const inProcess = <R>(name: string, input: unknown) =>
      this.#inProcess<R>({ task: reportTask, name, input, timeout_ms: readingTime_ms(pages), attempts }, context, id)
    const read = await inProcess<ReadOutcome>('default', reading)
    if (!read) return { failure: 'processing_error' }
    if ('failure' in read) return read
    if ('unavailable' in read) {
      this.#warn(context, id, read.unavailable)
      return { failure: 'processing_error' }
    }
    const report = await this.#withReleaseTerms(context, read.report, inProcess)
    if (claim.needs_human_review || asksForPerson(context.tenant, report)) await this.#drawPages(context, job, files, claim)
    return { report }
  }

  /** Stores the picture of each page for the person who reviews the report. A page that cannot be drawn has none. */
  async #drawPages(
    context: JobContext,
    job: FilesOfJob,
    files: readonly ReportFile[],
    { pages, attempts }: ClaimedJob,
  ): Promise<void> {
    const isDocument = job.file_types[0] === 'application/pdf'
    for (let number = 1; number <= pages; number++) {
      const input = { file: files[isDocument ? 0 : number - 1], page: isDocument ? number : 1 }
      const drawing = { task: pictureTask, name: 'drawPageAsPng', input, timeout_ms: DRAW_MS_MAX, attempts }
      const picture = await this.#inProcess<Uint8Array>(drawing, context, job.id)
      if (picture) await this.#options().files.storePicture(context.tx, job, number, picture)
    }
  }

  /** The report with candidates of the imported release for names that the shipped terms do not have; as it is if there are none. */
  async #withReleaseTerms(context: JobContext, report: ReadReport, inProcess: InProcess): Promise<ReadReport> {
    const names = uncertainNames(report)
    const terms = names.length ? await context.tx((tx) => findReleaseTerms(tx, names)) : new Map()
    if (!terms.size) return report
    const outcome = await inProcess<ReadReport>('addReleaseTerms', { report, terms })
    return outcome ?? report
  }

  /**
   * The result of a task; undefined if it failed or exceeded its limits, which the log tells.
   * Errors: whatever kept this process from reading, such as its end; the job is then tried again.
   */
  async #inProcess<R>(
    { task, name, input, timeout_ms, attempts }: Task,
    context: JobContext,
    id: string,
  ): Promise<R | undefined> {
    const {
      processes,
      memory_mb_max = MEMORY_MB_MAX,
      read_ms_max = timeout_ms,
      idle_ms,
      ocr_models,
      onConfined,
    } = this.#options()
    this.#pool ??= createProcessPool({
      processes_max: processes,
      memory_max_mb: memory_mb_max,
      cpu_s_max: CPU_S_MAX,
      idle_ms,
      reads: ocr_models === undefined ? [] : [ocr_models],
      onConfined,
    })
    try {
      return await this.#pool.run<R>(task, input, { name, timeout_ms: read_ms_max })
    } catch (error) {
      const isTriedAgain = error instanceof WorkerLimitExceeded && error.limit === 'process' && attempts < ATTEMPTS_MAX
      if (error instanceof WorkerPoolBusy || this.#isStopping || isTriedAgain) throw error
      this.#warn(context, id, reasonOf(error))
      return undefined
    }
  }

  #warn({ tenant }: JobContext, job_id: string, reason: string): void {
    const fields = { cell: tenant.cell, 'team.id': tenant.team, job_id, reason }
    this.#options().log.warn(fields, 'lab report could not be read')
  }
}

/** The text of other errors can come from the document. */
const reasonOf = (error: unknown): string => (error instanceof WorkerLimitExceeded ? error.message : 'a task failed')

const readingTime_ms = (pages: number): number => Math.min(READ_S_MAX, 60 + pages * READ_S_PER_PAGE) * 1000

const later = (context: JobContext, job_id: string): Promise<void> =>
  context.tx(async (tx) => enqueue(tx, parseReport, { job_id }, addSeconds(tx.now, RETRY_S)))

/** The names of results for which the shipped terms have no likely candidate. */
const uncertainNames = ({ results }: ReadReport): string[] => [
  ...new Set(
    results
      .filter(({ loinc_matches }) => (loinc_matches?.[0]?.confidence_score ?? 0) < KNOWN_FROM)
      .map(({ test_name }) => test_name),
  ),
]
