// A request in progress, and what is recorded of it: its line in the access log (who requested what, and about which users), and of an
// audited operation its entry in the audit log.
import { addUsersIn, isId, type Access } from '../access-log/access-line.ts'
import type { AccessLog } from '../access-log/access-log.ts'
import type { Db } from '../db/database.ts'
import { join, sql } from '../db/sql.ts'
import type { PlainTx, Subjects, Tenant } from '../db/transaction.ts'
import { systemNow } from '../runtime/clock.ts'
import type { FileReply, ManagementPrincipal, MemberSession, Operation, UserCredential } from './operation.ts'

/** A request for an operation. `serveRequest` fills in what it learns, step by step; logs read what is known when the request ends. */
export interface Call {
  readonly operation: Operation
  /** The request id that the response contains. */
  readonly id: string
  readonly method: string
  /** Client address. */
  readonly address: string
  readonly headers: Record<string, string | string[] | undefined>
  /** Path and query parameters as they were sent. */
  readonly sent_params: Record<string, string>
  readonly sent_query: Record<string, string | string[]>
  /** Headers of the response besides those of its body, also of an error response. */
  readonly response_headers: Record<string, string | string[]>
  /** The team; undefined until it is known, and for requests that concern none. */
  tenant: Tenant | undefined
  /** The principal of a management request. */
  manager: ManagementPrincipal | undefined
  /** The session of the console, in place of a key. */
  session: MemberSession | undefined
  /** The only user whom the request may concern. */
  user: UserCredential | undefined
  /** The id of the key or token. */
  key_id: string | undefined
  /** The member of the organization who uses the key. */
  member_id: string | undefined
  /** Where the rows of the operation are. */
  db: Db | undefined
  /** The bytes of the body, decompressed. */
  bytes: Buffer | undefined
  /** The parsed input. */
  params: unknown
  query: unknown
  body: unknown
  hasIdempotencyKey: boolean
  auditEntries: AuditEntry[]
  /** The response is a fault that a test asked for: it is not counted as one of the server. */
  isInjected: boolean
  /** The body of the error response. */
  error: Record<string, unknown> | undefined
}

/** The response of an operation. */
export interface OperationResponse {
  status: number
  /** JSON; empty with status 204 and with a file. */
  text: string
  file?: FileReply
  /** The text names no users of the response: `Tx.concerns` has named them. */
  isUnsearched?: boolean
}

/** The kinds of object in paths. */
const SCOPE_PARAMETERS = new Set(['org_id', 'team_id', 'environment', 'env', 'region', 'user_id'])

/** The access of a request with a response. */
export function describeAccess(
  { operation, id, address, key_id, member_id, tenant, manager, user, params, query, body }: Call,
  { status, text, isUnsearched }: OperationResponse,
  subjects: Subjects | undefined,
): Access {
  const users = subjects ? [...subjects.users] : []
  if (user && !users.includes(user.user_id)) users.push(user.user_id)
  for (const source of [params, query, body]) {
    const user_id = (source as { user_id?: unknown } | undefined)?.user_id
    if (typeof user_id === 'string' && !users.includes(user_id)) users.push(user_id)
  }
  const objects: string[] = []
  for (const [name, value] of Object.entries((params ?? {}) as Record<string, unknown>))
    if (!SCOPE_PARAMETERS.has(name) && typeof value === 'string') objects.push(value)
  if (subjects) for (const object of subjects.objects) if (!objects.includes(object)) objects.push(object)
  // Searching a page of samples for users took a tenth of the time of reading it.
  if (text && !isUnsearched) addUsersIn(text, users)
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
    address,
    outcome: status,
  }
}

/** Records a change in its transaction; one about several teams in a line for each. @returns the users whom it is about */
export function recordChange(access: AccessLog, call: Call, tx: PlainTx, response: OperationResponse): readonly string[] {
  if (!call.operation.logsAccess) return []
  const line = describeAccess(call, response, tx.subjects)
  const ofTeams = [...(tx.subjects?.teams ?? [])].map(([team, users]) => ({ ...line, team, users }))
  const lines = ofTeams.length ? ofTeams : [line]
  for (const each of lines) access.addChange(call.db!, tx, each)
  return [...new Set(lines.flatMap(({ users }) => users))].filter(isId)
}

/**
 * Records what a response shows. If it returns a promise, the response must wait for it.
 * @param subjects of several teams: each of them gets a line of its own
 */
export function recordRead(
  access: AccessLog,
  call: Call,
  subjects: Subjects | undefined,
  response: OperationResponse,
): Promise<unknown> | undefined {
  if (!call.operation.logsAccess) return undefined
  const line = describeAccess(call, response, subjects)
  if (!subjects?.teams.size) return access.addRead(call.db!, line)
  return Promise.all([...subjects.teams].map(([team, users]) => access.addRead(call.db!, { ...line, team, users })))
}

/** A team and the object of a write, if the path names neither. */
interface AuditEntry {
  team_id: string | null
  object: string | null
}

/**
 * Adds an entry to the audit log, with the key, its member, the operation, and the object of the path; or an entry for each of
 * `call.audited`. The log tells what was changed, and which secrets were read, by which key. An entry is added in the same transaction and
 * scope as its change, and never changed. Entries hold ids, never a secret or a body. Writes audit_log.
 */
export function recordAudit(tx: PlainTx, call: Call): void {
  const { operation, manager, tenant, session, key_id, member_id, params, auditEntries: audited } = call
  const org = manager?.org ?? tenant?.org ?? session!.org
  const path = (tenant && !manager ? { team_id: tenant.team } : (params ?? {})) as Record<string, string>
  const { org_id: _org, team_id, environment: _environment, env: _env, region: _region, ...objects } = path
  const entry = { team_id: team_id ?? null, object: Object.values(objects).join(' ') || null }
  const actor = { org, key_id: key_id!, member_id, operation: operation.id }
  addAuditEntries(tx, actor, audited.length ? audited : [entry])
}

/** Who did what, of an entry in the audit log. */
interface AuditActor {
  org: string
  key_id: string
  member_id: string | undefined
  operation: string
}

/** Adds entries to the audit log that come from no request for an operation with a principal. Writes audit_log. */
export function addAuditEntries(
  tx: PlainTx,
  { org, key_id, member_id, operation }: AuditActor,
  entries: readonly AuditEntry[],
): void {
  const rows = entries.map(
    ({ team_id, object }) =>
      sql`(${tx.uuid()}::uuid, ${org}::uuid, ${team_id}::uuid, ${key_id}, ${member_id ?? null}::uuid, ${operation}, ${object},
           ${tx.now}::timestamptz)`,
  )
  tx.defer(
    sql`insert into audit_log (id, org_id, team_id, actor, member_id, operation, object, created_at) values ${join(rows, ', ')}`,
  )
}
