// Runs a claimed row of a queue: calls the handler, which limits itself or sets the deadline of the lease, and ends the row by
// the result. Used by the workers of queues and by code that claims single rows.
import { LeaseKeeper, LeaseLost, type HeldLease } from '../db/leases.ts'
import { errorFields } from '../telemetry/log.ts'
import type { ClaimedRow } from './leased-table.ts'
import type { LeasedQueue } from './leased-queue.ts'

/** A claimed row and its lease. */
export interface Claimed<Row> {
  row: Row
  lease: HeldLease<Row>
}

/** How a handler ended if it did not complete. An error that it throws is a failure too, and is retried. */
export type HandlerResult =
  /** `error`: a class and a code, without data. `isRetryable`: a later attempt may succeed. */
  | { error: string; isRetryable: boolean }
  /** The row must not be worked on before the end of a pause. That is not an attempt. */
  | { postponed_s: number }
  | void

/** The outcome of a run. `lost`: another owner has run the row, or will. */
export type RunOutcome = 'completed' | 'retried' | 'failed' | 'lost' | 'postponed'

export interface RunEnd {
  outcome: RunOutcome
  duration_s: number
  /** A class and a code, unless the row was completed. */
  error?: string
  /** What the handler threw. */
  cause?: unknown
}

export interface QueueRunnerOptions<Row extends ClaimedRow> {
  queue: LeasedQueue<Row>
  /** The number of attempts of a claimed row, including this claim. */
  attemptsOf: (row: Row) => number
  /** The number of failures after which a row becomes a dead letter. */
  attemptsMax: (row: Row) => number
  /** The pause after a number of failures, in seconds. */
  backoffSeconds: (failures: number) => number
  onEnd: (row: Row, end: RunEnd) => void
  /** Called if the queue could not be written: the lease ends by itself, and the row is claimed again. */
  onError: (error: unknown, message: string) => void
  /** See `LeaseKeeper`. */
  now_ms?: () => number
  tick_ms?: number
}

const ERROR_LENGTH_MAX = 200

export class QueueRunner<Row extends ClaimedRow> {
  readonly queue: LeasedQueue<Row>
  readonly leases: LeaseKeeper<Row>
  readonly #options: QueueRunnerOptions<Row>

  constructor(options: QueueRunnerOptions<Row>) {
    const { queue, onError, now_ms, tick_ms } = options
    this.#options = options
    this.queue = queue
    this.leases = new LeaseKeeper({
      lease_s: queue.lease_s,
      renew: (rows) => queue.renew(rows),
      onError: (error) => onError(error, 'renewing leases failed; will retry'),
      ...(now_ms && { now_ms }),
      ...(tick_ms !== undefined && { tick_ms }),
    })
  }

  /** @param sent_ms the time at which the claim was sent, by the clock of `leases` */
  hold(row: Row, sent_ms: number): Claimed<Row> {
    return { row, lease: this.leases.hold(row, sent_ms) }
  }

  /**
   * Runs a claimed row to its end. Never throws because of the row. A completed row keeps its lease until it is recorded; the
   * lease of every other row has ended.
   */
  async run(claimedRow: Claimed<Row>, handle: (claimedRow: Claimed<Row>) => Promise<HandlerResult>): Promise<RunOutcome> {
    const { attemptsOf, attemptsMax, onEnd } = this.#options
    const { row, lease } = claimedRow
    const started = performance.now()
    const end = (outcome: RunOutcome, failure: { error?: string; cause?: unknown } = {}): RunOutcome => {
      onEnd(row, { outcome, duration_s: (performance.now() - started) / 1000, ...failure })
      return outcome
    }
    try {
      // Every attempt so far ended with its process, and so would the next.
      const isInterrupted = attemptsOf(row) > attemptsMax(row)
      const result = isInterrupted ? INTERRUPTED : await handle(claimedRow)
      if (!result) return end('completed')
      if ('postponed_s' in result) {
        await this.queue.postpone(row, result.postponed_s)
        this.leases.release(lease)
        return end('postponed')
      }
      const outcome = result.isRetryable ? this.#outcomeOf(claimedRow) : 'failed'
      end(outcome, { error: result.error })
      return await this.#fail(claimedRow, outcome, result.error)
    } catch (error) {
      const outcome = error instanceof LeaseLost ? 'lost' : this.#outcomeOf(claimedRow)
      const code = errorCode(error)
      end(outcome, { error: code, cause: error })
      return await this.#fail(claimedRow, outcome, code)
    }
  }

  #outcomeOf({ row, lease }: Claimed<Row>): 'retried' | 'failed' | 'lost' {
    const { attemptsOf, attemptsMax } = this.#options
    if (lease.end instanceof LeaseLost) return 'lost'
    return attemptsOf(row) >= attemptsMax(row) ? 'failed' : 'retried'
  }

  async #fail({ row, lease }: Claimed<Row>, outcome: 'retried' | 'failed' | 'lost', error: string): Promise<RunOutcome> {
    const { attemptsOf, backoffSeconds, onError } = this.#options
    const pause_s = outcome === 'failed' ? undefined : backoffSeconds(attemptsOf(row))
    if (outcome !== 'lost')
      await this.queue
        .fail(row, { error, pause_s })
        // Its lease ends by itself, and the attempt has been counted.
        .catch((fault: unknown) => onError(fault, 'recording a failure failed'))
    this.leases.release(lease)
    return outcome
  }
}

/** The process ended during each attempt. */
const INTERRUPTED = { error: 'interrupted', isRetryable: false }

/** The part of an error that is stored with the row: classes and codes, never a message, which may quote data. */
function errorCode(error: unknown): string {
  const [first] = errorFields(error)
  return [first!.name, first!.code, first!.constraint].filter(Boolean).join(' ').slice(0, ERROR_LENGTH_MAX)
}
