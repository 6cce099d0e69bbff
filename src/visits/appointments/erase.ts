// Erasing the appointments of a deleted user or team, when the grace is over; before the orders go.
import type { Tx } from '../../platform/db/transaction.ts'
import { sql } from '../../platform/db/sql.ts'

export async function eraseAppointments(tx: Tx, user_id: string): Promise<void> {
  await tx.run(sql`
      delete from appointment
      where team_id = ${tx.team} and order_id in (select id from lab_order where user_id = ${user_id} and team_id = ${tx.team})`)
}
