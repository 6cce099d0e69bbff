// Dashboard sessions: a launch token starts one once, and it stays open while its authorization is valid. Every use checks that, so that a
// session ends at once with its member, the member's binding, the team or the modality. Source: management-auth.md 16.
import { addSeconds } from '../../platform/runtime/clock.ts'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { hashKey, generateKey } from '../../platform/crypto/api-keys.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'

export const SESSION_S = 3600
/** How long used launches and ended sessions are kept, to distinguish them from unknown ones. */
const RETENTION_S = 86_400

export const DashboardSession = T.Object({
  id: T.String(),
  org_id: T.String(),
  org_name: T.String(),
  plan: T.String(),
  org_expires_at: Nullable(T.String()),
  member_id: T.String(),
  integration_member_id: T.String(),
  member_name: T.String(),
  member_email: T.String(),
  team_id: T.String(),
  integration_team_id: Nullable(T.String()),
  team_name: T.String(),
  region: T.String(),
  environment: T.String(),
  feature: T.String(),
  modality: T.String(),
  expires_at: T.String(),
  origins: T.Array(T.Object({ origin: T.String(), session_continuation_url: Nullable(T.String()) })),
})
export type DashboardSession = Static<typeof DashboardSession>

/** The authorization of a session. */
const sessionColumns = sql`
  from dashboard_session s join integration_member m on m.id = s.member_id join team t on t.id = s.team_id
       join org o on o.id = m.org_id join dashboard_embedding e on e.org_id = m.org_id`
const isOpenCondition = sql`
  t.deleted_at is null and (m.team_ids is null or s.team_id = any (m.team_ids)) and s.modality = any (e.modalities)`

/**
 * Starts the session of a launch token: of concurrent requests only one succeeds, once. Writes dashboard_session.
 * @returns the text of the session's own token; undefined if the launch is unknown, used, expired, or no longer authorized
 */
export async function startSession(tx: PlainTx, launchToken: string): Promise<string | undefined> {
  const token = generateKey('ds_')
  const begun = await tx.run(sql`
    update dashboard_session set session_token_hash = ${hashKey(token)}, expires_at = ${addSeconds(tx.now, SESSION_S)}
    where launch_token_hash = ${hashKey(launchToken)} and session_token_hash is null and expires_at > ${tx.now}
      and id = any (array(select s.id ${sessionColumns} where s.launch_token_hash = ${hashKey(launchToken)} and ${isOpenCondition}))`)
  return begun ? token : undefined
}

/** The open session of a token. */
export const findSession = (control: Queries, token: string, now: Date): Promise<DashboardSession | undefined> =>
  findOpenSession(control, sql`s.session_token_hash = ${hashKey(token)}`, now)

/** The open session with an id. */
export const findSessionById = (control: Queries, session_id: string, now: Date): Promise<DashboardSession | undefined> =>
  findOpenSession(control, sql`s.id = ${session_id} and s.session_token_hash is not null`, now)

const findOpenSession = (control: Queries, condition: Sql, now: Date): Promise<DashboardSession | undefined> =>
  control.maybe(
    DashboardSession,
    sql`
    select s.id, o.id as org_id, o.name as org_name, o.plan, o.expires_at as org_expires_at, m.id as member_id, m.integration_member_id,
           m.name as member_name, m.email as member_email, t.id as team_id, t.integration_team_id, t.name as team_name, t.region,
           s.environment, s.feature, s.modality, s.expires_at, e.origins
    ${sessionColumns} where ${condition} and s.expires_at > ${now} and ${isOpenCondition}`,
  )

const EndedSession = T.Object({ modality: T.String() })

/** Ends a session, which goes on naming its origins for a day. Writes dashboard_session. */
export const endSession = (tx: PlainTx, session_id: string) =>
  tx.maybe(
    EndedSession,
    sql`update dashboard_session set expires_at = ${tx.now} where id = ${session_id} and expires_at > ${tx.now} returning modality`,
  )

/** Origins of the organization whose session a token was, while it is kept: its pages may frame the page that says that it has ended. */
export async function findFramingOrigins(tx: PlainTx, token: string): Promise<string[]> {
  const row = await tx.maybe(
    Origins,
    sql`
    select to_json(array(select origin ->> 'origin' from jsonb_array_elements(e.origins) origin)) as origins
    ${sessionColumns} where s.session_token_hash = ${hashKey(token)} and s.modality = 'feature_embed'`,
  )
  return row?.origins ?? []
}

/** Changes the feature of the session. Writes dashboard_session. */
export const setFeature = (tx: PlainTx, token: string, feature: string): Promise<number> =>
  tx.run(sql`update dashboard_session set feature = ${feature} where session_token_hash = ${hashKey(token)}`)

const Origins = T.Object({ origins: T.Array(T.String()) })
const SpentLaunch = T.Object({ modality: T.String(), origins: T.Array(T.String()) })

/** The feature and the organization of a launch token that can no longer be used. */
export const findLaunch = (tx: PlainTx, launchToken: string): Promise<Static<typeof SpentLaunch> | undefined> =>
  tx.maybe(
    SpentLaunch,
    sql`
    select s.modality, to_json(array(select origin ->> 'origin' from jsonb_array_elements(e.origins) origin)) as origins
    ${sessionColumns} where s.launch_token_hash = ${hashKey(launchToken)}`,
  )

/** Deletes launches and sessions that ended a day ago. */
export const sessionCleanup = cleanup({
  table: 'dashboard_session',
  column: 'expires_at',
  retention_s: RETENTION_S,
  control: 'alone',
})
