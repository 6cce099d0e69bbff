// A transaction that writes: what it sends when, and how it ends. Contract: transaction.ts.
import type { Duplex } from 'node:stream'
import type pg from 'pg'
import type { Static, TSchema } from 'typebox'
import type { LookUps } from './look-ups.ts'
import { Subjects, type HookPoint, type Queries, type RowById, type Tenant, type Tx } from './transaction.ts'
import type { Hooks } from './hooks.ts'
import { LeaseLost } from './leases.ts'
import type { IdAllocator } from './id-allocator.ts'
import { isLost, UnknownOutcome } from './outages.ts'
import { compiled, createQueries } from './statements.ts'
import { join, raw, sql, type Sql } from './sql.ts'
import { send } from './send-statement.ts'
import { uuid } from '../runtime/uuid.ts'

const ignore = () => {}

export interface Listeners {
  readonly onJobNotification: () => void
  readonly onEventNotification: () => void
  readonly onError: (error: unknown) => void
  /** The hooks that modules run in transactions of other modules. */
  readonly hooks: Hooks | undefined
}

export interface TenantCache {
  /** The cached value, or else the result of `load`; `used` is called for a cached value. */
  getOrLoad<V>(tenant: Tenant, key: string, load: () => Promise<V | undefined>, used?: () => void): Promise<V | undefined>
  /** Calls `load` and caches the result. */
  reload<V>(tenant: Tenant, key: string, load: () => Promise<V | undefined>): Promise<V | undefined>
}

/** Whether a statement may run before the transaction begins, unless it is declared as locking. */
const isSelect = (text: string): boolean => /^\s*select\b/i.test(text)

/** Texts of selects that a read-only transaction has run: where rows are checked, one of each text is held to that. */
const knownReads = new Set<string>()
const KNOWN_READS_MAX = 5000

/** A statement that failed cannot be sent again within its transaction: the whole transaction runs again. */
const WITHIN = { alone: false }

/** Several writes as one statement. */
function combineWrites(writes: Sql[]): Sql {
  const [only] = writes
  if (only && writes.length === 1) return only
  const named = writes.slice(0, -1).map((write, i) => sql`${raw(`w${i}`)} as (${write})`)
  return sql`with ${join(named, ', ')} ${writes.at(-1)!}`
}

/** The dependencies of a transaction on its database. */
export interface WriteTxDependencies {
  /** The team whose rows its statements see; undefined for the whole cell. */
  sees: string | undefined
  connect: () => Promise<pg.PoolClient>
  /** Runs a statement that is the whole transaction. */
  autocommit: (statement: pg.QueryConfig) => Promise<unknown>
  /** Reads by key; if absent, the transaction does so itself. */
  lookUps: LookUps | undefined
  numbers: IdAllocator
  memory: TenantCache
  useCache: boolean
  forget: (team: string, key: string) => void
  listeners: Listeners
  checkRows: boolean
  /** Sent right after `begin`; the transaction is committed only if it selects a row. */
  guard?: Sql | undefined
}

export class WriteTx implements Tx {
  readonly team: string
  readonly tenant: Tenant
  readonly now: Date
  readonly run: Queries['run']
  readonly many: Queries['many']
  readonly maybe: Queries['maybe']
  readonly one: Queries['one']
  readonly uuid = uuid
  readonly #dependencies: WriteTxDependencies
  readonly #deferred: Sql[] = []
  readonly #batches = new Map<(tx: Tx, items: never[]) => Sql, unknown[]>()
  readonly #afterCommit = new Set<() => void>()
  #connecting: Promise<pg.PoolClient> | undefined
  #client: pg.PoolClient | undefined
  #isOpen = false
  #locking: Queries | undefined
  #lookingUp: Queries | undefined
  #guarded: Promise<pg.QueryResult> | undefined
  /** Whether the begun transaction has set its team. */
  #teamSet = false
  #finished = false
  /** The commit was sent: the database may have done it, even if no response arrives. */
  #committing = false
  #batching = false
  #subjects: Subjects | undefined
  /** Whether it used a cached value, or another assumption. */
  usedCache = false

