// The worker of a queue: claims due rows as slots become free, runs them, and completes them in batches. A row that it has
// claimed but not begun is released after a second, or when the worker stops. Rows of a killed process are claimed again when
// their lease has ended.
import type { ClaimedRow } from './leased-table.ts'
import { QueueLoop } from './queue-loop.ts'
import type { Claimed, HandlerResult, QueueRunner } from './queue-runner.ts'
import { QueueSlots, type ClaimLimits, type QueueSlotsOptions } from './queue-slots.ts'

const POLL_MS = 500
/** Time between claims under load, so that each takes a batch; the first claim after a pause is immediate. */
const CLAIM_INTERVAL_MS = 8
/** Time during which completed rows are collected before they are written. */
const COMPLETE_MS = 5
const COMPLETED_MAX = 40
const RETRY_MS = 500
/** A claimed row that has waited for a slot this long is released: another worker may have one. */
const WAITED_MS_MAX = 1000

export interface QueueWorkerOptions<Row extends ClaimedRow> {
  runner: QueueRunner<Row>
  /** Claims rows. @returns them, and whether more rows are due */
  claim: (limits: ClaimLimits) => Promise<{ rows: Row[]; isMore: boolean }>
  handle: (claimedRow: Claimed<Row>) => Promise<HandlerResult>
  slots: QueueSlotsOptions<Row>
  /** Called for an error that is retried. */
  onError: (error: unknown, message: string) => void
  /** Called before a claim, at most once in the time between two polls. */
  beforeClaim?: () => Promise<unknown>
  poll_ms?: number
}

interface WaitingRow<Row> extends Claimed<Row> {
  /** The value for the row as it was claimed: its handler may change it. */
  group: string
  claimed_ms: number
}

export class QueueWorker<Row extends ClaimedRow> {
  readonly #options: QueueWorkerOptions<Row>
  readonly #loop: QueueLoop
  readonly #slots: QueueSlots<WaitingRow<Row>>
  readonly #running = new Set<Promise<void>>()
  #done: WaitingRow<Row>[] = []
  #completing: NodeJS.Timeout | undefined
  #isStopped = false
  /** Whether more rows were due than claimed: the next row that ends makes room for another claim. */
  #more = false
  #prepared_ms = -Infinity

