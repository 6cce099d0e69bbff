// Patients' own choice to receive no messages on a channel: for all orders, also later ones. Owns patient_message_opt_out.
import type { Tx } from '../../platform/db/transaction.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import { channels, type Channel } from './message-rules.ts'

/** Condition that a user has not turned a channel off. */
export const notOptedOut = (tx: Tx, user_id: Sql, channel: Sql): Sql => sql`
  not exists (
    select from patient_message_opt_out c
    where c.team_id = ${tx.team} and c.user_id = ${user_id} and c.channel = ${channel})`

const Row = T.Object({ channel: T.String() })

/** The channels that a user has turned off. */
export async function optedOutChannels(tx: Tx, user_id: string): Promise<Set<Channel>> {
  const rows = await tx.many(
    Row,
    sql`select channel from patient_message_opt_out where team_id = ${tx.team} and user_id = ${user_id}`,
  )
  const names = new Set(rows.map(({ channel }) => channel))
  return new Set(channels.filter((channel) => names.has(channel)))
}

/** Turns a channel of a user off or on. Writes patient_message_opt_out. Messages that already wait are sent. */
export async function setOptOut(tx: Tx, user_id: string, channel: Channel, isOptedOut: boolean): Promise<void> {
  await tx.run(
    isOptedOut
      ? sql`
        insert into patient_message_opt_out (team_id, user_id, channel, created_at)
        values (${tx.team}, ${user_id}, ${channel}, ${tx.now}) on conflict do nothing`
      : sql`
        delete from patient_message_opt_out
        where team_id = ${tx.team} and user_id = ${user_id} and channel = ${channel}`,
  )
}
