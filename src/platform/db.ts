// Transactions. One request, one transaction, one instant. What runs inside one cannot reach the network: `Tx` offers no way to it.
//
// A transaction costs as few statements as it can. `begin` is sent with the first statement that writes or locks: reading before that
// is the same inside and outside a transaction, since every statement sees the latest commit. A statement locks when it is sent through
// `locking`; it writes when it is no `select`. Deferred writes are sent as one
// statement at the end; when nothing else has written, that statement is the transaction. Statements that do not wait for each other
// travel pipelined. A request that reads, decides and writes therefore waits for the database twice, and once where it remembers what
// it would read.
import pg from 'pg'
import type { Static, TSchema } from 'typebox'
import { uuid } from './uuid.ts'
import { machineNow, plusSeconds, wholeSeconds } from './clock.ts'
import { busy, type Problem } from './errors.ts'
import { LoneWriters } from './lone-writers.ts'
import { Numbers } from './numbers.ts'
import { compiled, queriesOver } from './queries.ts'
import { Remembered } from './remembered.ts'
import { SharedConnection } from './shared-connection.ts'
import type { Sql } from './sql.ts'
import { WriteTx, type Memory } from './write-tx.ts'

export const cellNames = ['sandbox-us', 'sandbox-eu', 'production-us', 'production-eu'] as const
/** Environment × region: the unit of storage and of a key's validity. */
export type CellName = (typeof cellNames)[number]

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
}

/** What a statement can be run on. Rows are promises of their schema, verified in tests. */
export interface Queries {
  run(q: Sql): Promise<number>
  many<S extends TSchema>(row: S, q: Sql): Promise<Static<S>[]>
  maybe<S extends TSchema>(row: S, q: Sql): Promise<Static<S> | undefined>
  one<S extends TSchema>(row: S, q: Sql): Promise<Static<S>>
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
  gather<I>(item: I, write: (tx: Tx, items: I[]) => Sql): void
  /** Called once after the commit, never after a rollback. Must not throw: an error is reported and changes nothing. */
  afterCommit(call: () => void): void
  /** What a team's transactions in this process remember under a key is not true any more, after the commit. */
  forget(team: string, key: string): void
}

/** A transaction of one team at one instant of that team's clock. */
export interface Tx extends PlainTx {
  readonly team: string
  readonly tenant: Tenant
  /**
   * As `maybe`, for a read by key of what this transaction has not written. It travels on a connection shared with other requests,
   * so it must be quick.
   */
  lookUp<S extends TSchema>(row: S, q: Sql): Promise<Static<S> | undefined>
  /** The next numbers of a sequence, ascending and above one that was taken before. At most 64. */
  numbers(sequence: string, count: number, above?: number): Promise<number[]>
  /** Tell the worker, after the commit, that there is work to do now. */
  wake(): void
  /** Tell who delivers, after the commit, that there are events or deliveries. */
  wakeDelivery(): void
  /**
   * What changes seldom, as it was at most 4 s ago, for every transaction of the team in this process. Absence is not remembered.
   * A write that must not lean on what has changed since makes a required column null then: the transaction is run once more, with
   * nothing remembered.
   */
  remember<V>(key: string, load: () => Promise<V | undefined>): Promise<V | undefined>
}

/** How long keys, teams and what they seldom change are taken as known. */
export const REMEMBERED_MS = 4000

pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => `${text.replace(' ', 'T')}:00`)
pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text)
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

export type Connection =
  { connectionString: string } | { host: string; port: number; user: string; password: string; database: string }

export interface DbOptions {
  connection: Connection
  schema: string
  connections_max: number
  /** Compare every row with its schema. On in tests. */
  checkRows: boolean
}

const ignore = () => {}

const ATTEMPTS_MAX = 3
const TRANSIENT = new Set(['40001', '40P01'])

const NOT_NULL_VIOLATION = '23502'

const RELAXED_CONNECTIONS = 2

const settingsOf = (options: DbOptions, more = '') => ({
  ...options.connection,
  pipeline: true,
  connectionTimeoutMillis: 10_000,
  application_name: 'drawbridge',
  options: `-c search_path=${options.schema} -c timezone=UTC -c statement_timeout=30000 -c lock_timeout=5000 -c idle_in_transaction_session_timeout=30000 ${more}`,
})

function poolOf(options: DbOptions, max: number, more = ''): pg.Pool {
  const pool = new pg.Pool({ ...settingsOf(options, more), max, idleTimeoutMillis: 60_000 } as pg.PoolConfig)
  // A connection that breaks is replaced at the next use; the statement that meets a broken one reports it. Without listeners the
  // break itself would end the process, of an idle connection and of one in use.
  pool.on('error', ignore)
  pool.on('connect', (client) => client.on('error', ignore))
  return pool
}

/** The connections to one schema: a cell or the control plane. */
export class Db {
  readonly pool: pg.Pool
  readonly #relaxedPool: pg.Pool
  readonly #shared: SharedConnection
  readonly #lone: LoneWriters
  readonly #checkRows: boolean
  readonly #known = new Remembered<unknown>({ lifetime_ms: REMEMBERED_MS, size_max: 20_000 })
  readonly #numbers = new Numbers(() => this.#lookUps)
  /** Called after a commit that queued work due now. Set by the worker of this process, if there is one. */
  onWork: () => void = ignore
  /** Called after a commit that left something to deliver. Set by who delivers in this process, if somebody does. */
  onEvents: () => void = ignore
  /** Called with what a call after a commit has thrown. Set by the process, which writes it to its log. */
  onError: (error: unknown) => void = ignore

