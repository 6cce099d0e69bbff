// The list of what phones report about their own synchronization.
import { notDeleted } from '../../people/users/users.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { sql } from '../../platform/db/sql.ts'
import { Pages, uuidKey } from '../../platform/http/list-pages.ts'
import { syncReports } from '../mobile-sdk/sync-reports.ts'
import { nameKey } from './repeated-posts.ts'
import type { SyncReportQuery, SyncReportsPage } from './schema.ts'

const REPORTS = 20
const rowKeys = [uuidKey(sql`user_id`), nameKey(sql`provider`)]

/** Lists the newest report of each user and provider, in the order of the ids of users. Errors: 400 a cursor of another list. */
export async function listSyncReports(tx: Tx, query: SyncReportQuery): Promise<SyncReportsPage> {
  const { user_id, provider } = query
  const pages = new Pages(`sync reports ${user_id ?? ''} ${provider ?? ''}`, query, rowKeys, { limit: REPORTS, order: 'asc' })
  const rows = await syncReports(
    tx,
    sql`user_id = coalesce(${user_id ?? null}, user_id) and provider = coalesce(${provider ?? null}, provider)
        and ${notDeleted(tx, sql`user_id`)} and ${pages.afterCursor} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, (row) => [row.user_id, row.provider])
  return { data: page, next_cursor }
}
