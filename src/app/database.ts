// Opens the database of a process and checks its schemas. It imports nothing of the server, so that commands start quickly.
import { mkdirSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Cells, schemaOf, type CellOptions } from '../platform/db/cells.ts'
import type { Config } from '../settings/config.ts'
import type { CellName } from '../settings/cells.ts'
import { connectionsOf } from '../platform/db/connections.ts'
import { isDistributed, refuseRowSecurity } from '../platform/db/distribution.ts'
import type { Connection } from '../platform/db/database.ts'
import { checkSessions } from '../platform/db/session-check.ts'
import { clusterFolder } from '../platform/embedded-postgres/cluster.ts'
import { openEmbedded, type Embedded } from '../platform/embedded-postgres/embedded-postgres.ts'
import type { Log } from '../platform/telemetry/log.ts'
import { requireUsable } from '../platform/db/migrations.ts'

/** How long connections may take to end; those of the embedded server end with it. */
const CLOSE_MS_MAX = 5_000

/** The database of this process: its cells, and the embedded server if there is one. */
export interface Database {
  cells: Cells
  connectionOf: (name: CellName | 'control') => Connection
  embeddedServer: Embedded | undefined
  close(): Promise<void>
}

/**
 * Opens the database: the one in the settings, or the embedded one below the data folder.
 * @param ownership `required` for a server: a second one on the same folder is rejected with `DataDirInUse`
 * @param create whether a missing embedded database is created; otherwise that is an Error, and nothing is created
 */
export async function openDatabase(
  config: Config,
  log: Log,
  { ownership, create }: { ownership: 'required' | 'if-free'; create: boolean },
): Promise<Database> {
  const external = config.database_urls.control !== undefined
  if (!external && !create && !isThere(clusterFolder(resolve(config.data_dir))))
    throw new Error(
      `There is no database in ${resolve(config.data_dir)}. "bin/drawbridge start" makes one there; DATA_DIR names another folder, DATABASE_URL a PostgreSQL of yours.`,
    )
  if (!external) mkdirSync(resolve(config.data_dir), { recursive: true, mode: 0o700 })
  const embedded = external
    ? undefined
    : await openEmbedded({ dataDir: resolve(config.data_dir), ownership, log: (message) => log.info(message) })
  const connectionOf = (name: CellName | 'control'): Connection =>
    embedded ? embedded.connection : { connectionString: config.database_urls[name]! }
  const options = (name: CellName | 'control'): CellOptions => ({
    connection: connectionOf(name),
    connections_max: config.connections_max,
    team_connections_max: config.team_connections_max,
    row_security: config.row_security,
    checkRows: config.check,
  })
  const cells = new Cells(options('control'), new Map(config.cells.map((name) => [name, options(name)])))
  return {
    cells,
    connectionOf,
    embeddedServer: embedded,
    async close() {
      await Promise.race([cells.close(), sleep(CLOSE_MS_MAX, undefined, { ref: false })])
      await embedded?.stop()
    },
  }
}

/**
 * Checks every PostgreSQL of the operator's that this process uses, and warns if it accepts fewer connections than this process and those
 * that run already may open. Errors: SharedSessions; Error if no connection can be made. The embedded database needs no check.
 */
export async function checkServers(config: Config, { connectionOf, embeddedServer }: Database, log: Log): Promise<void> {
  if (embeddedServer) return
  const servers = new Map<string, { connection: Connection; connections: number }>()
  for (const { name, schema } of schemasOf(config)) {
    const connection = connectionOf(name)
    const own = connectionsOf({ ...config, schema })
    const { connections } = servers.get(JSON.stringify(connection)) ?? { connections: 0 }
    servers.set(JSON.stringify(connection), { connection, connections: connections + own })
  }
  for (const { connection, connections } of servers.values()) {
    const { limit, of_others } = await checkSessions(connection)
    if (connections + of_others <= limit) continue
    log.warn(
      { connections, connections_of_others: of_others, limit },
      'PostgreSQL accepts fewer connections than the processes may open: lower DATABASE_CONNECTIONS or the number of processes or cells, or raise max_connections',
    )
  }
}

/** Also if the folder is not readable: opening the database reports that. */
function isThere(folder: string): boolean {
  try {
    return statSync(folder, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOTDIR'
  }
}

/**
 * Checks that this program can work with every schema of this process; changes nothing. Errors: MigrationError, also if row-level security is
 * not off although tables are on Citus.
 */
export async function requireUsableSchemas(config: Config, { cells }: Database): Promise<void> {
  for (const { name, schema, kind } of schemasOf(config)) {
    const db = name === 'control' ? cells.control : cells.db(name)
    await requireUsable(db.queries, schema, kind)
    if (config.row_security !== 'off' && (await isDistributed(db.queries, schema))) refuseRowSecurity(schema)
  }
}

/** The schemas of a process: the control plane and its cells. */
export const schemasOf = ({ cells }: Config) => [
  { name: 'control' as const, schema: 'control', kind: 'control' as const },
  ...cells.map((name) => ({ name, schema: schemaOf(name), kind: 'cell' as const })),
]