  constructor(options: DbOptions) {
    this.#checkRows = options.checkRows
    this.pool = poolOf(options, options.connections_max)
    this.#relaxedPool = poolOf(options, RELAXED_CONNECTIONS, '-c synchronous_commit=off')
    this.#shared = new SharedConnection(settingsOf(options) as pg.ClientConfig)
    this.#lone = new LoneWriters(settingsOf(options) as pg.ClientConfig, Math.ceil(options.connections_max / 2))
  }

  /** How the connections for requests and jobs are used: idle, busy, and how many statements and transactions wait for one. */
  get use(): { idle: number; busy: number; waited_for: number } {
    const { idleCount, totalCount, waitingCount } = this.pool
    const { idle, busy, waited_for } = this.#lone.use
    return { idle: idleCount + idle, busy: totalCount - idleCount + busy, waited_for: waitingCount + waited_for }
  }

  /** Statements outside any transaction, each on its own. */
  get queries(): Queries {
    return queriesOver((q) => this.pool.query(compiled(q)), this.#checkRows)
  }

  get #lookUps(): Queries {
    return queriesOver((q) => this.#shared.query(compiled(q)), this.#checkRows)
  }

  /** Statements that a crash may undo within its last moments: bookkeeping that is merely repeated then. */
  get relaxed(): Queries {
    return queriesOver((q) => this.#relaxedPool.query(compiled(q)), this.#checkRows)
  }

  /**
   * Run `work` as one transaction at team time. Repeated up to 3 times on serialization failure or deadlock, 503 after that; and once
   * when it leant on something remembered that is no longer so.
   * @param guard a select that goes with `begin`, in the same write: unless it selects a row, what the transaction writes is not committed
   *   and LeaseLost is thrown. Its lock is held until the transaction ends.
   */
  async tx<R>(tenant: Tenant, work: (tx: Tx) => Promise<R>, at?: Date, pool = this.pool, guard?: Sql): Promise<R> {
    let mayRecall = true
    for (let attempt = 1; ; attempt++) {
      const tx = new WriteTx(tenant, at ?? teamNow(tenant), {
        connect: () => pool.connect(),
        alone: (statement) => (pool === this.pool ? this.#lone : pool).query(statement),
        lookUp: this.#lookUps.maybe,
        numbers: this.#numbers,
        memory: this.#memory,
        mayRecall,
        forget: (team, key) => this.#known.delete(`${team} ${key}`),
        listeners: this,
        checkRows: this.#checkRows,
        guard,
      })
      try {
        const result = await work(tx)
        await tx.commit()
        return result
      } catch (error) {
        await tx.rollback()
        const { code = '' } = error as { code?: string }
        if (code === NOT_NULL_VIOLATION && tx.recalled) mayRecall = false
        else if (!TRANSIENT.has(code)) throw error
        if (attempt === ATTEMPTS_MAX) throw busy('Too much contention, try again')
      }
    }
  }

  /** As `tx`, for writes that belong to no team. */
  async plainTx<R>(work: (tx: PlainTx) => Promise<R>): Promise<R> {
    return this.tx(NOBODY, work)
  }

  /** As `plainTx`, for what is simply done again when a crash undoes it: the commit does not wait for the disk. */
  async relaxedTx<R>(work: (tx: PlainTx) => Promise<R>): Promise<R> {
    return this.tx(NOBODY, work, undefined, this.#relaxedPool)
  }

  /** Run `work` with statements that each see the latest commit; it cannot write or lock. */
  async read<R>(tenant: Tenant, work: (tx: Tx) => Promise<R>): Promise<R> {
    return work({
      ...this.queries,
      locking: LOCKING_FORBIDDEN,
      lookUp: this.#lookUps.maybe,
      team: tenant.team,
      tenant,
      now: teamNow(tenant),
      uuid,
      defer: forbidden,
      gather: forbidden,
      afterCommit: forbidden,
      wake: forbidden,
      wakeDelivery: forbidden,
      numbers: forbidden,
      forget: forbidden,
      remember: (key, load) => this.#memory.recall(tenant, key, load),
    })
  }

  readonly #memory: Memory = {
    recall: async (tenant, key, load, used) => {
      const remembered = this.#known.get(`${tenant.team} ${key}`)
      if (remembered === undefined) return this.#memory.renew(tenant, key, load)
      used?.()
      return remembered as Awaited<ReturnType<typeof load>>
    },
    renew: async (tenant, key, load) => {
      const found = await load()
      if (found !== undefined) this.#known.set(`${tenant.team} ${key}`, found)
      return found
    },
  }

  async close(): Promise<void> {
    await Promise.all([this.pool.end(), this.#relaxedPool.end(), this.#shared.close(), this.#lone.close()])
  }
}

const forbidden = () => {
  throw new Error('a read cannot write or lock')
}
const LOCKING_FORBIDDEN: Queries = { run: forbidden, many: forbidden, maybe: forbidden, one: forbidden }

const NOBODY: Tenant = { team: '', org: '', cell: 'sandbox-us', clock_offset_s: 0, settings: {} }

/** The instant a team's clock shows. */
export const teamNow = (tenant: Tenant): Date => wholeSeconds(plusSeconds(machineNow(), tenant.clock_offset_s))

/** Constraint name → the answer when a statement violates it. Modules export theirs; app.ts puts them together. */
export type ConstraintAnswers = Record<string, () => Problem>
