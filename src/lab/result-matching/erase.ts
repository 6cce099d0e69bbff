// Erases incoming results of a deleted user or team after the grace period, before the orders are erased.
import type { Tx } from '../../platform/db/transaction.ts'
import { sql } from '../../platform/db/sql.ts'

/**
 * Deletes incoming results that can only belong to the user. If other users are possible, removes the user's orders from the candidates.
 * Writes raw_result.
 */
export async function eraseRawResults(tx: Tx, user_id: string): Promise<void> {
  await tx.run(sql`
    with about as materialized (
      select id from raw_result_of_team where user_ids = array[${user_id}::uuid] and team_id = ${tx.team})
    delete from raw_result r using about where r.id = about.id and r.team_id = ${tx.team}`)
}
