// Whether the databases of this process serve: each responds in time, has compatible schemas, and accepts a write.
import { schemaOf, type Cells } from './cells.ts'
import type { Db } from './database.ts'
import { MigrationError, requireUsable, type MigrationKind } from './migrations.ts'
import { isWithoutResources, NO_RESOURCES } from './outages.ts'
import { sql } from './sql.ts'

/** Total time limit for all databases. */
const WITHIN_MS = 3000

/**
 * Returns the reason why this process cannot serve; undefined if it can. Reads the table `migration` and writes the only row of
 * `readiness`, in the control plane and in each cell. Takes 3 s at most. Do not call it for every request: each call makes one write per
 * database.
 */
export async function notReady(cells: Cells, within_ms = WITHIN_MS): Promise<string | undefined> {
  const reasons = await Promise.all([
    reason(cells.control, 'control', 'control', within_ms),
    ...cells.names.map((name) => reason(cells.db(name), schemaOf(name), 'cell', within_ms)),
  ])
  return reasons.find((reason) => reason !== undefined)
}

async function reason(db: Db, schema: string, kind: MigrationKind, within_ms: number): Promise<string | undefined> {
  try {
    await db.probe(async (queries) => {
      await requireUsable(queries, schema, kind)
      // An in-place update of one row needs no disk space. The snapshot needs some: it is a file that disappears with the transaction.
      await queries.run(sql`update readiness set checked_at = clock_timestamp() where pg_export_snapshot() is not null`)
    }, within_ms)
    return undefined
  } catch (error) {
    if (error instanceof MigrationError) return error.message
    const { code = '' } = error as { code?: string }
    if (code === '25006') return 'The database does not take writes'
    return isWithoutResources(error) ? NO_RESOURCES : 'The database does not answer'
  }
}
