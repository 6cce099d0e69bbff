// Erases the orders of a deleted user or team after the grace period.
import type { Tx } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { deleteCheckpointsFrom } from './list-checkpoints.ts'

const First = T.Object({ created_at: T.String(), id: T.String() })

export async function eraseOrders(tx: Tx, user_id: string): Promise<void> {
  const first = await tx.maybe(
    First,
    sql`
      select created_at, id from lab_order where user_id = ${user_id} and team_id = ${tx.team} order by created_at, id limit 1`,
  )
  if (!first) return
  await deleteCheckpointsFrom(tx, first)
  await tx.run(sql`delete from lab_order where user_id = ${user_id} and team_id = ${tx.team}`)
}
