// Who did what on the management interface. Lines are added with the write they tell of, in the same transaction and place, and never
// changed. They hold ids, never a secret or a body.
import type { PlainTx } from './db.ts'
import type { Manager } from './operation.ts'
import { sql } from './sql.ts'

/** Add a line: the key, the operation, and the object of the path. Writes audit. */
export function audit(tx: PlainTx, manager: Manager, operation: string, params: Record<string, string>): void {
  const { org_id: _org, team_id, environment: _environment, env: _env, region: _region, ...objects } = params
  const object = Object.values(objects).join(' ') || null
  tx.defer(sql`
    insert into audit (id, org_id, team_id, actor, operation, object, created_at)
    values (${tx.uuid()}, ${manager.org}, ${team_id ?? null}, ${manager.key_id}, ${operation}, ${object}, ${tx.now})`)
}
