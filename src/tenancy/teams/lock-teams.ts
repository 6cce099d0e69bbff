// Locks the teams of a write against concurrent changes.
import type { PlainTx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'

const Locked = T.Object({ id: T.String() })

/** Prevents other transactions from changing a team's rows until the commit. 404: one of the teams is not in this cell. */
export async function lockTeams(tx: PlainTx, team_ids: readonly string[]): Promise<void> {
  const asked = [...new Set(team_ids)]
  const locked = await tx.locking.many(
    Locked,
    sql`select id from team where id = any (${asked}::uuid[]) order by id for no key update`,
  )
  if (locked.length < asked.length) throw notFound('Team not found')
}
