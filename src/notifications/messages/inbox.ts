// The messages of a team to its patients, newest first: the inbox of a sandbox, and in production what was sent to whom and when.
import { notAmongDeleted } from '../../people/users/users.ts'
import { Pages, uuidKey } from '../../platform/http/list-pages.ts'
import { joinConditions, sql, type Sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { InboxMessage, type InboxQuery } from './schema.ts'

/**
 * A page of the team's messages, without those about orders of deleted users. Their texts are shown in sandboxes only. Errors: 400 a cursor of
 * another list.
 */
export async function listInbox(tx: Tx, query: InboxQuery) {
  const { user_id, order_id, channel, state } = query
  const list = `inbox ${tx.team} ${JSON.stringify([user_id, order_id, channel, state])}`
  const pages = new Pages(list, query, [uuidKey(sql`p.id`)])
  const conditions: Sql[] = [pages.afterCursor]
  if (order_id !== undefined) conditions.push(sql`p.order_id = ${order_id}`)
  if (user_id !== undefined)
    conditions.push(sql`
      p.order_id = any (array(select id from lab_order where user_id = ${user_id} and team_id = ${tx.team}))`)
  if (channel !== undefined) conditions.push(sql`p.channel = ${channel}`)
  if (state !== undefined) conditions.push(sql`${deliveryState} = ${state}`)
  // Mail is not with the rows of the team (table-placement.ts): the query of deleted users may name no column of this statement.
  const text = tx.tenant.cell.startsWith('sandbox')
  const rows = await tx.many(
    InboxMessage,
    sql`
    select p.id, p.order_id, o.user_id, p.kind, p.channel, p.recipient, ${text ? sql`m.subject` : sql`null`} as subject,
           ${text ? sql`p.body` : sql`null`} as body, ${deliveryState} as state, coalesce(m.error, p.error) as error, p.created_at
    from patient_message p
    join lab_order o on o.id = p.order_id and o.team_id = p.team_id
    left join mail m on m.id = p.mail_id
    where p.team_id = ${tx.team} and ${notAmongDeleted(tx, sql`o.user_id`)} and ${joinConditions(conditions)} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, ({ id }) => [id])
  return { data: page, next_cursor }
}

/** The state of a message `p`; of an email that of its mail `m`. */
const deliveryState = sql`case when p.mail_id is null then p.state else m.state end`