  constructor(options: QueueWorkerOptions<Row>) {
    const { orderingKeyOf, slots, groupMax, kinds } = options.slots
    this.#options = options
    this.#slots = new QueueSlots({
      slots,
      groupOf: ({ group }) => group,
      ...(groupMax && { groupMax }),
      ...(kinds && { kinds: { kindOf: ({ row }: WaitingRow<Row>) => kinds.kindOf(row), max: kinds.max } }),
      ...(orderingKeyOf && { orderingKeyOf: ({ row }: WaitingRow<Row>) => orderingKeyOf(row) }),
    })
    this.#loop = new QueueLoop({
      round: () => this.#round(),
      poll_ms: options.poll_ms ?? POLL_MS,
      pace_ms: CLAIM_INTERVAL_MS,
      onError: (error) => this.#report(error, 'claiming failed; will retry'),
    })
  }

  start(): void {
    this.#loop.start()
  }

  /** Wakes the worker after something was queued. */
  wake(): void {
    this.#loop.wake()
  }

  /** Claims nothing more, releases rows that have not begun, waits for running rows and completes them. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#loop.stop()
    await this.#release()
    // The completion that is running when the last row ends began after the first check.
    while (this.#running.size > 0) await Promise.all(this.#running)
    await this.#complete()
  }

  /** Claims once, runs the claimed rows to their end, and returns their number; for tests. */
  async runOnce(): Promise<number> {
    this.#prepared_ms = -Infinity
    const claimed = await this.#claim()
    this.#begin()
    while (this.#running.size > 0) await Promise.all(this.#running)
    await this.#complete()
    return claimed
  }

  async #round(): Promise<boolean> {
    const claimed = await this.#claim()
    this.#begin()
    const waited_ms = performance.now() - WAITED_MS_MAX
    await this.#release(({ claimed_ms }) => claimed_ms < waited_ms)
    return claimed > 0 && this.#more && this.#slots.limits(performance.now()).total > 0
  }

  /** Claims as much as there is room for. @returns the number of rows */
  async #claim(): Promise<number> {
    const { runner, claim, beforeClaim, slots } = this.#options
    if (beforeClaim && performance.now() - this.#prepared_ms >= (this.#options.poll_ms ?? POLL_MS)) {
      this.#prepared_ms = performance.now()
      await beforeClaim()
    }
    const limits = this.#slots.limits(performance.now())
    if (limits.total === 0) return 0
    const sent_ms = runner.leases.now_ms()
    const { rows, isMore } = await claim(limits)
    this.#more = isMore
    const claimed_ms = performance.now()
    for (const row of rows) this.#slots.add({ ...runner.hold(row, sent_ms), claimed_ms, group: slots.groupOf(row) })
    return rows.length
  }

  #begin(): void {
    if (this.#isStopped) return
    for (let row = this.#slots.next(); row; row = this.#slots.next()) this.#track(this.#runOne(row))
  }

  #track(work: Promise<void>): void {
    this.#running.add(work)
    void work.finally(() => this.#running.delete(work))
  }

  async #runOne(claimedRow: WaitingRow<Row>): Promise<void> {
    const outcome = await this.#options.runner.run(claimedRow, this.#options.handle)
    this.#slots.end(claimedRow, performance.now())
    if (outcome === 'completed') this.#completeSoon(claimedRow)
    this.#begin()
    // The claim left rows of its kind if that was at its limit: reports of a team were 109 a minute by polls alone, 891 so.
    if (this.#more || this.#isLimited(claimedRow.row)) this.#loop.wake()
  }

  #isLimited(row: Row): boolean {
    const { kinds } = this.#options.slots
    return kinds !== undefined && kinds.max(kinds.kindOf(row)) < Infinity
  }

  #completeSoon(claimedRow: WaitingRow<Row>): void {
    this.#done.push(claimedRow)
    if (this.#done.length >= COMPLETED_MAX) this.#track(this.#complete())
    else this.#completing ??= setTimeout(() => this.#track(this.#complete()), COMPLETE_MS)
  }

  /** Completes rows. A completion that fails is retried as long as the lease lasts. */
  async #complete(): Promise<void> {
    clearTimeout(this.#completing)
    this.#completing = undefined
    const { queue } = this.#options.runner
    const isOurs = ({ lease }: WaitingRow<Row>) => queue.isCompletedForAll || !lease.end
    const done = this.#done.filter(isOurs)
    this.#free(this.#done.filter((claimedRow) => !isOurs(claimedRow)))
    this.#done = []
    if (done.length === 0) return
    try {
      await queue.complete(done.map(({ row }) => row))
      this.#free(done)
    } catch (error) {
      this.#options.onError(error, 'completing rows failed; will retry')
      this.#done.push(...done)
      // Not at the end: the worker that claims the rows next runs them again.
      if (!this.#isStopped) this.#completing ??= setTimeout(() => this.#track(this.#complete()), RETRY_MS)
    }
  }

  /** Releases claimed rows that have not begun: all, or the selected ones. */
  async #release(isChosen?: (claimedRow: WaitingRow<Row>) => boolean): Promise<void> {
    const waiting = this.#slots.withdraw(isChosen)
    if (waiting.length === 0) return
    this.#free(waiting)
    await this.#options.runner.queue
      .release(waiting.map(({ row }) => row))
      .catch((error: unknown) =>
        this.#options.onError(error, 'releasing rows failed; they are claimed again when their leases end'),
      )
  }

  #free(claimedRows: WaitingRow<Row>[]): void {
    for (const { lease } of claimedRows) this.#options.runner.leases.release(lease)
  }

  #report(error: unknown, message: string): void {
    if (!this.#isStopped) this.#options.onError(error, message)
  }
}

/**
 * The workers of one kind of queue: one for each cell that a process serves, and one for the control plane if it has such a
 * queue.
 */
export class QueueWorkers<Row extends ClaimedRow> {
  readonly #workers: QueueWorker<Row>[]

  constructor(workers: QueueWorker<Row>[]) {
    this.#workers = workers
  }

  start(): void {
    for (const worker of this.#workers) worker.start()
  }

  /** Claims nothing more, and waits for running rows. */
  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()))
  }

  /** See `QueueWorker.runOnce`. */
  async runOnce(): Promise<number> {
    const counts = await Promise.all(this.#workers.map((worker) => worker.runOnce()))
    return counts.reduce((sum, count) => sum + count, 0)
  }
}
