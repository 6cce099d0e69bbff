// Erases the messages to patients with the user or the team, and the emails that carried them.
import type { PlainTx, Tx } from '../../platform/db/transaction.ts'
import type { TeamEraser } from '../../platform/db/erasure.ts'
import { eraseMail } from '../../platform/mail/mail-outbox.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'

const Gone = T.Object({ mail_id: Nullable(T.String()) })

async function erase(tx: PlainTx, deletion: Sql): Promise<number> {
  const deletedMessages = await tx.many(Gone, deletion)
  await eraseMail(
    tx,
    deletedMessages.flatMap(({ mail_id }) => mail_id ?? []),
  )
  return deletedMessages.length
}

export async function eraseMessages(tx: Tx, user_id: string): Promise<void> {
  await erase(
    tx,
    sql`
      delete from patient_message
      where team_id = ${tx.team} and order_id in (select id from lab_order where user_id = ${user_id} and team_id = ${tx.team})
      returning mail_id`,
  )
}

/** Erases the messages of a deleted team, found by its orders. */
export const eraseTeamMessages: TeamEraser = (tx, team_id, rows_max) =>
  erase(
    tx,
    sql`
    delete from patient_message
    where team_id = ${team_id} and ctid = any (array(
      select p.ctid from lab_order o join patient_message p on p.team_id = o.team_id and p.order_id = o.id where o.team_id = ${team_id} limit ${rows_max}))
    returning mail_id`,
  )
