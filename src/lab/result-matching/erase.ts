// Erasing what laboratories sent about a deleted user or for a deleted team, when the grace is over; before the orders go.
import type { Tx } from '../../platform/db/transaction.ts'
import { sql } from '../../platform/db/sql.ts'

/**
 * Delete what laboratories sent about the user and nobody else; where others come into question the user's orders are gone from the choice.
 * Writes raw_result.
 */
export async function eraseRawResults(tx: Tx, user_id: string): Promise<void> {
  await tx.run(sql`
    with about as materialized (
      select id from raw_result_of_team where user_ids = array[${user_id}::uuid] and team_id = ${tx.team})
    delete from raw_result r using about where r.id = about.id and r.team_id = ${tx.team}`)
}
