// The audit log as organizations read it. Lines are added by the platform, with the write they tell of.
import type { PlainTx } from '../../platform/db/transaction.ts'
import { cursor, readCursor, uuidPart } from '../../platform/http/cursors.ts'
import { and, sql } from '../../platform/db/sql.ts'
import { AuditLine, type AuditQuery } from './schema.ts'

const PAGE = 50

/**
 * Lines of an organization where the transaction is: the control plane or a cell; newest first. 400: a cursor of another list.
 * @param team_id only those about one team
 */
export async function listAudit(tx: PlainTx, org_id: string, team_id: string | undefined, query: AuditQuery) {
  const limit = query.limit ?? PAGE
  const list = `audit ${org_id} ${team_id ?? ''} ${query.operation ?? ''}`
  const conditions = [sql`org_id = ${org_id}`]
  if (team_id !== undefined) conditions.push(sql`team_id = ${team_id}`)
  if (query.operation !== undefined) conditions.push(sql`operation = ${query.operation}`)
  if (query.next_cursor !== undefined) conditions.push(sql`id < ${readCursor(list, query.next_cursor, [uuidPart])[0]}::uuid`)
  const rows = await tx.many(
    AuditLine,
    sql`
    select id, created_at, actor as key_id, operation, team_id, object from audit
    where ${and(conditions)} order by id desc limit ${limit + 1}`,
  )
  const data = rows.slice(0, limit)
  return { data, next_cursor: rows.length > limit ? cursor(list, [data.at(-1)!.id]) : null }
}
