// Threads in which requests have uploaded files opened: apart from those that draw documents and read reports, so that none waits for another
// kind, and shared by teams, so that none waits for the files of one.
import { SharedTurns } from '../../platform/runtime/shared-turns.ts'
import { unavailable } from '../../platform/runtime/problem.ts'
import { createWorkerPool, WorkerLimitExceeded, WorkerPoolBusy, type WorkerPool } from '../../platform/runtime/worker-pool.ts'

/** One for each of two teams: a file that takes its whole time leaves the other thread to other teams. */
const THREADS = 2
const OPEN_MS_MAX = 10_000
/** Of a team, beside the one that is opened: ten uploads at once are allowed. A file may be 30 MB, and stays in memory while it waits. */
const WAITING_EACH_MAX = 9
const WAITING_MAX = 40
/** Two files that take their whole time. */
const WAIT_MS = 20_000

/** A file that takes its time takes a processor. With less than this share of one, the machine has no time for it. */
const BUSY_SHARE_MIN = 0.5

export class FileThreads {
  readonly #open_ms_max: number
  readonly #pool: WorkerPool
  readonly #turns = new SharedTurns({
    at_once: THREADS,
    at_once_each: 1,
    waiting_max: WAITING_MAX,
    waiting_max_each: WAITING_EACH_MAX,
    wait_ms: WAIT_MS,
  })

  constructor({ open_ms_max = OPEN_MS_MAX, idle_ms }: { open_ms_max?: number; idle_ms?: number | undefined } = {}) {
    this.#open_ms_max = open_ms_max
    this.#pool = createWorkerPool({ threads_max: THREADS, idle_ms })
  }

  /**
   * Runs the export `name` of a task with `input` in a thread, for at most 10 s.
   * Errors: 429 the team has nine files waiting; 503 too many wait, the turn did not come in 20 s, or
   * the machine is too busy; `WorkerLimitExceeded`.
   */
  async run<T>(team: string, task: URL, name: string, input: unknown): Promise<T> {
    try {
      return await this.#turns.take(team, () => this.#open<T>(task, name, input))
    } catch (error) {
      throw error instanceof WorkerPoolBusy ? unavailable('Too many files are being opened; try again', 2) : error
    }
  }

  async #open<T>(task: URL, name: string, input: unknown): Promise<T> {
    const before = process.cpuUsage()
    try {
      return await this.#pool.run<T>(task, input, { name, timeout_ms: this.#open_ms_max })
    } catch (error) {
      if (!(error instanceof WorkerLimitExceeded) || error.limit !== 'time') throw error
      const { user, system } = process.cpuUsage(before)
      if ((user + system) / 1000 >= this.#open_ms_max * BUSY_SHARE_MIN) throw error
      throw unavailable('The server is too busy to open files; try again', 5)
    }
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}
