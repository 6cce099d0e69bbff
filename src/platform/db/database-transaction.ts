// A transaction: what it sends when, and how it ends. Contract: transaction.ts. Until it writes or locks, each of its statements is by itself.
// The first that does leases a connection and begins. Deferred writes are one statement at the end; if nothing else has written, that
// statement is the transaction. On Citus each of them is a statement.
import type pg from 'pg'
import type { Static, TSchema } from 'typebox'
import { Subjects, type HookPoint, type Queries, type Tenant, type Tx } from './transaction.ts'
import type { Lease } from './connection-pool.ts'
import { ignoreError, type Setting } from './database-connection.ts'
import type { Hooks } from './hooks.ts'
import { LeaseLost } from './leases.ts'
import { isLost, UnknownOutcome } from './outages.ts'
import { createQueries, toStatement } from './statements.ts'
import { join, raw, sql, type Sql } from './sql.ts'
import { uuid } from '../runtime/uuid.ts'

interface Listeners {
  readonly onJobNotification: () => void
  readonly onEventNotification: () => void
  readonly onError: (error: unknown) => void
  /** The hooks that modules run in transactions of other modules. */
  readonly hooks: Hooks | undefined
}

export interface TenantCache {
  /** The cached value, or else the result of `load`; `onHit` is called for a cached value. */
  getOrLoad<V>(tenant: Tenant, key: string, load: () => Promise<V | undefined>, onHit?: () => void): Promise<V | undefined>
  /** Calls `load` and caches the result. */
  reload<V>(tenant: Tenant, key: string, load: () => Promise<V | undefined>): Promise<V | undefined>
  remove(team: string, key: string): void
}

/** Whether a statement may run before the transaction begins, unless it is declared as locking. */
const isSelect = (text: string): boolean => /^\s*select\b/i.test(text)

/** Texts of selects that a read-only transaction has run: where rows are checked, one of each text is held to that. */
const knownReads = new Set<string>()
const KNOWN_READS_MAX = 5000

/** Several writes as one statement. */
function combineWrites(writes: Sql[]): Sql[] {
  if (writes.length <= 1) return writes
  const named = writes.slice(0, -1).map((write, i) => sql`${raw(`w${i}`)} as (${write})`)
  return [sql`with ${join(named, ', ')} ${writes.at(-1)!}`]
}

type Send = (statement: pg.QueryConfig) => Promise<pg.QueryResult>

/** The dependencies of a transaction on its database. */
export interface TransactionDependencies {
  /** Each statement sees the latest commit. Nothing is written or locked. */
  isReadOnly: boolean
  lend: () => Promise<Lease>
  /** The tables are on Citus, which runs each part of a combined statement as a statement that waits for the one before. */
  isDistributed: () => boolean
  /** Sent with the first statement after `begin`. */
  setting: Setting | undefined
  /** Runs a statement before the transaction begins. */
  read: Send
  /** Runs a read by key. */
  lookUp: Send
  /** Runs a statement that is the whole transaction. */
  write: Send
  allocateIds: (sequence: string, count: number, last_id: number) => Promise<number[]>
  cache: TenantCache
  mayUseCache: boolean
  listeners: Listeners
  checkRows: boolean
  /** Sent right after `begin`; the transaction is committed only if it selects a row. */
  guard?: Sql | undefined
}

export class DatabaseTransaction implements Tx {
  readonly team: string
  readonly tenant: Tenant
  readonly now: Date
  readonly run: Queries['run']
  readonly many: Queries['many']
  readonly maybe: Queries['maybe']
  readonly one: Queries['one']
  readonly uuid = uuid
  readonly #dependencies: TransactionDependencies
  readonly #deferred: Sql[] = []
  readonly #batches = new Map<(tx: Tx, items: never[]) => Sql, unknown[]>()
  readonly #afterCommit = new Set<() => void>()
  #begun: Promise<Lease> | undefined
  #guarded: Promise<pg.QueryResult> | undefined
  #isSettingSent = false
  #finished = false
  /** The commit was sent: the database may have done it, even if no response arrives. */
  #committing = false
  #subjects: Subjects | undefined
  /** Whether it used a cached value, or another assumption. */
  hasUsedCache = false

