// Threads in which requests have uploaded files opened: apart from those that draw documents and read reports, so that none waits for another
// kind, and shared by teams, so that none waits for the files of one.
import { SharedTurns } from '../../platform/runtime/shared-turns.ts'
import { unavailable } from '../../platform/runtime/problem.ts'
import { createWorkerPool, WorkerPoolBusy, type WorkerPool } from '../../platform/runtime/worker-pool.ts'

/** One for each of two teams: a file that takes its whole time leaves the other thread to other teams. */
const THREADS = 2
const OPEN_MS_MAX = 10_000
/** Of a team, beside the one that is opened: ten uploads at once are allowed. A file may be 30 MB, and stays in memory while it waits. */
const WAITING_EACH_MAX = 9
const WAITING_MAX = 40
/** Two files that take their whole time. */
const WAIT_MS = 20_000

export class FileThreads {
  readonly #pool: WorkerPool = createWorkerPool({ threads_max: THREADS })
  readonly #turns = new SharedTurns({
    at_once: THREADS,
    at_once_each: 1,
    waiting_max: WAITING_MAX,
    waiting_max_each: WAITING_EACH_MAX,
    wait_ms: WAIT_MS,
  })

  /**
   * Runs the export `name` of a task with `input` in a thread, for at most 10 s.
   * Errors: 429 the team has nine files waiting; 503 too many wait, or the turn did not come in 20 s; `WorkerLimitExceeded`.
   */
  async run<T>(team: string, task: URL, name: string, input: unknown): Promise<T> {
    try {
      return await this.#turns.take(team, () => this.#pool.run<T>(task, input, { name, timeout_ms: OPEN_MS_MAX }))
    } catch (error) {
      throw error instanceof WorkerPoolBusy ? unavailable('Too many files are being opened; try again', 2) : error
    }
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}
