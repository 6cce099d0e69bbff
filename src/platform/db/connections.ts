// The connections of this process to one schema, by purpose, with their deadlines and limits. database.ts shows how transactions use them.
import pg from 'pg'
import { Client } from './send-statement.ts'
import { ConnectionWatch, DEADLINES, type Deadlines } from './connection-watch.ts'
import { AutocommitConnections } from './autocommit-connections.ts'
import type { RowSecurityMode } from './no-row-security.ts'
import { takeRole, type Reach } from './row-security.ts'
import { SharedReadConnection } from './shared-connection.ts'
import { Lending } from './shares.ts'

export type Connection =
  { connectionString: string } | { host: string; port: number; user: string; password: string; database: string }

export interface ConnectionOptions {
  connection: Connection
  schema: string
  connections_max: number
  /** Maximum number of those connections that the requests of one team hold at once; default: half of them. */
  team_connections_max?: number | undefined
  /** For databases that are copies of another: the database whose roles they use. */
  installation?: string | undefined
  /** Default: `on`. */
  row_security?: RowSecurityMode | undefined
  /** Replaces the default deadlines. */
  deadlines?: Partial<Deadlines>
}

const ignore = () => {}

const ASYNC_COMMIT_CONNECTIONS = 2

/** How long running statements may take when the connections are closed. */
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

/** Prepares a new connection before its first statement. */
type OnConnect = (client: pg.ClientBase) => Promise<void>

function poolOf(settings: pg.ClientConfig, onConnect: OnConnect, max: number): pg.Pool {
  const pool = new pg.Pool({ ...settings, Client, onConnect, max, idleTimeoutMillis: 60_000 } as pg.PoolConfig)
  // A connection that breaks is replaced at the next use; the statement that uses a broken one reports it. Without listeners the break
  // itself would end the process, for an idle connection and for one in use.
  pool.on('error', ignore)
  pool.on('connect', (client) => client.on('error', ignore))
  return pool
}

export class Connections {
  /** For work on the whole cell, or the control plane. */
  readonly pool: pg.Pool
  /** Connections of the pool. */
  readonly lending: Lending
  /** For transactions of teams; the same as `pool` in the control plane, and without row-level security. */
  readonly teamPool: pg.Pool
  /** Connections of that pool: for transactions of teams, and for their statements that may be slow. */
  readonly teams: Lending
  /** As `lending`, for commits that do not wait for the disk. */
  readonly relaxed: Lending
  /** For reads by key. */
  readonly shared: SharedReadConnection
  /** For transactions that are one statement. */
  readonly lone: AutocommitConnections
  /** For readiness checks only. */
  readonly readiness: SharedReadConnection
  /** Whether statements of teams see only the rows of their team. */
  readonly ofTeams: boolean
  readonly #asyncCommitPool: pg.Pool
  readonly #watch: ConnectionWatch

  constructor(options: ConnectionOptions) {
    const { connections_max } = options
    const deadlines = { ...DEADLINES, ...options.deadlines }
    const { wait_ms } = deadlines
    const team_connections_max = options.team_connections_max ?? Math.max(2, Math.ceil(connections_max / 2))
    const half = Math.ceil(connections_max / 2)
    /** Work on the whole cell holds two at once; a third stays free for quick statements. */
    const ofCell_max = Math.max(3, half)
    this.ofTeams = options.schema !== 'control' && options.row_security !== 'off'
    const [ofCell, ofTeams] = [this.#onConnect(options, 'cell'), this.#onConnect(options, this.ofTeams ? 'team' : 'cell')]
    const config = settingsOf(options) as pg.ClientConfig
    const relaxed = settingsOf(options, '-c synchronous_commit=off') as pg.ClientConfig
    const lend = (pool: pg.Pool, max: number, ofOneTeam: number) =>
      new Lending(pool, { connections_max: max, team_connections_max: ofOneTeam, wait_ms })
    this.pool = poolOf(config, ofCell, this.ofTeams ? ofCell_max : connections_max)
    this.lending = this.ofTeams ? lend(this.pool, ofCell_max, ofCell_max) : lend(this.pool, connections_max, team_connections_max)
    this.teamPool = this.ofTeams ? poolOf(config, ofTeams, connections_max) : this.pool
    this.teams = this.ofTeams ? lend(this.teamPool, connections_max, team_connections_max) : this.lending
    this.#asyncCommitPool = poolOf(relaxed, ofCell, ASYNC_COMMIT_CONNECTIONS)
    this.relaxed = lend(this.#asyncCommitPool, ASYNC_COMMIT_CONNECTIONS, ASYNC_COMMIT_CONNECTIONS)

    const isLent = (client: pg.Client) => [this.lending, this.teams, this.relaxed].some((one) => one.isLent(client))
    this.#watch = new ConnectionWatch(config, deadlines, isLent)
    this.shared = new SharedReadConnection(config, ofTeams)
    this.readiness = new SharedReadConnection(config, ofTeams)
    this.lone = new AutocommitConnections(config, half, ofTeams)
  }

  /** The watch starts before the connection sends anything. */
  #onConnect(options: ConnectionOptions, reach: Reach): OnConnect {
    return async (client) => {
      this.#watch.add(client)
      await takeRole(client, options, reach)
    }
  }

  /** The state of the connections for requests and jobs: idle, in use, and how many statements and transactions wait for one. */
  get use(): { idle: number; in_use: number; waiting: number } {
    const sum = { ...this.lone.stats }
    for (const { idleCount, totalCount } of new Set([this.pool, this.teamPool])) {
      sum.idle += idleCount
      sum.in_use += totalCount - idleCount
    }
    for (const { waiting } of new Set([this.lending, this.teams])) sum.waiting += waiting
    return sum
  }

  /** Ends every connection after its statements; connections that are still open after a moment are destroyed. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#watch.close(), CLOSE_MS)
    const shared = [this.shared, this.readiness, this.lone]
    const pools = new Set([this.pool, this.teamPool, this.#asyncCommitPool])
    await Promise.all([...[...pools].map((pool) => pool.end()), ...shared.map((one) => one.close())])
    clearTimeout(timer)
    this.#watch.close()
  }
}