  constructor(tenant: Tenant, now: Date, means: WriteTxDependencies) {
    this.tenant = tenant
    this.team = tenant.team
    this.now = now
    this.#dependencies = means
    const queries = createQueries((q) => this.#send(q, false), means.checkRows, WITHIN)
    this.run = queries.run
    this.many = queries.many
    this.maybe = queries.maybe
    this.one = queries.one
  }

  lookup<S extends TSchema>(row: S, q: Sql): Promise<Static<S> | undefined> {
    const { lookUps } = this.#dependencies
    if (!lookUps) return this.maybe(row, q)
    this.#lookingUp ??= lookUps.ofTeam(this.team)
    return this.#lookingUp.maybe(row, q)
  }

  lookupById<S extends TSchema>(kind: RowById<S>, id: string): Promise<Static<S> | undefined> {
    const { lookUps } = this.#dependencies
    return lookUps ? lookUps.byId(this.team, kind, id) : this.maybe(kind.row, kind.select(this, sql`array[${id}]::uuid[]`))
  }

  get locking(): Queries {
    return (this.#locking ??= createQueries((q) => this.#send(q, true), this.#dependencies.checkRows, WITHIN))
  }

  async #send(q: Sql, locks: boolean): Promise<pg.QueryResult> {
    if (this.#finished) throw new Error('the transaction has already ended')
    const { text } = q
    const client = this.#client ?? (await this.#connect())
    this.#gather(client)
    if (!this.#isOpen && (locks || !isSelect(text))) this.#begin(client)
    const statement = compiled(q, text)
    const isChecked = this.#isOpen || !this.#dependencies.checkRows || knownReads.has(text)
    return isChecked ? this.#query(client, statement) : this.#readOnly(client, statement)
  }

  /** A statement before `begin` sets the team for itself, the first one after it for all that follow. */
  #query(client: pg.PoolClient, statement: pg.QueryConfig): Promise<pg.QueryResult> {
    const { sees } = this.#dependencies
    if (this.#teamSet) return client.query(statement)
    this.#teamSet = this.#isOpen
    return send(client, statement, sees)
  }

  /**
   * Runs a statement that is sent before the transaction begins, so that it fails if it writes or locks rows (25006). The database does not
   * reject an advisory lock, which would also end at once. A text that has been run so need not be checked again.
   */
  async #readOnly(client: pg.PoolClient, statement: pg.QueryConfig): Promise<pg.QueryResult> {
    const { text = '' } = statement
    if (text.includes('advisory_xact_lock')) throw new Error('a statement that locks must be sent through `locking`')
    client.query('begin read only').catch(ignore)
    const result = this.#query(client, statement)
    client.query('commit').catch(ignore)
    await result
    if (knownReads.size < KNOWN_READS_MAX) knownReads.add(text)
    return result
  }

  /** A connection is leased with the first statement, not before: many requests end without one. */
  #connect(): Promise<pg.PoolClient> {
    return (this.#connecting ??= this.#dependencies.connect().then((client) => (this.#client = client)))
  }

  /** Statements of one turn of the event loop are sent in one write: system calls cost more than the bytes. */
  #gather(client: pg.PoolClient): void {
    if (this.#batching) return
    this.#batching = true
    const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection
    stream.cork()
    process.nextTick(() => {
      this.#batching = false
      stream.uncork()
    })
  }

  #begin(client: pg.PoolClient): void {
    this.#isOpen = true
    client.query('begin').catch(ignore)
    const { guard } = this.#dependencies
    if (!guard) return
    this.#guarded = this.#query(client, compiled(guard))
    this.#guarded.catch(ignore)
  }

  /** Reads need no guard: they change nothing. A write waits for the result of the guard, which came with that of the first statement. */
  async #assertGuarded(client: pg.PoolClient): Promise<void> {
    if (!this.#isOpen) this.#begin(client)
    if ((await this.#guarded)!.rowCount === 0) throw new LeaseLost('the lease ended before the transaction began')
  }

  defer(q: Sql): void {
    this.#deferred.push(q)
  }

  deferBatched<I>(item: I, write: (tx: Tx, items: I[]) => Sql): void {
    const items = this.#batches.get(write) ?? []
    this.#batches.set(write, items)
    items.push(item)
  }

  afterCommit(call: () => void): void {
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
    this.#afterCommit.add(() => this.#dependencies.forget(team, key))
  }

  notify<A extends unknown[]>(point: HookPoint<A>, ...args: NoInfer<A>): Promise<void> {
    const { hooks } = this.#dependencies.listeners
    if (!hooks) throw new Error(`the hooks of this process were not set before ${point.name}`)
    return hooks.notify<A, Tx>(this, point, ...args)
  }

  notifyWorker(): void {
    this.#afterCommit.add(this.#dependencies.listeners.onJobNotification)
  }

  notifyDelivery(): void {
    this.#afterCommit.add(this.#dependencies.listeners.onEventNotification)
  }

  cached<V>(key: string, load: () => Promise<V | undefined>): Promise<V | undefined> {
    const { memory: cache, useCache } = this.#dependencies
    return useCache
      ? cache.getOrLoad(this.tenant, key, load, () => (this.usedCache = true))
      : cache.reload(this.tenant, key, load)
  }

  mayAssume(): boolean {
    const { useCache } = this.#dependencies
    this.usedCache ||= useCache
    return useCache
  }

  allocateIds(sequence: string, count: number, above = 0): Promise<number[]> {
    return this.#dependencies.numbers.allocate(sequence, count, above, this.team)
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
    this.#client?.release()
    this.#client = this.#connecting = undefined
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
    if (!this.#isOpen && this.#deferred.length === 0) return
    const { guard } = this.#dependencies
    this.#committing = !this.#connecting && !guard
    if (this.#committing) return void (await this.#dependencies.autocommit(compiled(combineWrites(this.#deferred))))
    const client = this.#client ?? (await this.#connect())
    if (guard) await this.#assertGuarded(client)
    this.#committing = true
    if (this.#isOpen) this.#gather(client)
    const last = this.#deferred.length ? this.#query(client, compiled(combineWrites(this.#deferred))) : undefined
    if (!this.#isOpen) return void (await last)
    const done = client.query('commit')
    const outcomes = await Promise.allSettled([last, done])
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    // PostgreSQL responds to the `commit` of a failed transaction with ROLLBACK, without an error.
    if ((await done).command !== 'COMMIT') throw new Error('the transaction was rolled back')
  }

  /** Rolls back and releases the connection; a connection on which the rollback fails is not reused. */
  async rollback(): Promise<void> {
    this.#finished = true
    const client = this.#client ?? (await this.#connecting?.catch(() => undefined))
    if (!client) return
    this.#client = undefined
    try {
      if (this.#isOpen) await client.query('rollback')
      client.release()
    } catch (error) {
      client.release(error as Error)
    }
  }
}
