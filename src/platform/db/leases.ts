// Leases of rows: what every queue on a table needs so that a row is worked on by one owner at a time, whatever happens to that owner.
//
// A table with leases has the columns `owner` (who has it), `fence` (the fencing token: one more with each claim) and `leased_until`.
// A claim sets all three; whatever an owner writes later names its owner and fence, so that it changes nothing of a row that another owner
// has claimed since. All times are the database's: processes whose clocks differ agree on when a lease ends.
import { sql, type Sql } from './sql.ts'

/** The time of a statement by the database's clock. The planner can use it with an index, which it cannot do with `clock_timestamp()`. */
export const dbNow: Sql = sql`statement_timestamp()`

/** So many seconds from now, by the database's clock; fractions and negative numbers are allowed. */
export const dbNowPlus = (seconds: number): Sql => sql`(statement_timestamp() + make_interval(secs => ${seconds}))`

/** The smallest UUID version 7 of so many seconds ago, by the database's clock: a smaller one is older. */
export const dbUuidOfAge = (age_s: number): Sql => sql`
  encode(substring(int8send((extract(epoch from ${dbNowPlus(-age_s)}) * 1000)::int8) from 3) || '\\x70008000000000000000'::bytea, 'hex')::uuid`

/** A row that nobody has: never claimed, given back, or its lease has ended. */
export const isUnleased: Sql = sql`(leased_until is null or leased_until <= statement_timestamp())`

/** What a claim sets. */
export const takeLease = (owner: string, lease_s: number): Sql =>
  sql`owner = ${owner}, fence = fence + 1, leased_until = ${dbNowPlus(lease_s)}`

/** What giving a row back sets. */
export const endLease: Sql = sql`owner = null, leased_until = null`

/** The row is still the one that `owner` claimed with this fence, even if the lease has ended: nobody has claimed it since. */
export const isOwned = (owner: string, fence: number): Sql => sql`owner = ${owner} and fence = ${fence}`

/**
 * The guard of a transaction that works on a leased row (see `Db.tx`): selects the row if the lease holds, and keeps others from claiming
 * it until the transaction ends, because a claim skips locked rows. Renewing the lease does not wait for this lock.
 * @param row which row of the table, a condition
 */
export const leaseGuard = (table: Sql, row: Sql, { owner, fence }: { owner: string; fence: number }): Sql =>
  sql`select from ${table} where ${row} and ${isOwned(owner, fence)} and leased_until > statement_timestamp() for key share`

/** The lease of what is being worked on has ended: somebody else may have it. Nothing more may be written on its behalf. */
export class LeaseLost extends Error {
  override name = 'LeaseLost'
}

/** A handler took longer than it may. */
export class HandlerTimeout extends Error {
  override name = 'HandlerTimeout'
}

/** The lease of one row, as its owner knows it. */
export class HeldLease<Row = unknown> {
  readonly row: Row
  /** When the lease ends at the latest, by the process's monotonic clock: counted from before the claim was sent. */
  expires_ms: number
  /** When the work on it is given up. */
  deadline_ms = Infinity
  /** Why it is not held any more. */
  end: LeaseLost | HandlerTimeout | undefined
  /** Rejects when the lease ends before the work does. */
  readonly ended: Promise<never>
  readonly #reject: (reason: Error) => void

  constructor(row: Row, expires_ms: number) {
    this.row = row
    this.expires_ms = expires_ms
    const { promise, reject } = Promise.withResolvers<never>()
    promise.catch(() => {})
    this.ended = promise
    this.#reject = reject
  }

  /** The work is given up: `ended` rejects, and whoever asks finds `end`. */
  giveUp(reason: LeaseLost | HandlerTimeout): void {
    if (this.end) return
    this.end = reason
    this.#reject(reason)
  }
}

export interface LeaseKeeperOptions<Row> {
  lease_s: number
  /** Extends the leases of rows that are still the owner's. @returns those rows; the others have been lost */
  renew: (rows: readonly Row[]) => Promise<readonly Row[]>
  onError: (error: unknown) => void
  /** A monotonic clock; the process's own if not given. */
  now_ms?: () => number
  /** How often deadlines are checked; 0: only when `tick` is called. */
  tick_ms?: number
}

const TICK_MS = 1000

/**
 * Keeps the leases of a process: renews them when a third of their time has passed, and gives up what has passed its deadline or could not
 * be renewed in time. It has one timer, which runs while there are leases.
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

  /** The clock by which leases are counted. Read it before a claim is sent. */
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

  /** The work on it is over, one way or another. */
  release(lease: HeldLease<Row>): void {
    this.#held.delete(lease)
    if (this.#held.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Give up what is over its time, then renew what needs it. Never rejects. */
  async tick(): Promise<void> {
    this.#giveUpLate()
    const { lease_s, renew, onError } = this.#options
    const now_ms = this.now_ms()
    const due = [...this.#held].filter(({ end, expires_ms }) => !end && expires_ms - now_ms <= (lease_s * 2000) / 3)
    if (this.#renewing || due.length === 0) return
    this.#renewing = true
    try {
      const renewed = new Set(await renew(due.map(({ row }) => row)))
      for (const lease of due)
        if (renewed.has(lease.row)) lease.expires_ms = now_ms + lease_s * 1000
        else lease.giveUp(new LeaseLost('the lease was lost'))
    } catch (error) {
      onError(error)
    } finally {
      this.#renewing = false
    }
    this.#giveUpLate()
  }

  #giveUpLate(): void {
    const now_ms = this.now_ms()
    for (const lease of this.#held)
      if (lease.deadline_ms <= now_ms) lease.giveUp(new HandlerTimeout('the handler took too long'))
      else if (lease.expires_ms <= now_ms) lease.giveUp(new LeaseLost('the lease could not be renewed in time'))
  }
}
