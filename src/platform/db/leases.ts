// Leases of rows: every queue on a table needs them so that one owner at a time works on a row, even if an owner crashes. A table with
// leases has the columns `owner`, `fence` (the fencing token: it increases by one with each claim) and `leased_until`. A claim sets all
// three. Later writes of an owner name its owner and fence, so they change no row that another owner has claimed since. All times are the
// database's, so processes whose clocks differ agree on when a lease ends.
import { sql, type Sql } from './sql.ts'

/** The start time of a statement by the database clock. The planner can use it with an index, unlike `clock_timestamp()`. */
export const dbNow: Sql = sql`statement_timestamp()`

/** The given number of seconds from now, by the database clock; fractions and negative numbers are allowed. */
export const dbNowPlus = (seconds: number): Sql => sql`(statement_timestamp() + make_interval(secs => ${seconds}))`

/** The smallest UUID version 7 of the given number of seconds ago, by the database clock: a smaller one is older. */
export const dbUuidOfAge = (age_s: number): Sql => sql`
  encode(substring(int8send((extract(epoch from ${dbNowPlus(-age_s)}) * 1000)::int8) from 3) || '\\x70008000000000000000'::bytea, 'hex')::uuid`

/** A row without an owner: never claimed, released, or its lease has ended. */
export const isUnleased: Sql = sql`(leased_until is null or leased_until <= statement_timestamp())`

/** The assignments of a claim. */
export const takeLease = (owner: string, lease_s: number): Sql =>
  sql`owner = ${owner}, fence = fence + 1, leased_until = ${dbNowPlus(lease_s)}`

/** The assignments of a release. */
export const endLease: Sql = sql`owner = null, leased_until = null`

/** The row still has the claim of `owner` with this fence, even if the lease has ended: no other owner has claimed it since. */
export const isOwned = (owner: string, fence: number): Sql => sql`owner = ${owner} and fence = ${fence}`

/**
 * The guard of a transaction that works on a leased row (see `Db.tx`): it selects the row if the lease is valid, and prevents other claims
 * until the transaction ends, because a claim skips locked rows. Renewing the lease does not wait for this lock.
 * @param row a condition that selects the row
 */
export const leaseGuard = (table: Sql, row: Sql, { owner, fence }: { owner: string; fence: number }): Sql =>
  sql`select from ${table} where ${row} and ${isOwned(owner, fence)} and leased_until > statement_timestamp() for key share`

/** The lease has ended: another owner may have claimed the row. This owner must write nothing more for it. */
export class LeaseLost extends Error {
  override name = 'LeaseLost'
}

/** A handler exceeded its time limit. */
export class HandlerTimeout extends Error {
  override name = 'HandlerTimeout'
}

/** The lease of one row in the owner's process. */
export class HeldLease<Row = unknown> {
  readonly row: Row
  /** The latest end of the lease, by the process's monotonic clock, counted from before the claim was sent. */
  expires_ms: number
  /** When the work is stopped. */
  deadline_ms = Infinity
  /** The reason why the lease has ended. */
  end: LeaseLost | HandlerTimeout | undefined
  /** What waits for work that the end of the lease stops. */
  readonly #waiting = new Set<(reason: Error) => void>()

  constructor(row: Row, expires_ms: number) {
    this.row = row
    this.expires_ms = expires_ms
  }

  /**
   * The outcome of the work. Errors: `end`, as soon as the lease has ended. The lease keeps nothing of work that is over; a race against one
   * promise for the end of the lease would keep every result until then.
   */
  whileHeld<V>(work: Promise<V>): Promise<V> {
    return new Promise((resolve, reject) => {
      if (this.end) reject(this.end)
      this.#waiting.add(reject)
      work.then(resolve, reject).finally(() => this.#waiting.delete(reject))
    })
  }

  /** Stops the work: what waits for it gets the reason, and `end` holds it. */
  stop(reason: LeaseLost | HandlerTimeout): void {
    if (this.end) return
    this.end = reason
    for (const reject of this.#waiting) reject(reason)
  }
}

export interface LeaseKeeperOptions<Row> {
  lease_s: number
  /** Extends the leases of rows that the owner still holds. @returns those rows; the leases of the others are lost */
  renew: (rows: readonly Row[]) => Promise<readonly Row[]>
  onError: (error: unknown) => void
  /** A monotonic clock; default: the process's own. */
  now_ms?: () => number
  /** How often deadlines are checked; 0: only when `tick` is called. */
  tick_ms?: number
}

const TICK_MS = 1000

/**
 * Maintains the leases of a process: renews each after a third of its duration, and stops work that has passed its deadline or whose lease
 * could not be renewed in time. It has one timer, which runs while there are leases.
 */
export class LeaseKeeper<Row> {
  readonly #options: Required<LeaseKeeperOptions<Row>>
  readonly #held = new Set<HeldLease<Row>>()
  #timer: NodeJS.Timeout | undefined
  #renewing = false

  constructor(options: LeaseKeeperOptions<Row>) {
    this.#options = { now_ms: () => performance.now(), tick_ms: TICK_MS, ...options }
  }

  get size(): number {
    return this.#held.size
  }

  /** The clock that measures leases. Read it before the claim is sent. */
  now_ms(): number {
    return this.#options.now_ms()
  }

  /** @param sent_ms when the claim was sent */
  hold(row: Row, sent_ms: number): HeldLease<Row> {
    const { lease_s, tick_ms } = this.#options
    const lease = new HeldLease(row, sent_ms + lease_s * 1000)
    this.#held.add(lease)
    if (tick_ms > 0) this.#timer ??= setInterval(() => void this.tick(), tick_ms).unref()
    return lease
  }

  /** The work on the row has ended, with any outcome. */
  release(lease: HeldLease<Row>): void {
    this.#held.delete(lease)
    if (this.#held.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Stops work that is over its time limit, then renews the leases that need it. Never rejects. */
  async tick(): Promise<void> {
    this.#stopLate()
    const { lease_s, renew, onError } = this.#options
    const now_ms = this.now_ms()
    const due = [...this.#held].filter(({ end, expires_ms }) => !end && expires_ms - now_ms <= (lease_s * 2000) / 3)
    if (this.#renewing || due.length === 0) return
    this.#renewing = true
    try {
      const renewed = new Set(await renew(due.map(({ row }) => row)))
      for (const lease of due)
        if (renewed.has(lease.row)) lease.expires_ms = now_ms + lease_s * 1000
        else lease.stop(new LeaseLost('the lease was lost'))
    } catch (error) {
      onError(error)
    } finally {
      this.#renewing = false
    }
    this.#stopLate()
  }

  #stopLate(): void {
    const now_ms = this.now_ms()
    for (const lease of this.#held)
      if (lease.deadline_ms <= now_ms) lease.stop(new HandlerTimeout('the handler took too long'))
      else if (lease.expires_ms <= now_ms) lease.stop(new LeaseLost('the lease could not be renewed in time'))
  }
}
