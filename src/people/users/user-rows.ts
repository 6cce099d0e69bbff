// Users as rows of a table: what people look through, page by page.
import type { Tx } from '../../platform/db/transaction.ts'
import { instantKey, Pages, uuidKey } from '../../platform/http/list-pages.ts'
import { likeAnywhere, sql } from '../../platform/db/sql.ts'
import { UserRow, type UserRowQuery } from './schema.ts'
import { countUsers } from './users.ts'

/**
 * A page of users, newest first, without deleted ones; with `search_input` those whose id begins with it or whose client user id contains it.
 * The total is null for a search. Errors: 400 a cursor of another list.
 */
export async function listUserRows(tx: Tx, query: UserRowQuery) {
  const { search_input: text } = query
  const pages = new Pages(`user rows ${tx.team} ${text ?? ''}`, query, [instantKey(sql`u.created_on`), uuidKey(sql`u.id`)])
  const matches = text
    ? sql`(starts_with(u.id::text, ${text.toLowerCase()}) or u.client_user_id ilike ${likeAnywhere(text)})`
    : sql`true`
  // One after the other: a request holds one connection at a time.
  const total = text ? null : await countUsers(tx)
  const rows = await tx.many(
    UserRow,
    sql`
    select u.id as user_id, u.client_user_id, u.created_on, d.document ->> 'first_name' as first_name,
           d.document ->> 'last_name' as last_name, d.document ->> 'dob' as dob, d.document ->> 'gender' as gender,
           jsonb_array_length(u.connected_sources) as connected_source_count
    from "user" u left join user_demographics d on d.user_id = u.id and d.team_id = u.team_id
    where u.team_id = ${tx.team} and u.deleted_at is null and ${matches} and ${pages.afterCursor} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, ({ created_on, user_id }) => [created_on, user_id])
  return { data: page, total, next_cursor }
}
