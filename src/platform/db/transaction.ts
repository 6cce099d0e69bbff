// The contract of a transaction for its users: statements, the instant, the team on whose behalf it runs. Implementation: database.ts.
import type { Static, TSchema } from 'typebox'
import type { Sql } from './sql.ts'

const NO_TEAMS: ReadonlyMap<string, string[]> = new Map()

/** The users whose data a transaction reads or changes, and the ids of their objects, for the access log. */
export class Subjects {
  readonly users: string[] = []
  readonly objects: string[] = []
  #teams: Map<string, string[]> | undefined

  /** The users of each team, if the call has no team. */
  get teams(): ReadonlyMap<string, string[]> {
    return this.#teams ?? NO_TEAMS
  }

  /**
   * Adds a user whose data was read or changed, or null if there is none, and the id of the object, for example of an order. Duplicates
   * count once.
   * @param team_id of the user, in a call about several teams: each of them gets a line of its own
   */
  add(user_id: string | null, object?: string, team_id?: string): void {
    if (user_id !== null && team_id !== undefined) {
      this.#teams ??= new Map()
      const users = this.#teams.get(team_id) ?? []
      this.#teams.set(team_id, users)
      if (!users.includes(user_id)) users.push(user_id)
    } else if (user_id !== null && !this.users.includes(user_id)) this.users.push(user_id)
    if (object !== undefined && !this.objects.includes(object)) this.objects.push(object)
  }
}

/** The team on whose behalf a transaction runs. */
export interface Tenant {
  team: string
  org: string
  /** The unit of storage in which its rows are. */
  cell: string
  /** How far the team's clock is ahead of the system clock; 0 in production. */
  clock_offset_s: number
  settings: Readonly<Record<string, unknown>>
  /** Names of features that the operator has disabled. */
  disabled_features?: readonly string[]
  /** Names of options that the operator has enabled. */
  options_on?: readonly string[]
  /** Events of the team get outbox entries. It stays so once it is; absent or false if that is not known. */
  has_subscribed?: boolean
  /** Since when its organization is read-only; known if a credential was looked up. */
  expires_at?: string | null
  /** Collects the users of all transactions of one call that has several. */
  subjects?: Subjects
}

/** Runs statements. Rows have the type of their schema, which tests verify. */
export interface Queries {
  run(q: Sql): Promise<number>
  many<S extends TSchema>(row: S, q: Sql): Promise<Static<S>[]>
  maybe<S extends TSchema>(row: S, q: Sql): Promise<Static<S> | undefined>
  one<S extends TSchema>(row: S, q: Sql): Promise<Static<S>>
}

/** An event in a module, on which higher modules run hooks. See hooks.ts. */
export interface HookPoint<A extends unknown[], X extends PlainTx = Tx> {
  readonly name: string
  /** Never set: it carries the types of a hook's arguments, the kind of transaction and its further input. */
  readonly args?: A
  readonly tx?: (tx: X) => void
}

/** A transaction that belongs to no team: the control plane, the catalog. */
export interface PlainTx extends Queries {
  /** Whole seconds. In a team's transaction the team's time, which every stored timestamp, due date and age check uses. */
  readonly now: Date
  /** A UUID version 7: ordered by creation, also within one transaction. */
  uuid(): string
  /**
   * The same methods, for a statement that locks: rows (`for update`, `for key share`, …) or an advisory lock of the transaction. The locks
   * are held until the transaction ends. A `select` that is sent without `locking` may run before the transaction begins, and its locks
   * would end with it: if rows are checked (in tests) such a `select` runs in a read-only transaction and fails.
   */
  readonly locking: Queries
  /**
   * Defers a write whose result this transaction does not need; it is sent together with the others at the end. Two deferred writes must
   * not change the same row: both see the table as it was before.
   */
  defer(q: Sql): void
  /**
   * As `defer`, for many rows of one kind: the rows for the same `write` become one statement at the end. `write` must be a constant of its
   * module.
   */
  deferBatched<I>(item: I, write: (tx: Tx, items: I[]) => Sql): void
  /** Sends what `deferBatched` has of one kind now: a single statement of many megabytes would keep the event loop. */
  sendBatched<I>(write: (tx: Tx, items: I[]) => Sql): Promise<void>
  /** Called once after the commit, never after a rollback. Must not throw: an error is reported and changes nothing. */
  afterCommit(call: () => void): void
  /**
   * Names the user whose data was read or changed, for the access log, if neither the request nor the response has a `user_id`, or if the
   * response is not searched for it; null if no user is known. Also names the object, for example an order, if the path does not.
   * @param team_id of the user, in a transaction of no team
   */
  concerns(user_id: string | null, object?: string, team_id?: string): void
  /** The users named so far. */
  readonly subjects: Subjects | undefined
  /** Removes the team's cached value of a key in this process after the commit. */
  invalidate(team: string, key: string): void
  /** Runs the hooks of a point, each after the previous one has ended. */
  notify<A extends unknown[]>(point: HookPoint<A, PlainTx>, ...args: NoInfer<A>): Promise<void>
}

/** A transaction of one team at one instant of that team's clock. */
export interface Tx extends PlainTx {
  readonly team: string
  readonly tenant: Tenant
  /**
   * As `maybe`, for a read by key of rows that this transaction has not written. It uses a connection shared with other requests, so it
   * must be quick.
   */
  lookup<S extends TSchema>(row: S, q: Sql): Promise<Static<S> | undefined>
  /** The next numbers of a sequence, ascending and above a number that was reserved before. At most 64. */
  allocateIds(sequence: string, count: number, last_id?: number): Promise<number[]>
  /** Runs the hooks of higher modules, within this transaction. Errors: those of the hooks. */
  notify<A extends unknown[]>(point: HookPoint<A>, ...args: NoInfer<A>): Promise<void>
  /** Tells the worker, after the commit, that there is a due job. */
  notifyWorker(): void
  /** Tells the delivery loop, after the commit, that there are events or deliveries. */
  notifyDelivery(): void
  /**
   * Returns a rarely changed value as it was at most 4 s ago, cached for every transaction of the team in this process. Absence is not
   * cached. A write that must not depend on an outdated value sets a required column to null in that case: the transaction then runs once
   * more without the cache.
   */
  readCached<V>(key: string, load: () => Promise<V | undefined>): Promise<V | undefined>
  /**
   * Whether the transaction may rely on something else that its writes verify in the same way, by a required column that is null if it is
   * not so. False when it runs once more.
   */
  mayAssume(): boolean
}
