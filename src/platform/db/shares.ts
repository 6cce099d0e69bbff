// Bounds for what waits inside the process, in all and for each team, so that one team with many slow requests leaves room for the others.
import type pg from 'pg'
import { unavailable } from '../runtime/problem.ts'
import { Unreachable } from './outages.ts'
import { prepared } from './prepared-statements.ts'
import { send } from './send-statement.ts'

/** Most requests of a database that wait in one queue of this process, and how many of them one team may have. */
export const WAITING_MAX = 1000
export const TEAM_WAITING_MAX = 500

const full = () => unavailable('Temporarily overloaded; try again')

/** Counts what is under way, in all and of each owner, for a queue that keeps its own order. Owners are teams, unless the queue says otherwise. */
export class Bound {
  readonly #max: number
  readonly #ownerMax: number
  readonly #owners = new Map<string, number>()
  #count = 0

  constructor(max = WAITING_MAX, owner_max = TEAM_WAITING_MAX) {
    this.#max = max
    this.#ownerMax = owner_max
  }

  /** Count one more. 503: there are too many, in all or of the owner; `''` is nobody. */
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

/** What a connection is for: a team's transaction or read, by the team's id; work of no team; single statements of the program itself. */
export type Borrower = string

/** Work of no team: sweeps, the control plane's transactions. It leaves two connections to others. */
export const PLAIN: Borrower = ''
/** Single statements of the program itself: keys and teams are looked up with them. They may take every connection. */
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
  /** Of one team. */
  team_connections_max: number
  /** How long one waits for a connection. */
  wait_ms: number
}

/** Lends the connections of a pool: no more to one borrower than its share, and in turn among those that wait. */
export class Lending {
  readonly #pool: pg.Pool
  readonly #options: LendingOptions
  readonly #shares = new Map<Borrower, Share>()
  /** Borrowers with somebody who waits, whose turn is next first. */
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
      // The pool counts it among its idle ones only after this event; whoever waits would have another one made.
      if (this.#turns.size === 0) this.#giveBack(borrower)
      else process.nextTick(() => this.#giveBack(borrower))
    })
  }

  /** How many wait for a connection. */
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
   * A connection, to be released. 503: too many wait, in all or of this borrower, or one waited for too long.
   * Errors: Unreachable when none can be made.
   */
  connect(borrower: Borrower): Promise<pg.PoolClient> {
    const share = this.#shares.get(borrower) ?? { lent: 0, waiting: new Set() }
    if (share.waiting.size === 0 && this.#isFree(borrower, share)) {
      this.#shares.set(borrower, share)
      return this.#lend(borrower, share)
    }
    // Of a borrower that has nothing and is refused nothing is kept.
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
   * Run a statement on a connection of its own. One that fails leaves the connection alone. Errors: as `connect`, and its own.
   * @param sees the team whose rows it sees; absent on the whole cell
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
        // A pool that has ended refuses at once: whoever is next is not refused within this call.
        process.nextTick(() => this.#giveBack(borrower))
        reject(new Unreachable(error))
      })
    })
  }

  #giveBack(borrower: Borrower): void {
    const share = this.#shares.get(borrower)!
    this.#lent--
    share.lent--
    this.#forget(borrower, share)
    for (const next of this.#turns) {
      const waiting = this.#shares.get(next)!
      if (!this.#isFree(next, waiting)) continue
      const [waiter] = waiting.waiting as Iterable<Waiter> as [Waiter]
      this.#leave(next, waiting, waiter)
      // Its next one waits until the others have had their turn.
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
