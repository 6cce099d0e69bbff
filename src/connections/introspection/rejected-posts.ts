// The list of posts that were rejected, whole or in part.
import { notDeleted } from '../../people/users/users.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { sql } from '../../platform/db/sql.ts'
import { Pages, uuidKey } from '../../platform/http/list-pages.ts'
import { rejectedPosts } from '../../wearables/ingestion/rejected-posts.ts'
import { nameKey } from './repeated-posts.ts'
import type { RejectedPostsPage, RepeatedPostsQuery } from './schema.ts'

const rowKeys = [uuidKey(sql`user_id`), nameKey(sql`provider`), nameKey(sql`resource`), digestKey()]

/** Sorts by the digest of a post, in hexadecimal digits. */
function digestKey() {
  return { column: sql`encode(digest, 'hex')`, cast: sql`::text`, part: (text: string) => /^[0-9a-f]{64}$/.test(text) }
}

/**
 * Lists posts that were rejected within 30 days, whole or in part, in the order of the ids of users, with the number of identical ones.
 * Errors: 400 a cursor of another list.
 */
export async function listRejectedPosts(tx: Tx, query: RepeatedPostsQuery): Promise<RejectedPostsPage> {
  const { user_id, provider } = query
  const pages = new Pages(`rejected posts ${user_id ?? ''} ${provider ?? ''}`, query, rowKeys, { order: 'asc' })
  const rows = await rejectedPosts(
    tx,
    sql`user_id = coalesce(${user_id ?? null}, user_id) and provider = coalesce(${provider ?? null}, provider)
        and ${notDeleted(tx, sql`user_id`)} and ${pages.afterCursor} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, (row) => [row.user_id, row.provider, row.resource, row.digest])
  const data = page.map(({ digest: _digest, records, message, first_at, last_at, ...row }) => ({
    ...row,
    rejected: records,
    error_message: message,
    first_post_at: first_at,
    last_post_at: last_at,
  }))
  return { data, next_cursor }
}
