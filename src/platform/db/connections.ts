// The connections of this process to one schema: pools for transactions and pipelined connections for single statements, with their deadlines
// and limits. database.ts shows how transactions use them.
import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { ConnectionPool } from './connection-pool.ts'
import { ConnectionWatch, DEADLINES, type Deadlines } from './connection-watch.ts'
import { ASYNC_COMMIT, teamSetting, type DatabaseConnection } from './database-connection.ts'
import { isDistributedIn } from './distribution.ts'
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

type CountedOptions = Pick<ConnectionOptions, 'schema' | 'connections_max' | 'row_security'>

/** The connections that a process may open to one schema, by purpose. */
function connectionCounts({ schema, connections_max, row_security }: CountedOptions) {
  const half = Math.ceil(connections_max / 2)
  const hasTeams = schema !== 'control' && row_security !== 'off'
  return {
    hasTeams,
    /** Work on the whole cell holds two at once; a third stays free for quick statements. */
    cell: hasTeams ? Math.max(3, half) : connections_max,
    teams: hasTeams ? connections_max : 0,
    lookUps: half,
    writes: half,
    readiness: 1,
  }
}

/** How many connections a process may open to one schema. */
export function connectionsOf(options: CountedOptions): number {
  const { cell, teams, lookUps, writes, readiness } = connectionCounts(options)
  return cell + teams + lookUps + writes + readiness
}

/** The start of the application names of all connections for requests and jobs; the number of the connections of the schema is their end. */
export const APPLICATION = 'drawbridge process'
/** Tells the processes of an installation apart. */
const PROCESS = randomBytes(4).toString('hex')

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
  #isDistributed = false

  constructor(options: ConnectionOptions) {
    const { connection, schema, connections_max } = options
    const counts = connectionCounts(options)
    const { team_connections_max = Math.max(2, Math.ceil(connections_max / 2)) } = options
    const deadlines = { ...DEADLINES, ...options.deadlines }
    const { connect_ms, lock_ms, wait_ms } = deadlines
    const config = {
      ...connection,
      pipeline: true,
      connectionTimeoutMillis: connect_ms,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      application_name: `${APPLICATION} ${PROCESS} ${schema} ${connectionsOf(options)}`,
    } as pg.ClientConfig
    this.#watch = new ConnectionWatch(config, deadlines)
    this.hasTeams = counts.hasTeams
    // By a statement, because poolers refuse settings among the parameters of a connection.
    const openSession = `
      select pg_backend_pid() as pid, set_config('search_path', '${schema}', false), set_config('timezone', 'UTC', false),
        set_config('statement_timeout', '30000', false), set_config('lock_timeout', '${lock_ms}', false),
        set_config('idle_in_transaction_session_timeout', '30000', false), ${isDistributedIn(schema)} as is_distributed`
    const onConnect = (reach: Reach) => async (client: DatabaseConnection) => {
      this.#watch.add(client)
      const { rows } = await client.send(openSession)
      client.pid = rows[0].pid
      this.#isDistributed ||= rows[0].is_distributed
      await takeRole(client, options, reach)
      await client.send(reach === 'team' ? teamSetting('') : ASYNC_COMMIT)
    }
    const pool = (reach: Reach, slots: number, team_slots: number) =>
      new ConnectionPool({
        config,
        limits: { slots, team_slots, wait_ms },
        lifetime_ms: NAMES_LIFETIME_MS,
        onConnect: onConnect(reach),
      })
    this.cell = pool('cell', counts.cell, this.hasTeams ? counts.cell : team_connections_max)
    this.teams = this.hasTeams ? pool('team', counts.teams, team_connections_max) : this.cell
    const pipelined = (max: number) =>
      new PipelinedConnections({
        config,
        connections_max: max,
        lifetime_ms: NAMES_LIFETIME_MS,
        onConnect: onConnect(this.hasTeams ? 'team' : 'cell'),
      })
    this.lookUps = pipelined(counts.lookUps)
    this.writes = pipelined(counts.writes)
    this.readiness = pipelined(counts.readiness)
  }

  /** Whether the tables of the schema are on Citus, as the first connection has seen it. */
  get isDistributed(): boolean {
    return this.#isDistributed
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
