// Sessions of phones. Owns `phone_session`. Tokens are stored as hashes. A session accepts the token that was used last and the refresh
// tokens that it was exchanged for: a phone that lost an answer asks again with the former token; once it uses a new one, the former ends.
// A token from before that shows that two parties have tokens of the session, and ends it. Source: users-wearables.md 16.2.
import { notDeletedHere } from '../../people/users/users.ts'
import { lockUser } from '../../people/users/connected-sources.ts'
import { hashKey } from '../../platform/crypto/api-keys.ts'
import type { Db } from '../../platform/db/database.ts'
import { dbNow, dbNowPlus } from '../../platform/db/leases.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import type { Tenant, Tx } from '../../platform/db/transaction.ts'
import type { UserCredential } from '../../platform/http/operation.ts'
import { T } from '../../platform/schema/schema.ts'
import type { SignIn } from './sign-in-tokens.ts'

/** How long a session lasts after its last refresh. */
const SESSION_S = 180 * 86_400
/** How long an ended session is kept: longer than a sign-in token can be exchanged, so that none opens it again. */
const ENDED_S = 86_400
/** Active sessions of a user; a further one ends the oldest. */
const SESSIONS_MAX = 20
/** Refresh tokens that one token may be exchanged for before one of them is used. */
const ISSUED_MAX = 4

const Active = T.Object({ id: T.String() })
const Session = T.Object({ token_hashes: T.Array(T.String()), has_ended: T.Boolean(), has_expired: T.Boolean() })

const hashOf = (token: string): string => hashKey(token).toString('base64url')

const ended: Sql = sql`ended_at = ${dbNow}, expires_at = least(expires_at, ${dbNowPlus(ENDED_S)})`

/** Whether a session is active: it has not ended, and its user is not deleted. */
export const isSessionActive = (db: Db, tenant: Tenant, { user_id, session_id }: UserCredential): Promise<boolean> =>
  db.read(tenant, async (tx) => {
    const active = await tx.maybe(
      Active,
      sql`
      select id from phone_session
      where team_id = ${tx.team} and user_id = ${user_id} and id = ${session_id} and ended_at is null and expires_at > ${dbNow}
        and ${notDeletedHere(tx, sql`user_id`)}`,
    )
    return active !== undefined
  })

/** `unknown`: no such session or user. `reused`: the token was replaced by another that was used; the session has now ended. */
export type Continuation = 'continued' | 'unknown' | 'ended' | 'expired' | 'reused'

/** Opens the session of a sign-in token, if it is new, and continues it. Writes phone_session. */
export async function openSession(tx: Tx, signIn: SignIn, sign_in_token: string, refresh_token: string): Promise<Continuation> {
  const { user_id, session_id } = signIn
  // Locked, so that the user is not deleted meanwhile: that would end the sessions that are there by then.
  if (!(await lockUser(tx, user_id))) return 'unknown'
  const isNew = await tx.run(sql`
    insert into phone_session (team_id, user_id, id, token_hashes, created_at, expires_at)
    values (${tx.team}, ${user_id}, ${session_id}, ${[hashOf(sign_in_token)]}::text[], ${dbNow}, ${dbNowPlus(SESSION_S)})
    on conflict (team_id, user_id, id) do nothing`)
  if (isNew)
    await tx.run(sql`
      update phone_session set ${ended}
      where team_id = ${tx.team} and user_id = ${user_id} and id in (
        select id from phone_session
        where team_id = ${tx.team} and user_id = ${user_id} and ended_at is null and id <> ${session_id}
        order by created_at desc, id desc offset ${SESSIONS_MAX - 1})`)
  return continueSession(tx, signIn, sign_in_token, refresh_token)
}

/** Replaces a token of a session by a new refresh token. Writes phone_session. */
export async function continueSession(
  tx: Tx,
  signIn: SignIn,
  expiredToken: string,
  refresh_token: string,
): Promise<Continuation> {
  const { user_id, session_id } = signIn
  if (!(await lockUser(tx, user_id))) return 'unknown'
  const session = await tx.locking.maybe(
    Session,
    sql`
    select token_hashes, ended_at is not null as has_ended, expires_at <= ${dbNow} as has_expired from phone_session
    where team_id = ${tx.team} and user_id = ${user_id} and id = ${session_id} and ${notDeletedHere(tx, sql`phone_session.user_id`)} for update`,
  )
  if (!session) return 'unknown'
  if (session.has_ended) return 'ended'
  if (session.has_expired) return 'expired'
  const [parent = '', ...issued] = session.token_hashes
  const hash = hashOf(expiredToken)
  if (hash !== parent && !issued.includes(hash)) {
    await tx.run(sql`
      update phone_session set ${ended}
      where team_id = ${tx.team} and user_id = ${user_id} and id = ${session_id}`)
    return 'reused'
  }
  const kept = hash === parent ? [parent, ...issued.slice(1 - ISSUED_MAX)] : [hash]
  await tx.run(sql`
    update phone_session set token_hashes = ${[...kept, hashOf(refresh_token)]}::text[], expires_at = ${dbNowPlus(SESSION_S)}
    where team_id = ${tx.team} and user_id = ${user_id} and id = ${session_id}`)
  return 'continued'
}

/** Ends the sessions of a user, or one of them. Writes phone_session. */
export async function endSessions(tx: Tx, user_id: string, session_id?: string): Promise<void> {
  const one = session_id === undefined ? sql`true` : sql`id = ${session_id}`
  await tx.run(sql`
    update phone_session set ${ended} where team_id = ${tx.team} and user_id = ${user_id} and ended_at is null and ${one}`)
}
