// Child processes in which requests have uploaded files opened: apart from the processes that read reports, so that none waits for another kind, and
// shared by teams, so that none waits for the files of one.
import { ConcurrencyLimit } from '../../platform/runtime/concurrency-limit.ts'
import { unavailable } from '../../platform/runtime/problem.ts'
import { createProcessPool } from '../../platform/runtime/process-pool.ts'
import { WorkerLimitExceeded, WorkerPoolBusy, type WorkerPool } from '../../platform/runtime/worker-pool.ts'

/** One for each of two teams: a file that takes its whole time leaves the other process to other teams. */
const PROCESSES = 2
const OPEN_MS_MAX = 10_000
/** A picture of the most pixels takes 360 MB, a page with the most layers 480. */
const MEMORY_MB_MAX = 576
/** The report of an upload is read next, by a process of its own that needs the memory. */
const IDLE_MS = 1_000
/** Processor time of all files that a process opens. */
const CPU_S_MAX = 120
/** Maximum files of a team that wait, in addition to the one that is opened: ten uploads at once are allowed. A file may have 30 MB, and stays in memory while it waits. */
const WAITING_EACH_MAX = 9
const WAITING_MAX = 40
/** Two files that take their whole time. */
const WAIT_MS = 20_000

/** A file that takes its time takes a processor. With less than this share of one, the machine has no time for it. */
const BUSY_SHARE_MIN = 0.5

interface FileProcessOptions {
  open_ms_max?: number
  idle_ms?: number | undefined
  reads?: readonly string[]
}

export class FileProcesses {
  readonly #open_ms_max: number
  readonly #pool: WorkerPool
  readonly #concurrency = new ConcurrencyLimit({
    running_max: PROCESSES,
    running_max_each: 1,
    waiting_max: WAITING_MAX,
    waiting_max_each: WAITING_EACH_MAX,
    wait_ms: WAIT_MS,
  })

  /** @param reads folders with tasks outside the program, such as those of tests */
  constructor({ open_ms_max = OPEN_MS_MAX, idle_ms = IDLE_MS, reads = [] }: FileProcessOptions = {}) {
    this.#open_ms_max = open_ms_max
    const limits = { memory_max_mb: MEMORY_MB_MAX, cpu_s_max: CPU_S_MAX }
    this.#pool = createProcessPool({ processes_max: PROCESSES, ...limits, idle_ms, reads })
  }

  /**
   * Runs the export `name` of a task with `input` in a child process, for at most 10 s.
   * Errors: 429 the team has nine files waiting; 503 too many wait, the turn did not come in 20 s, or
   * the machine is too busy; `WorkerLimitExceeded`.
   */
  async run<T>(team: string, task: URL, name: string, input: unknown): Promise<T> {
    try {
      return await this.#concurrency.run(() => this.#open<T>(task, name, input), { owner: team })
    } catch (error) {
      throw error instanceof WorkerPoolBusy ? unavailable('Too many files are being opened; try again', 2) : error
    }
  }

  async #open<T>(task: URL, name: string, input: unknown): Promise<T> {
    try {
      return await this.#twice(() => this.#pool.run<T>(task, input, { name, timeout_ms: this.#open_ms_max }))
    } catch (error) {
      if (!(error instanceof WorkerLimitExceeded) || error.limit !== 'time') throw error
      if ((error.cpu_ms ?? Infinity) >= this.#open_ms_max * BUSY_SHARE_MIN) throw error
      throw unavailable('The server is too busy to open files; try again', 5)
    }
  }

  /** A process may end for another reason than its file, as on a machine without memory. */
  #twice<T>(openFile: () => Promise<T>): Promise<T> {
    return openFile().catch((error: unknown) => {
      if (error instanceof WorkerLimitExceeded && error.limit === 'process') return openFile()
      throw error
    })
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}
