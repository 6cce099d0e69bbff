// Sessions of members in the console. A browser holds the token of a session in a cookie; its hash is stored. A session ends when its member
// signs out or leaves, when it was not used for a while, and after an absolute time.
import { addSeconds } from '../../platform/runtime/clock.ts'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import type { MemberSession } from '../../platform/http/operation.ts'
import { addAuditEntries } from '../../platform/http/call.ts'
import { notFound } from '../../platform/http/errors.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { generateKey, hashKey } from '../../platform/crypto/api-keys.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Plan } from '../organizations/plans.ts'
import { Session } from './schema.ts'

export const SESSION_ENDED = 'The session has ended, sign in again'

/** How members sign in. */
type SignInMethod = 'demo' | 'password' | 'passkey' | 'oidc' | 'link'

/** How long sessions last, in seconds. */
export interface SessionLimits {
  /** Without a request. */
  idle_s: number
  /** In all. */
  total_s: number
}

const TOKEN_PREFIX = 'cs_'
/** In the format of `generateKey`: no other text is looked up. */
const TOKEN = /^cs_[\w-]{43}$/
export const isSessionToken = (text: string): boolean => TOKEN.test(text)

/** Sessions of one member; a further one ends the one that was not used for longest. */
const MEMBER_SESSIONS_MAX = 20
const USER_AGENT_MAX = 200
/** A session that was used this recently is not prolonged again, in seconds. */
const TOUCH_S = 60

/** Who signs in, and from where. */
export interface SignIn {
  member_id: string
  org_id: string
  method: SignInMethod
  address: string
  user_agent: string | string[] | undefined
}

/**
 * Starts a session with a new token. Writes console_session, audit_log.
 * @returns the token, which cannot be read again
 */
export async function startSession(tx: PlainTx, signIn: SignIn, { idle_s, total_s }: SessionLimits): Promise<string> {
  const { member_id, org_id, method, address, user_agent } = signIn
  const id = tx.uuid()
  const token = generateKey(TOKEN_PREFIX)
  const idle = addSeconds(tx.now, Math.min(idle_s, total_s))
  await tx.run(sql`
    insert into console_session (id, member_id, token_hash, method, address, user_agent, created_at, last_seen_at, idle_expires_at, expires_at)
    values (${id}, ${member_id}, ${hashKey(token)}, ${method}, ${address}, ${agentText(user_agent)}, ${tx.now}, ${tx.now}, ${idle},
            ${addSeconds(tx.now, total_s)})`)
  await tx.run(sql`
    delete from console_session where id in (
      select id from console_session where member_id = ${member_id} order by last_seen_at desc, id desc offset ${MEMBER_SESSIONS_MAX})`)
  const actor = { org: org_id, key_id: sessionKeyId(id), member_id, operation: 'sign_in' }
  addAuditEntries(tx, actor, [{ team_id: null, object: method }])
  return token
}

/** What a browser says about itself, as a text of one line. */
function agentText(user_agent: string | string[] | undefined): string {
  return String(user_agent ?? '')
    .replace(/[^\x20-\x7e]+/g, ' ')
    .slice(0, USER_AGENT_MAX)
}

/** The id that logs use in place of a key's. */
const sessionKeyId = (session_id: string): string => `session:${session_id}`

const SessionRow = T.Object({
  id: T.String(),
  member_id: T.String(),
  org_id: T.String(),
  role: T.String(),
  /** Team → role, of the teams that are not deleted. */
  teams: T.Record(T.String(), T.String()),
  plan: T.String(),
  org_expires_at: Nullable(T.String()),
  last_seen_at: T.String(),
  idle_expires_at: T.String(),
})

/** A session with the plan of its organization, and until when it lasts without a request. */
export interface ActiveSession extends MemberSession {
  plan: Plan
  last_seen_at: string
  idle_expires_at: string
}

/** The session of a token; undefined if there is none, or it has ended. */
export async function findSession(control: Queries, token: string, now: Date): Promise<ActiveSession | undefined> {
  const row = await control.maybe(
    SessionRow,
    sql`
    select s.id, s.member_id, m.org_id, m.role, o.plan, o.expires_at as org_expires_at, s.last_seen_at, s.idle_expires_at,
           coalesce((select json_object_agg(t.id, coalesce(m.team_roles ->> t.id::text, ''))
                     from team t where t.id = any (m.team_ids) and t.deleted_at is null), '{}'::json) as teams
    from console_session s join member m on m.id = s.member_id join org o on o.id = m.org_id
    where s.token_hash = ${hashKey(token)} and s.idle_expires_at > ${now}`,
  )
  return (
    row && {
      session_id: row.id,
      key_id: sessionKeyId(row.id),
      member_id: row.member_id,
      org: row.org_id,
      role: row.role as MemberSession['role'],
      teams: row.role === 'org_admin' ? null : new Map(Object.entries(row.role === 'team_admin' ? row.teams : {})),
      plan: row.plan as Plan,
      expires_at: row.org_expires_at,
      last_seen_at: row.last_seen_at,
      idle_expires_at: row.idle_expires_at,
    }
  )
}

/** Records that a session is in use, which prolongs it, at most once a minute. Writes console_session. */
export async function touchSession(control: Queries, session: ActiveSession, now: Date, idle_s: number): Promise<void> {
  if (now.getTime() - Date.parse(session.last_seen_at) < TOUCH_S * 1000) return
  await control.run(sql`
    update console_session set last_seen_at = ${now}, idle_expires_at = least(expires_at, ${addSeconds(now, idle_s)})
    where id = ${session.session_id} and last_seen_at < ${addSeconds(now, -TOUCH_S)}`)
}

/** The sessions of a member that have not ended, newest first. */
export const listSessions = (tx: PlainTx, { member_id, session_id }: MemberSession): Promise<Session[]> =>
  tx.many(
    Session,
    sql`
    select id, method, address, user_agent, created_at, last_seen_at, idle_expires_at, expires_at, id = ${session_id} as is_current
    from console_session where member_id = ${member_id} and idle_expires_at > ${tx.now} order by created_at desc, id desc`,
  )

const EndedSession = T.Object({ method: T.String() })

/** Ends a session of a member. Writes console_session. 404: the member has no such session. @returns how it began */
export async function endSession(tx: PlainTx, member_id: string, session_id: string): Promise<string> {
  const session = await tx.maybe(
    EndedSession,
    sql`delete from console_session where id = ${session_id} and member_id = ${member_id} returning method`,
  )
  if (!session) throw notFound('Session not found')
  return session.method
}

/**
 * Ends all sessions of a member. Writes console_session.
 * @param keep_session_id a session that goes on
 */
export const endSessions = (tx: PlainTx, member_id: string, keep_session_id?: string): Promise<number> =>
  tx.run(sql`delete from console_session where member_id = ${member_id} and id is distinct from ${keep_session_id ?? null}::uuid`)

/** Deletes sessions that have ended by time. */
export const sessionCleanup = cleanup({ table: 'console_session', column: 'idle_expires_at', control: 'alone' })
