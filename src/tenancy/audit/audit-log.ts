// The audit log for organizations. The platform adds entries together with their changes.
import type { PlainTx } from '../../platform/db/transaction.ts'
import { Pages, uuidKey } from '../../platform/http/list-pages.ts'
import { joinConditions, sql } from '../../platform/db/sql.ts'
import { AuditEntry, type AuditQuery } from './schema.ts'

/**
 * Entries of an organization in the scope of the transaction, the control plane or a cell; newest first. 400: a cursor of another list.
 * @param team_id only entries about this team
 */
export async function listAudit(tx: PlainTx, org_id: string, team_id: string | undefined, query: AuditQuery) {
  const pages = new Pages(`audit ${org_id} ${team_id ?? ''} ${query.operation ?? ''}`, query, [uuidKey(sql`id`)])
  const conditions = [sql`org_id = ${org_id}`, pages.afterCursor]
  if (team_id !== undefined) conditions.push(sql`team_id = ${team_id}`)
  if (query.operation !== undefined) conditions.push(sql`operation = ${query.operation}`)
  const rows = await tx.many(
    AuditEntry,
    sql`
    select id, created_at, actor as key_id, member_id, operation, team_id, object from audit_log
    where ${joinConditions(conditions)} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, ({ id }) => [id])
  return { data: page, next_cursor }
}
