// Whether a process can answer callers, and how each of its databases is. These are two questions: a server whose database is away answers
// 503 with `Retry-After` itself, as API and proxy promise, and takes requests again at once when the database is back.
import { setTimeout as sleep } from 'node:timers/promises'
import { schemaOf, type Cells } from './cells.ts'
import type { Db } from './database.ts'
import type { Queries } from './transaction.ts'
import { MigrationError, requireUsable, type MigrationKind } from './migrations.ts'
import { isWithoutResources, NO_RESOURCES } from './outages.ts'
import { sql } from './sql.ts'

/** Time limit of one check of all databases. */
const WITHIN_MS = 3000
/** Longer than a failover: its server stays in rotation and answers 503 with `Retry-After`. A server that is cut off leaves. */
const ABSENCE_MS = 60_000
/** Proxies wait a second. Without an answer in this time, the last one counts. */
const PROMPT_MS = 300

interface ReadinessOptions {
  within_ms?: number
  absence_ms?: number
}

/**
 * A check that returns the reason why this process cannot answer callers; undefined if it can: the schemas are compatible, and the control
 * plane and at least one cell have answered a read within the last 60 s. Callers of a cell whose database is away get 503; those of the
 * others are not affected. Each check reads the table `migration` of each database. It takes 3 s at most, and 0.3 s if the last one succeeded.
 */
export function createReadiness(
  cells: Cells,
  { within_ms = WITHIN_MS, absence_ms = ABSENCE_MS }: ReadinessOptions = {},
): () => Promise<string | undefined> {
  let answered_ms: number | undefined
  let checking: Promise<DatabaseFault | undefined> | undefined
  const isRecent = () => answered_ms !== undefined && performance.now() - answered_ms < absence_ms
  const findFault = async (): Promise<DatabaseFault | undefined> => {
    const [control, ...ofCells] = await Promise.all(databasesOf(cells).map((database) => check(database, within_ms)))
    const unusable = [control, ...ofCells].find((fault) => fault?.isOfSchema)
    const fault = unusable ?? control ?? (ofCells.every((faultOfCell) => faultOfCell !== undefined) ? ofCells[0] : undefined)
    if (!fault) answered_ms = performance.now()
    return fault
  }
  return async () => {
    checking ??= findFault().finally(() => (checking = undefined))
    const fault = await (isRecent() ? Promise.race([checking, sleep(PROMPT_MS)]) : checking)
    return fault && (fault.isOfSchema || !isRecent()) ? fault.reason : undefined
  }
}

/**
 * For the control plane (`control`) and each cell, why it cannot serve, or undefined if it responds in time, has a compatible schema and
 * accepts a write. Writes the only row of `readiness` in each. Takes 3 s at most. Do not call it for every request.
 */
export async function checkDatabases(cells: Cells, within_ms = WITHIN_MS): Promise<Map<string, string | undefined>> {
  return new Map(
    await Promise.all(
      databasesOf(cells).map(async (database) => {
        const fault = await check(database, within_ms, writeRow)
        return [database.name, fault?.reason] as const
      }),
    ),
  )
}

interface Database {
  name: string
  db: Db
  schema: string
  kind: MigrationKind
}

const databasesOf = (cells: Cells): Database[] => [
  { name: 'control', db: cells.control, schema: 'control', kind: 'control' },
  ...cells.names.map((name): Database => ({ name, db: cells.db(name), schema: schemaOf(name), kind: 'cell' })),
]

/** An in-place update of one row needs no disk space. The snapshot needs some: it is a file that disappears with the transaction. */
const writeRow = (queries: Queries) =>
  queries.run(sql`update readiness set checked_at = clock_timestamp() where pg_export_snapshot() is not null`)

interface DatabaseFault {
  reason: string
  isOfSchema: boolean
}

async function check(
  { db, schema, kind }: Database,
  within_ms: number,
  work?: (queries: Queries) => Promise<unknown>,
): Promise<DatabaseFault | undefined> {
  try {
    await db.probe(async (queries) => {
      await requireUsable(queries, schema, kind)
      await work?.(queries)
    }, within_ms)
    return undefined
  } catch (error) {
    return { reason: reasonOf(error), isOfSchema: error instanceof MigrationError }
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof MigrationError) return error.message
  const { code = '' } = error as { code?: string }
  if (code === '25006') return 'The database does not take writes'
  return isWithoutResources(error) ? NO_RESOURCES : 'The database does not answer'
}
