// The audit log of the Management API: what was changed, and which secrets were read, by which key. An entry is added in the same
// transaction and scope as its change, and never changed. Entries hold ids, never a secret or a body.
import type { PlainTx } from '../db/transaction.ts'
import type { ManagementPrincipal } from './operation.ts'
import { join, sql } from '../db/sql.ts'

/** A team and the object of a write, if the path names neither. */
export interface AuditEntry {
  team_id: string
  object: string | null
}

/** Adds an entry with the key, the operation, and the object of the path; or an entry for each of `about`. Writes audit_log. */
export function recordAudit(
  tx: PlainTx,
  manager: ManagementPrincipal,
  operation: string,
  params: Record<string, string>,
  about: readonly AuditEntry[] = [],
): void {
  const { org_id: _org, team_id, environment: _environment, env: _env, region: _region, ...objects } = params
  const whole = { team_id: team_id ?? null, object: Object.values(objects).join(' ') || null }
  const rows = (about.length ? about : [whole]).map(
    (line) =>
      sql`(${tx.uuid()}::uuid, ${manager.org}::uuid, ${line.team_id}::uuid, ${manager.key_id}, ${operation}, ${line.object},
           ${tx.now}::timestamptz)`,
  )
  tx.defer(sql`insert into audit_log (id, org_id, team_id, actor, operation, object, created_at) values ${join(rows, ', ')}`)
}