  constructor(tenant: Tenant, now: Date, dependencies: TransactionDependencies) {
    this.tenant = tenant
    this.team = tenant.team
    this.now = now
    this.#dependencies = dependencies
    const { checkRows, isReadOnly } = dependencies
    const queries = createQueries((statement) => this.#send(statement), checkRows, isReadOnly)
    this.run = queries.run
    this.many = queries.many
    this.maybe = queries.maybe
    this.one = queries.one
  }

  lookup<S extends TSchema>(row: S, q: Sql): Promise<Static<S> | undefined> {
    const { lookUp, checkRows } = this.#dependencies
    return createQueries(lookUp, checkRows).maybe(row, q)
  }

  get locking(): Queries {
    this.#requireWriter()
    return createQueries((statement) => this.#sendWithin(statement), this.#dependencies.checkRows, false)
  }

  #requireWriter(): void {
    if (this.#dependencies.isReadOnly) throw new Error('a read-only operation cannot write or lock')
  }

  #send(statement: pg.QueryConfig): Promise<pg.QueryResult> {
    const { isReadOnly, checkRows, read } = this.#dependencies
    if (isReadOnly) return read(statement)
    if (this.#begun || !isSelect(statement.text)) return this.#sendWithin(statement)
    this.#requireUnfinished()
    return checkRows && !knownReads.has(statement.text) ? this.#checkedRead(statement) : read(statement)
  }

  async #sendWithin(statement: pg.QueryConfig): Promise<pg.QueryResult> {
    this.#requireUnfinished()
    return this.#query(await this.#begin(), statement)
  }

  #requireUnfinished(): void {
    if (this.#finished) throw new Error('the transaction has already ended')
  }

  /**
   * Runs a statement that is sent before the transaction begins, so that it fails if it writes or locks rows (25006). The database does not
   * reject an advisory lock, which would also end at once. A text that has been run so need not be checked again.
   */
  async #checkedRead(statement: pg.QueryConfig): Promise<pg.QueryResult> {
    const { lend, setting } = this.#dependencies
    if (statement.text.includes('advisory_xact_lock')) throw new Error('a statement that locks must be sent through `locking`')
    const { connection, release } = await lend()
    try {
      connection.send('begin read only').catch(ignoreError)
      const result = connection.send(statement, setting)
      const [outcome] = await Promise.allSettled([result, connection.send('commit')])
      if (outcome.status === 'rejected') throw outcome.reason
      if (knownReads.size < KNOWN_READS_MAX) knownReads.add(statement.text)
      return outcome.value
    } finally {
      release()
    }
  }

