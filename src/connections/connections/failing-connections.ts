// The connections of a team that fail.
import { providerName } from '../../people/users/sources.ts'
import { notDeleted } from '../../people/users/users.ts'
import { instantKey, Pages, uuidKey } from '../../platform/http/list-pages.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import { FailingConnection, type FailingConnectionQuery } from './schema.ts'

/**
 * A page of the connections in error, the newest error first, without those of deleted users. Errors: 400 a cursor of another list.
 */
export async function listFailingConnections(tx: Tx, query: FailingConnectionQuery) {
  const pages = new Pages(`failing connections ${tx.team}`, query, [instantKey(sql`c.errored_at`), uuidKey(sql`c.id`)])
  const rows = await tx.many(
    T.Omit(FailingConnection, ['provider_name']),
    sql`
    select c.id, c.user_id, c.provider, c.error_type, c.errored_at from connection c
    where c.team_id = ${tx.team} and c.status = 'error' and ${notDeleted(tx, sql`c.user_id`)} and ${pages.afterCursor}
    ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, ({ errored_at, id }) => [errored_at, id])
  return { data: page.map((row) => ({ ...row, provider_name: providerName(row.provider) })), next_cursor }
}
