// The connections of this process to one schema, by what they are used for, with their deadlines and bounds. How they are used within
// transactions stands in db.ts.
import pg from 'pg'
import { Client } from './client.ts'
import { ConnectionWatch, DEADLINES, type Deadlines } from './connection-watch.ts'
import { LoneWriters } from './lone-writers.ts'
import { SharedConnection } from './shared-connection.ts'
import { Lending } from './shares.ts'

export type Connection =
  { connectionString: string } | { host: string; port: number; user: string; password: string; database: string }

export interface ConnectionOptions {
  connection: Connection
  schema: string
  connections_max: number
  /** Most of those connections that one team's requests hold at once; half of them unless it is said. */
  team_connections_max?: number | undefined
  /** In place of those that apply elsewhere. */
  deadlines?: Partial<Deadlines>
}

const ignore = () => {}

const RELAXED_CONNECTIONS = 2

/** How long statements that run may take when the connections are closed. */
const CLOSE_MS = 2000

const settingsOf = (options: ConnectionOptions, more = '') => ({
  ...options.connection,
  pipeline: true,
  connectionTimeoutMillis: options.deadlines?.connect_ms ?? DEADLINES.connect_ms,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  application_name: 'drawbridge',
  options: `-c search_path=${options.schema} -c timezone=UTC -c statement_timeout=30000 -c lock_timeout=${options.deadlines?.lock_ms ?? DEADLINES.lock_ms} -c idle_in_transaction_session_timeout=30000 ${more}`,
})

function poolOf(options: ConnectionOptions, max: number, more = ''): pg.Pool {
  const pool = new pg.Pool({ ...settingsOf(options, more), Client, max, idleTimeoutMillis: 60_000 } as pg.PoolConfig)
  // A connection that breaks is replaced at the next use; the statement that meets a broken one reports it. Without listeners the
  // break itself would end the process, of an idle connection and of one in use.
  pool.on('error', ignore)
  pool.on('connect', (client) => client.on('error', ignore))
  return pool
}

export class Connections {
  readonly pool: pg.Pool
  /** Of the pool: for transactions, and for statements that may take a while. */
  readonly lending: Lending
  /** As `lending`, where the commit does not wait for the disk. */
  readonly relaxed: Lending
  /** For reads by key. */
  readonly shared: SharedConnection
  /** For transactions that are one statement. */
  readonly lone: LoneWriters
  /** For the question whether the database serves, and for nothing else. */
  readonly readiness: SharedConnection
  readonly #relaxedPool: pg.Pool
  readonly #watch: ConnectionWatch

  constructor(options: ConnectionOptions) {
    const { connections_max } = options
    const deadlines = { ...DEADLINES, ...options.deadlines }
    const { wait_ms } = deadlines
    const team_connections_max = options.team_connections_max ?? Math.max(2, Math.ceil(connections_max / 2))
    this.pool = poolOf(options, connections_max)
    this.lending = new Lending(this.pool, { connections_max, team_connections_max, wait_ms })
    this.#relaxedPool = poolOf(options, RELAXED_CONNECTIONS, '-c synchronous_commit=off')
    const relaxed = { connections_max: RELAXED_CONNECTIONS, team_connections_max: RELAXED_CONNECTIONS, wait_ms }
    this.relaxed = new Lending(this.#relaxedPool, relaxed)

    const config = settingsOf(options) as pg.ClientConfig
    const isLent = (client: pg.Client) => this.lending.isLent(client) || this.relaxed.isLent(client)
    this.#watch = new ConnectionWatch(config, deadlines, isLent)
    const onConnect = (client: pg.ClientBase) => this.#watch.add(client)
    for (const pool of [this.pool, this.#relaxedPool]) pool.on('connect', onConnect)
    this.shared = new SharedConnection(config, onConnect)
    this.readiness = new SharedConnection(config, onConnect)
    this.lone = new LoneWriters(config, Math.ceil(connections_max / 2), onConnect)
  }

  /** How the connections for requests and jobs are used: idle, busy, and how many statements and transactions wait for one. */
  get use(): { idle: number; busy: number; waited_for: number } {
    const { idleCount, totalCount } = this.pool
    const { idle, busy, waited_for } = this.lone.use
    return { idle: idleCount + idle, busy: totalCount - idleCount + busy, waited_for: this.lending.waiting + waited_for }
  }

  /** End every connection, when its statements are over; those that are still open after a moment are destroyed. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#watch.close(), CLOSE_MS)
    const shared = [this.shared, this.readiness, this.lone]
    await Promise.all([this.pool.end(), this.#relaxedPool.end(), ...shared.map((one) => one.close())])
    clearTimeout(timer)
    this.#watch.close()
  }
}
