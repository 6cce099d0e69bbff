// Erases the results of a deleted user or team after the grace period, before the orders are erased.
import type { Tx } from '../../platform/db/transaction.ts'
import { sql } from '../../platform/db/sql.ts'

export async function eraseResults(tx: Tx, user_id: string): Promise<void> {
  await tx.run(sql`
      delete from lab_result_pdf
      where team_id = ${tx.team} and order_id in (select id from lab_order where user_id = ${user_id} and team_id = ${tx.team})`)
  await tx.run(sql`
      delete from lab_result
      where team_id = ${tx.team} and order_id in (select id from lab_order where user_id = ${user_id} and team_id = ${tx.team})`)
}
