// Transactions. One request is one transaction at one instant. Code inside a transaction cannot reach the network: `Tx` offers no way to
// it. A transaction uses as few statements as possible. `begin` is sent with the first statement that writes or locks: a read before it
// gives the same result inside and outside a transaction, because every statement sees the latest commit. A statement locks if it is sent
// through `locking`; it writes if it is not a `select`. Deferred writes are sent as one statement at the end; if nothing else has written,
// that statement is the transaction. Statements that do not wait for each other are pipelined. A request that reads, decides and writes
// therefore waits for the database twice, and once if the values that it reads are cached.
import pg from 'pg'
import { systemNow, addSeconds, truncateToSeconds } from '../runtime/clock.ts'
import { Connections, type ConnectionOptions } from './connections.ts'
import type { ConnectionPool } from './connection-pool.ts'
import { ASYNC_COMMIT, teamSetting, type Setting } from './database-connection.ts'
import { DatabaseTransaction, type TenantCache } from './database-transaction.ts'
import { unavailable, type Problem } from '../runtime/problem.ts'
import { NO_TEAM, PROGRAM } from './fair-queue.ts'
import { IdAllocator } from './id-allocator.ts'
import { Unreachable } from './outages.ts'
import type { Hooks } from './hooks.ts'
import { isStale } from './prepared-statements.ts'
import { createQueries } from './statements.ts'
import { expiringCache } from '../runtime/expiring-cache.ts'
import type { Sql } from './sql.ts'
import type { PlainTx, Queries, Tenant, Tx } from './transaction.ts'

/** How long keys, teams and their rarely changed values are cached. */
export const CACHE_TTL_MS = 4000

pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => `${text.replace(' ', 'T')}:00`)
pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text)
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

export interface DbOptions extends ConnectionOptions {
  /** Compares every row with its schema. On in tests. */
  checkRows: boolean
}

export type { Connection } from './connections.ts'

const ignoreError = () => {}

const ATTEMPTS_MAX = 3
const TRANSIENT = new Set(['40001', '40P01'])

/** What says that the cache was out of date. Citus reports the violation of a row that it copies to a node as an internal error. */
const NO_SUCH_ROW = new Set(['23502', 'XX000'])

/**
 * The connections to one schema: a cell or the control plane. `tx` and `read` see the rows of one team (docs/decisions/row-security.md);
 * all other methods see the whole cell.
 */
export class Db {
  readonly schema: string
  /** Maximum number of connections for transactions of teams. */
  readonly connections_max: number
  readonly #connections: Connections
  readonly #checkRows: boolean
  readonly #tenantCache = expiringCache<{}>({ lifetime_ms: CACHE_TTL_MS, size_max: 20_000 })
  readonly #ids: IdAllocator
  /** The hooks that modules run in transactions of other modules. The process sets them; until then no hook point can be notified. */
  hooks: Hooks | undefined
  /** Called after a commit that queued a due job. The worker of this process sets it, if there is one. */
  onJobNotification: () => void = ignoreError
  /** Called after a commit that left events or deliveries. The delivery loop of this process sets it, if there is one. */
  onEventNotification: () => void = ignoreError
  /** Receives errors of functions that run after a commit. The process sets it and logs them. */
  onError: (error: unknown) => void = ignoreError

  constructor(options: DbOptions) {
    this.schema = options.schema
    this.connections_max = options.connections_max
    this.#checkRows = options.checkRows
    this.#connections = new Connections(options)
    const { lookUps } = this.#connections
    this.#ids = new IdAllocator(createQueries((statement) => lookUps.query(NO_TEAM, statement), options.checkRows))
  }

  /** The connections for work on the whole cell. */
  get pool(): pg.Pool {
    return this.#connections.cell.pool
  }

  /** The connections for transactions of teams. */
  get teamPool(): pg.Pool {
    return this.#connections.teams.pool
  }

  /** The state of the connections for requests and jobs: idle, busy, and how many statements and transactions wait for one. */
  get poolStats(): Connections['use'] {
    return this.#connections.use
  }

