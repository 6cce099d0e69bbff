// The lists of what clients posted: the same data again and again, what was rejected, and what phones report about their synchronization.
import { notDeleted } from '../../people/users/users.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { sql } from '../../platform/db/sql.ts'
import { Pages, uuidKey, type Key } from '../../platform/http/list-pages.ts'
import { repeatedPosts } from '../../wearables/ingestion/repeated-posts.ts'
import type { RepeatedPostsPage, RepeatedPostsQuery, RejectedPostsPage, SyncReportQuery, SyncReportsPage } from './schema.ts'
import { rejectedPosts } from '../../wearables/ingestion/rejected-posts.ts'
import { syncReports } from '../mobile-sdk/sync-reports.ts'

/** Sorts by a name of a provider or resource. */
const nameKey = (column: ReturnType<typeof sql>): Key => ({
  column,
  cast: sql`::text`,
  part: (text) => /^\w{1,60}$/.test(text),
})
/** Sorts by the digest of a post, in hexadecimal digits. */
const digestKey: Key = {
  column: sql`encode(digest, 'hex')`,
  cast: sql`::text`,
  part: (text) => /^[0-9a-f]{64}$/.test(text),
}
const providerKeys = [uuidKey(sql`user_id`), nameKey(sql`provider`)]
const resourceKeys = [...providerKeys, nameKey(sql`resource`)]

/** A page of a list, in the order of the ids of users, and the conditions of its rows. */
function pageOfUsers(tx: Tx, name: string, query: SyncReportQuery, keys: readonly Key[], limit?: number) {
  const { user_id, provider } = query
  const pages = new Pages(`${name} ${user_id ?? ''} ${provider ?? ''}`, query, keys, { ...(limit && { limit }), order: 'asc' })
  const conditions = sql`
    user_id = coalesce(${user_id ?? null}, user_id) and provider = coalesce(${provider ?? null}, provider)
    and ${notDeleted(tx, sql`user_id`)} and ${pages.afterCursor} ${pages.order}`
  return { pages, conditions }
}

/** Lists the users, providers and resources of which a client sends the same data again and again. Errors: 400 a cursor of another list. */
export async function listRepeatedPosts(tx: Tx, query: RepeatedPostsQuery): Promise<RepeatedPostsPage> {
  const { pages, conditions } = pageOfUsers(tx, 'repeated posts', query, resourceKeys)
  const rows = await repeatedPosts(tx, conditions)
  const { page, next_cursor } = pages.cut(rows, (row) => [row.user_id, row.provider, row.resource])
  const data = page.map(({ first_at, last_at, ...row }) => ({ ...row, first_post_at: first_at, last_post_at: last_at }))
  return { data, next_cursor }
}

/**
 * Lists posts that were rejected within 30 days, whole or in part, with the number of identical ones. Errors: 400 a cursor of another list.
 */
export async function listRejectedPosts(tx: Tx, query: RepeatedPostsQuery): Promise<RejectedPostsPage> {
  const { pages, conditions } = pageOfUsers(tx, 'rejected posts', query, [...resourceKeys, digestKey])
  const rows = await rejectedPosts(tx, conditions)
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

const REPORTS = 20

/** Lists the newest report of each user and provider. Errors: 400 a cursor of another list. */
export async function listSyncReports(tx: Tx, query: SyncReportQuery): Promise<SyncReportsPage> {
  const { pages, conditions } = pageOfUsers(tx, 'sync reports', query, providerKeys, REPORTS)
  const rows = await syncReports(tx, conditions)
  const { page, next_cursor } = pages.cut(rows, (row) => [row.user_id, row.provider])
  return { data: page, next_cursor }
}
