// The queue of text messages: messages of a cell with a gateway wait in it; other messages are only recorded.
import { userNotDeleted } from '../../people/users/users.ts'
import { dbUuidOfAge } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Queries } from '../../platform/db/transaction.ts'
import { messageQueue } from '../../platform/queue/message-queue.ts'
import { T, type Static } from '../../platform/schema/schema.ts'

/** A message older than this is not sent. */
const LIFETIME_S = 86_400
/** A message that was not sent is listed and counted for so long; nothing deletes it before its order or user is erased. */
const LISTED_S = 7 * 86_400

const ClaimedText = T.Object({
  order_id: T.String(),
  id: T.String(),
  team_id: T.String(),
  recipient: T.String(),
  body: T.String(),
  attempts: T.Integer(),
  fence: T.Integer(),
})
export type ClaimedText = Static<typeof ClaimedText>

export const textQueue = messageQueue({
  name: 'patient_message',
  key: { team_id: 'uuid', order_id: 'uuid', id: 'uuid' },
  row: ClaimedText,
  lease_s: 60,
  isExpired: sql`id < ${dbUuidOfAge(LIFETIME_S)}`,
  dead: { listed_s: LISTED_S, listedColumns: { team_id: T.String(), order_id: T.String(), kind: T.String() } },
})

const Held = T.Object({ held: T.Boolean() })

/** Whether a text message is about an order of a deleted user. It is not sent unless the deletion is undone. */
export async function isHeldText(queries: Queries, { order_id, team_id }: ClaimedText): Promise<boolean> {
  const row = await queries.maybe(
    Held,
    sql`
    select not ${userNotDeleted(sql`o.user_id`, sql`o.team_id`)} as held
    from (select ${order_id}::uuid as id, ${team_id}::uuid as team_id) m
    left join lab_order o on o.id = m.id and o.team_id = m.team_id`,
  )
  return row?.held ?? true
}