  #begin(): Promise<Lease> {
    return (this.#begun ??= this.#dependencies.lend().then((lease) => {
      lease.connection.send('begin').catch(ignoreError)
      const { guard } = this.#dependencies
      if (guard) this.#guarded = this.#query(lease, toStatement(guard))
      this.#guarded?.catch(ignoreError)
      return lease
    }))
  }

  #query({ connection }: Lease, statement: pg.QueryConfig): Promise<pg.QueryResult> {
    const setting = this.#isSettingSent ? undefined : this.#dependencies.setting
    this.#isSettingSent = true
    return connection.send(statement, setting)
  }

  defer(q: Sql): void {
    this.#requireWriter()
    this.#deferred.push(q)
  }

  deferBatched<I>(item: I, write: (tx: Tx, items: I[]) => Sql): void {
    this.#requireWriter()
    const items = this.#batches.get(write) ?? []
    this.#batches.set(write, items)
    items.push(item)
  }

  async sendBatched<I>(write: (tx: Tx, items: I[]) => Sql): Promise<void> {
    const items = this.#batches.get(write)
    this.#batches.delete(write)
    if (items) await this.run(write(this, items as I[]))
  }

  afterCommit(call: () => void): void {
    this.#requireWriter()
    this.#afterCommit.add(call)
  }

  concerns(user_id: string | null, object?: string, team_id?: string): void {
    this.#subjects ??= this.tenant.subjects ?? new Subjects()
    this.#subjects.add(user_id, object, team_id)
  }

  get subjects(): Subjects | undefined {
    return this.#subjects
  }

  invalidate(team: string, key: string): void {
    this.afterCommit(() => this.#dependencies.cache.remove(team, key))
  }

  async notify<A extends unknown[]>(point: HookPoint<A>, ...args: NoInfer<A>): Promise<void> {
    const { hooks } = this.#dependencies.listeners
    if (!hooks) throw new Error(`the hooks of this process were not set before ${point.name}`)
    await hooks.notify<A, Tx>(this, point, ...args)
  }

  notifyWorker(): void {
    this.afterCommit(this.#dependencies.listeners.onJobNotification)
  }

  notifyDelivery(): void {
    this.afterCommit(this.#dependencies.listeners.onEventNotification)
  }

  readCached<V>(key: string, load: () => Promise<V | undefined>): Promise<V | undefined> {
    const { cache, mayUseCache } = this.#dependencies
    return mayUseCache
      ? cache.getOrLoad(this.tenant, key, load, () => (this.hasUsedCache = true))
      : cache.reload(this.tenant, key, load)
  }

  mayAssume(): boolean {
    const { mayUseCache, isReadOnly } = this.#dependencies
    this.hasUsedCache ||= mayUseCache
    return mayUseCache && !isReadOnly
  }

  allocateIds(sequence: string, count: number, last_id = 0): Promise<number[]> {
    this.#requireWriter()
    return this.#dependencies.allocateIds(sequence, count, last_id)
  }

  /**
   * Sends the deferred writes, ends the transaction, releases the connection. Functions that run after the commit cannot make it fail any
   * more. Errors: UnknownOutcome (503) if the connection was lost before the response to the commit.
   */
  async commit(): Promise<void> {
    this.#finished = true
    try {
      await this.#end()
    } catch (error) {
      throw this.#committing && isLost(error) ? new UnknownOutcome(error) : error
    }
    const lease = await this.#begun
    this.#begun = undefined
    lease?.release()
    for (const call of this.#afterCommit) {
      try {
        call()
      } catch (error) {
        this.#dependencies.listeners.onError(error)
      }
    }
  }

  async #end(): Promise<void> {
    for (const [write, items] of this.#batches) this.#deferred.push(write(this, items as never[]))
    const { guard, write, isDistributed } = this.#dependencies
    const writes = (isDistributed() ? this.#deferred : combineWrites(this.#deferred)).map(toStatement)
    if (!this.#begun && writes.length === 0) return
    if (!this.#begun && !guard && writes.length === 1) {
      this.#committing = true
      return void (await write(writes[0]!))
    }
    const lease = await this.#begin()
    // The result of the guard came with that of the first statement.
    if ((await this.#guarded)?.rowCount === 0) throw new LeaseLost('the lease ended before the transaction began')
    this.#committing = true
    const outcomes = await Promise.allSettled([
      ...writes.map((statement) => this.#query(lease, statement)),
      lease.connection.send('commit'),
    ])
    for (const { reason } of outcomes as PromiseRejectedResult[]) if (reason !== undefined) throw reason
    // PostgreSQL responds to the `commit` of a failed transaction with ROLLBACK, without an error.
    const { command } = (outcomes.at(-1) as PromiseFulfilledResult<pg.QueryResult>).value
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back')
  }

  /** Rolls back and releases the connection; a connection on which the rollback fails is not reused. */
  async rollback(): Promise<void> {
    this.#finished = true
    const lease = await this.#begun?.catch(ignoreError)
    if (!lease) return
    this.#begun = undefined
    try {
      await lease.connection.send('rollback')
      lease.release()
    } catch (error) {
      lease.release(error as Error)
    }
  }
}
