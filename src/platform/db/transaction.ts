// What a transaction is to those who use it: statements, the instant, the team on whose behalf it runs. How it is made: database.ts.
import type { Static, TSchema } from 'typebox'
import type { CellName } from './cell-names.ts'
import type { Sql } from './sql.ts'
import type { Subjects } from './subjects.ts'

/** On whose behalf a transaction runs. */
export interface Tenant {
  team: string
  org: string
  cell: CellName
  /** How far the team's clock is ahead of the machine's; 0 in production. */
  clock_offset_s: number
  settings: Readonly<Record<string, unknown>>
  /** Names of features that its operator has switched off. */
  features_off?: readonly string[]
  /** Names of options that its operator has switched on. */
  options_on?: readonly string[]
  /** Since when its organization may only read; known where a credential was looked up. */
  expires_at?: string | null
  /** Gathers whom all transactions of one call were about, where it has several. */
  subjects?: Subjects
}

/** What a statement can be run on. Rows are promises of their schema, verified in tests. */
export interface Queries {
  run(q: Sql): Promise<number>
  many<S extends TSchema>(row: S, q: Sql): Promise<Static<S>[]>
  maybe<S extends TSchema>(row: S, q: Sql): Promise<Static<S> | undefined>
  one<S extends TSchema>(row: S, q: Sql): Promise<Static<S>>
}

/** Something that happens in a module, on which modules above it hook. See hooks.ts. */
export interface HookPoint<A extends unknown[], X extends PlainTx = Tx> {
  readonly name: string
  /** Never there: the types of what hooks get, the kind of transaction and what comes beside it. */
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
   * The same methods, for a statement that locks: rows (`for update`, `for key share`, …) or an advisory lock of the transaction. The
   * locks are held until the transaction ends. A `select` that is sent without `locking` may run before the transaction begins, and
   * its locks would end with it: where rows are checked (in tests) such a `select` runs in a read-only transaction and fails.
   */
  readonly locking: Queries
  /**
   * A write whose outcome nothing in this transaction depends on, sent together with the others at the end. Two of them must not
   * change the same row: they see the table as it was before both.
   */
  defer(q: Sql): void
  /**
   * As `defer`, for many rows of one kind: what was gathered for the same `write` becomes one statement at the end.
   * `write` must be a constant of its module.
   */
  deferBatched<I>(item: I, write: (tx: Tx, items: I[]) => Sql): void
  /** Called once after the commit, never after a rollback. Must not throw: an error is reported and changes nothing. */
  afterCommit(call: () => void): void
  /**
   * Say whose data was read or changed, for the access log, where neither the request nor the answer names the user as `user_id`: null
   * where nobody is known. And what of it, where the path does not name it: an order for example.
   * @param team_id of the user, where the transaction is of no team
   */
  concerns(user_id: string | null, object?: string, team_id?: string): void
  /** Whom it was about, as far as somebody has said. */
  readonly subjects: Subjects | undefined
  /** What a team's transactions in this process remember under a key is not true any more, after the commit. */
  invalidate(team: string, key: string): void
  /** Run the hooks of a point, each when the one before has ended. */
  notify<A extends unknown[]>(point: HookPoint<A, PlainTx>, ...args: NoInfer<A>): Promise<void>
}

/** A transaction of one team at one instant of that team's clock. */
export interface Tx extends PlainTx {
  readonly team: string
  readonly tenant: Tenant
  /**
   * As `maybe`, for a read by key of what this transaction has not written. It travels on a connection shared with other requests,
   * so it must be quick.
   */
  lookup<S extends TSchema>(row: S, q: Sql): Promise<Static<S> | undefined>
  /** The next numbers of a sequence, ascending and above one that was taken before. At most 64. */
  allocateIds(sequence: string, count: number, above?: number): Promise<number[]>
  /** Run the hooks of higher modules, within this transaction. Errors: theirs. */
  notify<A extends unknown[]>(point: HookPoint<A>, ...args: NoInfer<A>): Promise<void>
  /** Tell the worker, after the commit, that there is work to do now. */
  notifyWorker(): void
  /** Tell who delivers, after the commit, that there are events or deliveries. */
  notifyDelivery(): void
  /**
   * What changes seldom, as it was at most 4 s ago, for every transaction of the team in this process. Absence is not remembered.
   * A write that must not lean on what has changed since makes a required column null then: the transaction is run once more, with
   * nothing remembered.
   */
  cached<V>(key: string, load: () => Promise<V | undefined>): Promise<V | undefined>
}
