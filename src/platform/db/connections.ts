// The connections of this process to one schema: pools for transactions and pipelined connections for single statements, with their deadlines
// and limits. database.ts shows how transactions use them.
import type pg from 'pg'
import { ConnectionPool } from './connection-pool.ts'
import { ConnectionWatch, DEADLINES, type Deadlines } from './connection-watch.ts'
import { ASYNC_COMMIT, teamSetting, type DatabaseConnection } from './database-connection.ts'
import type { RowSecurityMode } from './no-row-security.ts'
import { PipelinedConnections } from './pipelined-connections.ts'
import { NAMES_LIFETIME_MS } from './prepared-statements.ts'
import { takeRole, type Reach } from './row-security.ts'

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

/** How long running statements may take when the connections are closed. */
const CLOSE_MS = 2000

export class Connections {
  /** For work on the whole cell, or the control plane. */
  readonly cell: ConnectionPool
  /** For transactions of teams; the same as `cell` in the control plane, and without row-level security. */
  readonly teams: ConnectionPool
  /** For reads by key. They must be quick, so a write that waits for a lock is not among them. */
  readonly lookUps: PipelinedConnections
  /** For transactions of teams that are one statement. */
  readonly writes: PipelinedConnections
  /** For readiness checks only. */
  readonly readiness: PipelinedConnections
  /** Whether statements of teams see only the rows of their team. */
  readonly hasTeams: boolean
  readonly #watch: ConnectionWatch

  constructor(options: ConnectionOptions) {
    const { connection, schema, connections_max } = options
    const half = Math.ceil(connections_max / 2)
    const { team_connections_max = Math.max(2, half) } = options
    const deadlines = { ...DEADLINES, ...options.deadlines }
    const { connect_ms, lock_ms, wait_ms } = deadlines
    const config = {
      ...connection,
      pipeline: true,
      connectionTimeoutMillis: connect_ms,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      application_name: 'drawbridge',
      options: `-c search_path=${schema} -c timezone=UTC -c statement_timeout=30000 -c lock_timeout=${lock_ms} -c idle_in_transaction_session_timeout=30000`,
    } as pg.ClientConfig
    this.#watch = new ConnectionWatch(config, deadlines)
    this.hasTeams = schema !== 'control' && options.row_security !== 'off'
    const onConnect = (reach: Reach) => async (client: DatabaseConnection) => {
      this.#watch.add(client)
      const { rows } = await client.send('select pg_backend_pid() as pid')
      client.pid = rows[0].pid
      await takeRole(client, options, reach)
      await client.prepare(reach === 'team' ? teamSetting('') : ASYNC_COMMIT)
    }
    const pool = (reach: Reach, slots: number, team_slots: number) =>
      new ConnectionPool({
        config,
        limits: { slots, team_slots, wait_ms },
        lifetime_ms: NAMES_LIFETIME_MS,
        onConnect: onConnect(reach),
      })
    /** Work on the whole cell holds two at once; a third stays free for quick statements. */
    const cell_max = Math.max(3, half)
    this.cell = this.hasTeams ? pool('cell', cell_max, cell_max) : pool('cell', connections_max, team_connections_max)
    this.teams = this.hasTeams ? pool('team', connections_max, team_connections_max) : this.cell
    const pipelined = (max: number) =>
      new PipelinedConnections({
        config,
        connections_max: max,
        lifetime_ms: NAMES_LIFETIME_MS,
        onConnect: onConnect(this.hasTeams ? 'team' : 'cell'),
      })
    this.lookUps = pipelined(half)
    this.writes = pipelined(half)
    this.readiness = pipelined(1)
  }

  /** The state of the connections for requests and jobs: idle, in use, and how many statements and transactions wait for one. */
  get use(): { idle: number; in_use: number; waiting: number } {
    const sum = { ...this.writes.stats }
    for (const { pool, queue } of new Set([this.cell, this.teams])) {
      sum.idle += pool.idleCount
      sum.in_use += pool.totalCount - pool.idleCount
      sum.waiting += queue.waiting
    }
    return sum
  }

  /** Ends every connection after its statements; connections that are still open after a moment are destroyed. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#watch.close(), CLOSE_MS)
    const pools = [...new Set([this.cell.pool, this.teams.pool])]
    const pipelined = [this.lookUps, this.writes, this.readiness]
    await Promise.all([...pools.map((pool) => pool.end()), ...pipelined.map((connections) => connections.close())])
    clearTimeout(timer)
    this.#watch.close()
  }
}
