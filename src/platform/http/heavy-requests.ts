// Requests with long bodies take turns by team. Small ones do not wait behind them: their parts of the event loop are short, and of a team one
// long request at a time computes and writes.
import { ConcurrencyLimit } from '../runtime/concurrency-limit.ts'
import type { Operation } from './operation.ts'

/** About a thousand samples of a phone. */
export const HEAVY_BYTES_MIN = 128 * 1024
/** In a process: the second one is for another team. */
const LIMITS = { running_max: 2, running_max_each: 1, waiting_max: 1000, waiting_max_each: 200, wait_ms: 30_000 }

export class HeavyRequests {
  readonly #concurrency: ConcurrencyLimit

  constructor(limits = LIMITS) {
    this.#concurrency = new ConcurrencyLimit(limits)
  }

  /**
   * Runs a request: one with a long body when it is the turn of its owner, others at once. Uploads of reports are not among them: the threads
   * that open them have turns of their own.
   * Errors: 429 200 long requests of the owner wait; 503 a thousand of all wait, or the turn did not come within 30 s.
   * @param owner the team or organization
   */
  take<R>(operation: Operation, bytes: unknown, owner: string | undefined, work: () => Promise<R>): Promise<R> {
    const isRead = operation.body !== undefined || operation.file === true
    const isHeavy = isRead && Buffer.isBuffer(bytes) && bytes.length >= HEAVY_BYTES_MIN
    return isHeavy && owner !== undefined ? this.#concurrency.run(work, { owner }) : work()
  }
}
