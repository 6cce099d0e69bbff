// The offsets of nights from UTC, for what is made of their stages.
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'

const Offset = T.Object({ id: T.String(), offset_s: T.Integer() })

/** By the id of a night, the seconds east of UTC where it ended; nights whose offset is not known are missing. */
export async function nightOffsets(tx: Tx, user_id: string, ids: string[]): Promise<Map<string, number>> {
  if (!ids.length) return new Map()
  const rows = await tx.many(
    Offset,
    sql`
    select id, (document ->> 'timezone_offset')::integer as offset_s from summary
    where team_id = ${tx.team} and user_id = ${user_id} and kind = 'sleep' and id = any (${ids}::uuid[])
      and document ->> 'timezone_offset' is not null`,
  )
  return new Map(rows.map(({ id, offset_s }) => [id, offset_s]))
}
