// The list of clients that send the same data again and again.
import { notDeleted } from '../../people/users/users.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { sql } from '../../platform/db/sql.ts'
import { Pages, uuidKey, type Key } from '../../platform/http/list-pages.ts'
import { repeatedPosts } from '../../wearables/ingestion/repeated-posts.ts'
import type { RepeatedPostsPage, RepeatedPostsQuery } from './schema.ts'

/** Sorts by a name of a provider or resource. */
export const nameKey = (column: ReturnType<typeof sql>): Key => ({
  column,
  cast: sql`::text`,
  part: (text) => /^\w{1,60}$/.test(text),
})
const rowKeys = [uuidKey(sql`user_id`), nameKey(sql`provider`), nameKey(sql`resource`)]

/**
 * Lists the users, providers and resources of which a client sends the same data again and again, in the order of the ids of users.
 * Errors: 400 a cursor of another list.
 */
export async function listRepeatedPosts(tx: Tx, query: RepeatedPostsQuery): Promise<RepeatedPostsPage> {
  const { user_id, provider } = query
  const pages = new Pages(`repeated posts ${user_id ?? ''} ${provider ?? ''}`, query, rowKeys, { order: 'asc' })
  const rows = await repeatedPosts(
    tx,
    sql`user_id = coalesce(${user_id ?? null}, user_id) and provider = coalesce(${provider ?? null}, provider)
        and ${notDeleted(tx, sql`user_id`)} and ${pages.afterCursor} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, (row) => [row.user_id, row.provider, row.resource])
  const data = page.map(({ first_at, last_at, ...row }) => ({ ...row, first_post_at: first_at, last_post_at: last_at }))
  return { data, next_cursor }
}