  /** Statements on the whole cell, each a transaction of its own. */
  get queries(): Queries {
    return createQueries((statement) => this.#connections.cell.query(PROGRAM, statement), this.#checkRows)
  }

  /** As `queries`, for statements that a crash may undo within its last moments: bookkeeping that can be repeated. */
  get asyncCommit(): Queries {
    return createQueries((statement) => this.#connections.cell.query(PROGRAM, statement, ASYNC_COMMIT), this.#checkRows)
  }

  /**
   * Runs statements on a connection of its own, each a transaction, to find out whether the database serves. Errors: Unreachable if they do
   * not complete in time; the connection is then destroyed.
   */
  async probe<R>(work: (queries: Queries) => Promise<R>, within_ms: number): Promise<R> {
    const { readiness } = this.#connections
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Unreachable(new Error('the database did not answer in time')))
        readiness.destroy()
      }, within_ms)
    })
    const queries = createQueries((statement) => readiness.query(PROGRAM, statement), this.#checkRows)
    return Promise.race([work(queries), late]).finally(() => clearTimeout(timer))
  }

  /**
   * Runs `work` as one transaction at team time; its statements see only the rows of the team. It is repeated up to 3 times on a
   * serialization failure or deadlock, then fails with 503; once if it used a cached value that is out of date; and once if a prepared
   * statement no longer fitted its tables.
   * @param guard a select that is sent with `begin`, in the same write. If it selects no row, the writes of the transaction are not
   * committed and LeaseLost is thrown. Its lock is held until the transaction ends. 503: too many wait for a connection; the database
   * cannot serve. UnknownOutcome (503): the connection was lost during the commit.
   */
  tx<R>(tenant: Tenant, work: (tx: Tx) => Promise<R>, now?: Date, guard?: Sql): Promise<R> {
    return this.#transact({ tenant, now, guard }, work)
  }

  /** As `tx`, for operator work on rows of a team that do not, or do not yet, belong to the team: its statements see the whole cell. */
  txOnWholeCell<R>(tenant: Tenant, work: (tx: Tx) => Promise<R>): Promise<R> {
    return this.#transact({ tenant, isOnWholeCell: true }, work)
  }

  /** As `tx`, for work on the whole cell or the control plane, which belongs to no team. */
  async plainTx<R>(work: (tx: PlainTx) => Promise<R>): Promise<R> {
    return this.#transact({ tenant: NO_TENANT, isOnWholeCell: true }, work)
  }

  /** As `plainTx`, for work that is repeated after a crash: the commit does not wait for the disk. */
  async asyncCommitTx<R>(work: (tx: PlainTx) => Promise<R>): Promise<R> {
    return this.#transact({ tenant: NO_TENANT, isOnWholeCell: true, owner: PROGRAM, setting: ASYNC_COMMIT }, work)
  }

  /** Runs `work` with statements that each see the latest commit, of the rows of the team only; it cannot write or lock. */
  async read<R>(tenant: Tenant, work: (tx: Tx) => Promise<R>): Promise<R> {
    return work(this.#createTransaction({ tenant, isReadOnly: true }, true))
  }

  async #transact<R>(kind: TransactionKind, work: (tx: Tx) => Promise<R>): Promise<R> {
    let mayUseCache = true
    let mayPrepare = true
    for (let attempt = 1; ; attempt++) {
      const tx = this.#createTransaction(kind, mayUseCache)
      try {
        const result = await work(tx)
        await tx.commit()
        return result
      } catch (error) {
        await tx.rollback()
        const { code = '' } = error as { code?: string }
        if (NO_SUCH_ROW.has(code) && tx.hasUsedCache) mayUseCache = false
        else if (isStale(error) && mayPrepare) mayPrepare = false
        else if (!TRANSIENT.has(code)) throw error
        if (attempt === ATTEMPTS_MAX) throw unavailable('Too much contention; try again')
      }
    }
  }

  #createTransaction(kind: TransactionKind, mayUseCache: boolean): DatabaseTransaction {
    const { tenant, now = teamNow(tenant), isOnWholeCell = false, isReadOnly = false, guard } = kind
    const { cell, teams, lookUps, writes, hasTeams } = this.#connections
    const { owner = tenant.team || NO_TEAM } = kind
    const setting = kind.setting ?? (hasTeams && !isOnWholeCell && tenant.team !== '' ? teamSetting(tenant.team) : undefined)
    const pool: ConnectionPool = isOnWholeCell ? cell : teams
    const alone = (statement: pg.QueryConfig) => pool.query(owner, statement, setting)
    return new DatabaseTransaction(tenant, now, {
      isReadOnly,
      lend: () => pool.lend(owner),
      isDistributed: () => this.#connections.isDistributed,
      setting,
      read: alone,
      lookUp: isOnWholeCell ? alone : (statement) => lookUps.query(owner, statement, setting),
      write: isOnWholeCell ? alone : (statement) => writes.query(owner, statement, setting),
      allocateIds: (sequence, count, last_id) => this.#ids.allocate(sequence, count, last_id, owner),
      cache: this.#cache,
      mayUseCache,
      listeners: this,
      checkRows: this.#checkRows,
      guard,
    })
  }

  readonly #cache: TenantCache = {
    getOrLoad: async (tenant, key, load, onHit) => {
      const cached = this.#tenantCache.get(`${tenant.team} ${key}`)
      if (cached === undefined) return this.#cache.reload(tenant, key, load)
      onHit?.()
      return cached as Awaited<ReturnType<typeof load>>
    },
    reload: async (tenant, key, load) => {
      const value = await load()
      if (value !== undefined && value !== null) this.#tenantCache.set(`${tenant.team} ${key}`, value)
      return value
    },
    remove: (team, key) => this.#tenantCache.delete(`${team} ${key}`),
  }

  /** Ends every connection after its statements; connections that are still open after a moment are destroyed. */
  close(): Promise<void> {
    return this.#connections.close()
  }
}

/** Which connections a transaction uses, and what it may see. */
interface TransactionKind {
  tenant: Tenant
  now?: Date | undefined
  guard?: Sql | undefined
  isReadOnly?: boolean
  isOnWholeCell?: boolean
  owner?: string
  setting?: Setting
}

export const NO_TENANT: Tenant = { team: '', org: '', cell: '', clock_offset_s: 0, settings: {} }

/** The current instant of a team's clock. */
export const teamNow = (tenant: Tenant): Date => truncateToSeconds(addSeconds(systemNow(), tenant.clock_offset_s))

/** Constraint name → the response when a statement violates it. Modules declare theirs in their records. */
export type ConstraintErrors = Record<string, () => Problem>
