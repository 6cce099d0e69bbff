// Limits for waiting work inside the process, in total and per team, so that one team with many slow requests leaves room for the others.
import type pg from 'pg'
import { unavailable } from '../runtime/problem.ts'
import { Unreachable } from './outages.ts'
import { prepared } from './prepared-statements.ts'
import { send } from './send-statement.ts'

/** Maximum number of requests of a database that wait in one queue of this process, and the maximum for one team. */
export const WAITING_MAX = 1000
export const TEAM_WAITING_MAX = 500

const full = () => unavailable('Temporarily overloaded; try again')

/**
 * Counts the work in progress, in total and per owner, for a queue that has its own order. Owners are teams, unless the queue says
 * otherwise.
 */
export class Bound {
  readonly #max: number
  readonly #ownerMax: number
  readonly #owners = new Map<string, number>()
  #count = 0

  constructor(max = WAITING_MAX, owner_max = TEAM_WAITING_MAX) {
    this.#max = max
    this.#ownerMax = owner_max
  }

  /** Counts one more. 503: there are too many, in total or for the owner; `''` is no owner. */
  enter(owner: string): void {
    const ofOwner = this.#owners.get(owner) ?? 0
    if (this.#count >= this.#max || (owner !== '' && ofOwner >= this.#ownerMax)) throw full()
    this.#count++
    this.#owners.set(owner, ofOwner + 1)
  }

  leave(owner: string): void {
    const ofOwner = this.#owners.get(owner)! - 1
    this.#count--
    if (ofOwner) this.#owners.set(owner, ofOwner)
    else this.#owners.delete(owner)
  }
}

/** The purpose of a lease: a team's transaction or read, by the team's id; work of no team; single statements of the program itself. */
export type Borrower = string

/** Work of no team: periodic tasks, the control plane's transactions. It leaves two connections to others. */
export const PLAIN: Borrower = ''
/** Single statements of the program itself: look-ups of keys and teams. They may use every connection. */
export const PROGRAM: Borrower = ' program'

interface Waiter {
  resolve: (client: pg.PoolClient) => void
  reject: (error: unknown) => void
  timer: NodeJS.Timeout
}

interface Share {
  lent: number
  waiting: Set<Waiter>
}

export interface LendingOptions {
  connections_max: number
  /** Maximum for one team. */
  team_connections_max: number
  /** Time limit of the wait for a connection. */
  wait_ms: number
}

/** Leases the connections of a pool: no more to one borrower than its share, and in turn among the waiting borrowers. */
export class Lending {
  readonly #pool: pg.Pool
  readonly #options: LendingOptions
  readonly #shares = new Map<Borrower, Share>()
  /** Borrowers that wait, next one first. */
  readonly #turns = new Set<Borrower>()
  readonly #lentTo = new Map<pg.ClientBase, Borrower>()
  #lent = 0
  #waiting = 0

  constructor(pool: pg.Pool, options: LendingOptions) {
    this.#pool = pool
    this.#options = options
    pool.on('release', (_error, client) => {
      const borrower = this.#lentTo.get(client)
      if (borrower === undefined) return
      this.#lentTo.delete(client)
      // The pool counts it as idle only after this event; a waiting request would open another connection.
      if (this.#turns.size === 0) this.#returnLease(borrower)
      else process.nextTick(() => this.#returnLease(borrower))
    })
  }

  /** How many requests wait for a connection. */
  get waiting(): number {
    return this.#waiting
  }

  /** How many borrowers have a connection or wait for one. */
  get borrowers(): number {
    return this.#shares.size
  }

  isLent(client: pg.ClientBase): boolean {
    return this.#lentTo.has(client)
  }

  /**
   * Leases a connection; the caller releases it. 503: too many wait, in total or for this borrower, or one waited for too long. Errors:
   * Unreachable if no connection can be made.
   */
  connect(borrower: Borrower): Promise<pg.PoolClient> {
    const share = this.#shares.get(borrower) ?? { lent: 0, waiting: new Set() }
    if (share.waiting.size === 0 && this.#isFree(borrower, share)) {
      this.#shares.set(borrower, share)
      return this.#lend(borrower, share)
    }
    // Borrowers without connections and waiting requests are removed.
    if (this.#waiting >= WAITING_MAX || share.waiting.size >= TEAM_WAITING_MAX) return Promise.reject(full())
    this.#shares.set(borrower, share)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#leave(borrower, share, waiter)
        this.#forget(borrower, share)
        reject(full())
      }, this.#options.wait_ms)
      const waiter: Waiter = { resolve, reject, timer }
      share.waiting.add(waiter)
      this.#waiting++
      this.#turns.add(borrower)
    })
  }

  /**
   * Runs a statement on a leased connection. A statement that fails keeps the connection. Errors: as `connect`, and those of the statement.
   * @param sees the team whose rows it sees; absent for the whole cell
   */
  async query(borrower: Borrower, statement: pg.QueryConfig, sees?: string): Promise<pg.QueryResult> {
    const client = await this.connect(borrower)
    try {
      return await send(client, statement, sees)
    } finally {
      client.release()
    }
  }

  #isFree(borrower: Borrower, { lent }: Share): boolean {
    return this.#lent < this.#options.connections_max && lent < this.#mostOf(borrower)
  }

  #mostOf(borrower: Borrower): number {
    const { connections_max, team_connections_max } = this.#options
    if (borrower === PROGRAM || connections_max <= 2) return connections_max
    return borrower === PLAIN ? connections_max - 2 : Math.min(team_connections_max, connections_max)
  }

  #lend(borrower: Borrower, share: Share): Promise<pg.PoolClient> {
    this.#lent++
    share.lent++
    return new Promise((resolve, reject) => {
      this.#pool.connect((error, client) => {
        if (client) {
          this.#lentTo.set(client, borrower)
          prepared.tidy(client)
          return resolve(client)
        }
        // A pool that has ended rejects at once: the next request is not rejected within this call.
        process.nextTick(() => this.#returnLease(borrower))
        reject(new Unreachable(error))
      })
    })
  }

  #returnLease(borrower: Borrower): void {
    const share = this.#shares.get(borrower)!
    this.#lent--
    share.lent--
    this.#forget(borrower, share)
    for (const next of this.#turns) {
      const waiting = this.#shares.get(next)!
      if (!this.#isFree(next, waiting)) continue
      const [waiter] = waiting.waiting as Iterable<Waiter> as [Waiter]
      this.#leave(next, waiting, waiter)
      // Its next request waits until the other borrowers had their turn.
      if (this.#turns.delete(next)) this.#turns.add(next)
      this.#lend(next, waiting).then(waiter.resolve, waiter.reject)
      return
    }
  }

  #leave(borrower: Borrower, share: Share, waiter: Waiter): void {
    clearTimeout(waiter.timer)
    share.waiting.delete(waiter)
    this.#waiting--
    if (share.waiting.size === 0) this.#turns.delete(borrower)
  }

  #forget(borrower: Borrower, share: Share): void {
    if (share.lent === 0 && share.waiting.size === 0) this.#shares.delete(borrower)
  }
}
