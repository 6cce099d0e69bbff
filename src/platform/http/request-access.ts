// What is logged of a request: its line in the access log (who requested what, and about which users), and of a management operation its
// entry in the audit log.
import { addUsersIn, type Access } from '../access-log/access-line.ts'
import type { Subjects, Tenant, PlainTx } from '../db/transaction.ts'
import type { AuthorizedRequest, Answer } from './admitted-request.ts'
import { systemNow } from '../runtime/clock.ts'
import type { Operation, ManagementPrincipal } from './operation.ts'
import { join, sql } from '../db/sql.ts'

/** The kinds of object in paths. */
const SCOPE_PARAMETERS = new Set(['org_id', 'team_id', 'environment', 'env', 'region', 'user_id'])

/** The access of a request with a response. */
export function accessOf(
  operation: Operation,
  request: AuthorizedRequest,
  given: Answer,
  subjects: Subjects | undefined,
): Access {
  // Looking through a page of samples for users took a tenth of the time of reading it.
  const responseText = 'text' in given ? given.text : ''
  const outcome = 'status' in given ? given.status : given.file ? (operation.success ?? 200) : 204
  return made(operation, request, { responseText, outcome, subjects })
}

/** The access of a rejected request. */
export const accessRefused = (operation: Operation, request: AuthorizedRequest, outcome: number, responseText: string): Access =>
  made(operation, request, { responseText, outcome, subjects: undefined })

function made(
  operation: Operation,
  { id, ip, key_id, member_id, tenant, manager, user, values, asked }: AuthorizedRequest,
  { responseText, outcome, subjects }: { responseText: string; outcome: number; subjects: Subjects | undefined },
): Access {
  const users = subjects ? [...subjects.users] : []
  if (user && !users.includes(user.user_id)) users.push(user.user_id)
  const objects: string[] = []
  for (const source of [values, asked?.query, asked?.body]) {
    const user_id = (source as { user_id?: unknown } | undefined)?.user_id
    if (typeof user_id === 'string' && !users.includes(user_id)) users.push(user_id)
  }
  const path = values as Record<string, unknown> | undefined
  for (const name in path) if (!SCOPE_PARAMETERS.has(name) && typeof path[name] === 'string') objects.push(path[name])
  if (subjects) for (const object of subjects.objects) if (!objects.includes(object)) objects.push(object)
  if (responseText) addUsersIn(responseText, users)
  return {
    at: systemNow(),
    request: id,
    key: key_id ?? '',
    member: member_id,
    org: tenant?.org ?? manager?.org ?? null,
    team: tenant?.team ?? null,
    operation: operation.id,
    objects,
    users,
    address: ip,
    outcome,
  }
}

/** The access of a page view without a key. */
export const accessOfPage = (
  operation: string,
  { id, ip }: { id: string; ip: string },
  outcome: number,
  { tenant, key, subjects }: { tenant: Tenant; key: string; subjects: Subjects },
): Access => ({
  at: systemNow(),
  request: id,
  key,
  org: tenant.org,
  team: tenant.team,
  operation,
  objects: subjects.objects,
  users: subjects.users,
  address: ip,
  outcome,
})

/** A team and the object of a write, if the path names neither. */
export interface AuditEntry {
  team_id: string
  object: string | null
}

/**
 * Adds an entry to the audit log, with the key, the operation, and the object of the path; or an entry for each of
 * `about`. The log tells what was changed, and which secrets were read, by which key. An entry is added in the same transaction and scope as
 * its change, and never changed. Entries hold ids, never a secret or a body. Writes audit_log.
 */
export function recordAudit(
  tx: PlainTx,
  manager: Pick<ManagementPrincipal, 'org' | 'key_id'>,
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
