// The connections of users to sources of health data. Owns the table connection. A deregistered connection has no row.
import { lockUser, saveConnectedSources } from '../../people/users/connected-sources.ts'
import { isIngestionOver, planIngestionEnd, endIngestion } from '../../people/users/ingestion-end.ts'
import { providerName } from '../../people/users/sources.ts'
import { findUser, getUser, notDeleted } from '../../people/users/users.ts'
import type { User } from '../../people/users/schema.ts'
import { iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { instantKey, Pages, uuidKey } from '../../platform/http/list-pages.ts'
import { hookPoint } from '../../platform/db/hooks.ts'
import { emit, defineHandler } from '../../platform/queue/outbox.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { forgetHistory } from '../../wearables/ingestion/historical-pulls.ts'
import { eraseProviderData } from '../../wearables/ingestion/provider-data.ts'
import { availability } from './availability.ts'
import { connectionTo, hasOther, mixedConnections } from './demo.ts'
import { providerOf, type ConnectedSlug, type ManualProvider } from './providers.ts'
import {
  FailingConnection,
  type ConnectedProvider,
  type connectionErrors,
  type FailingConnectionQuery,
  type ManualConnection,
} from './schema.ts'

const Row = T.Object({
  id: T.String(),
  provider: T.Unsafe<ConnectedSlug>({ type: 'string' }),
  status: T.Unsafe<ConnectedProvider['status']>({ type: 'string' }),
  external_user_id: Nullable(T.String()),
  granted_permissions: Nullable(T.Array(T.String())),
  granted_scopes: Nullable(T.Array(T.String())),
  error_type: Nullable(T.String()),
  error_message: Nullable(T.String()),
  errored_at: Nullable(T.String()),
  created_at: T.String(),
})
type Row = Static<typeof Row>

/** The connections of a user, oldest first. */
export const selectConnections = (tx: Tx, user_id: string): Promise<Row[]> =>
  tx.many(
    Row,
    sql`
    select id, provider, status, external_user_id, granted_permissions, granted_scopes, error_type, error_message, errored_at, created_at
    from connection where team_id = ${tx.team} and user_id = ${user_id} order by created_at, id`,
  )

const shownProvider = (slug: ConnectedSlug) => ({ name: providerName(slug), slug, logo: '' })

/** Lists the connections of a user, oldest first. Errors: 404 unknown user. Source: users-wearables.md 4. */
export async function listConnections(tx: Tx, user_id: string): Promise<{ providers: ConnectedProvider[] }> {
  await getUser(tx, user_id)
  const rows = await selectConnections(tx, user_id)
  return {
    providers: rows.map((row) => ({
      ...shownProvider(row.provider),
      created_on: row.created_at,
      status: row.status,
      external_user_id: row.external_user_id,
      error_details:
        row.error_type === null
          ? null
          : {
              error_type: row.error_type as NonNullable<ConnectedProvider['error_details']>['error_type'],
              error_message: row.error_message!,
              errored_at: row.errored_at!,
            },
      resource_availability: availability(row),
    })),
  }
}

const IdAndStatus = T.Pick(Row, ['id', 'status'])

/** A user's connection to a provider. */
export const findConnection = (tx: Tx, user_id: string, provider: string): Promise<Static<typeof IdAndStatus> | undefined> =>
  tx.maybe(
    IdAndStatus,
    sql`select id, status from connection where team_id = ${tx.team} and user_id = ${user_id} and provider = ${provider}`,
  )

const IdAndUser = T.Object({ id: T.String(), user_id: T.String() })

/** Which of these users are connected to a provider, neither paused nor in error, and the ids of their connections. */
export async function connectedTo(tx: Tx, user_ids: string[], provider: string): Promise<Map<string, string>> {
  const rows = await tx.many(
    IdAndUser,
    sql`
    select id, user_id from connection
    where team_id = ${tx.team} and user_id = any (${user_ids}::uuid[]) and provider = ${provider} and status = 'connected'`,
  )
  return new Map(rows.map(({ id, user_id }) => [user_id, id]))
}

/** The status of a user's connection to a provider; undefined without a connection. */
export const connectionStatus = async (tx: Tx, user_id: string, provider: string): Promise<Row['status'] | undefined> =>
  (await connectionTo(tx, user_id, provider))?.status

/** A connection of a user ended, or all of them (null): what is kept for it goes. */
export const connectionEnded = hookPoint<[user_id: string, provider: string | null]>('connections.connection_ended')

/** What a connection is given; what is undefined stays. */
interface ConnectionFields {
  external_user_id: string | null | undefined
  granted_permissions: string[] | null | undefined
  /** The scopes of a cloud, from which `granted_permissions` were derived; null or absent: unknown. */
  granted_scopes?: string[] | null
  /** A user has consented: a connection that exists begins again. */
  isConsent?: boolean
  /** Its data is made up. A user has such connections only, or none. */
  is_demo?: boolean
}

export interface Connected {
  connection_id: string
  user_id: string
  /** The connection is new, was in error or paused, or its user has consented again. */
  began: boolean
}

/**
 * Connects a user to a provider. A connection that exists is brought up to date and keeps its time of creation. After the user's time of
 * ingestion it is paused. Writes connection, "user". Emits provider.connection.created if the connection is new, was in error or paused, or a
 * user has consented to it again, and is not paused now. Errors: 400 the user has demo connections and this is none, or the reverse; 404 unknown user.
 * Source: users-wearables.md 4 C1, 6 I3; events.md 4.4.
 */
export async function connect(
  tx: Tx,
  given_user_id: string,
  provider: ConnectedSlug,
  fields: ConnectionFields,
): Promise<Connected> {
  const user = await lockUser(tx, given_user_id)
  if (!user) throw notFound('User not found')
  const { user_id, client_user_id } = user
  const status = isIngestionOver(tx, (await findUser(tx, user_id))!) ? 'paused' : 'connected'
  const { is_demo = false, granted_scopes = null } = fields
  if (await hasOther(tx, user_id, is_demo)) throw mixedConnections(is_demo)
  const existing = await tx.maybe(
    T.Pick(Row, ['id', 'status', 'external_user_id', 'granted_permissions']),
    sql`
    select id, status, external_user_id, granted_permissions from connection
    where team_id = ${tx.team} and user_id = ${user_id} and provider = ${provider}`,
  )
  const id = existing?.id ?? tx.uuid()
  const external_user_id = fields.external_user_id === undefined ? (existing?.external_user_id ?? null) : fields.external_user_id
  const granted_permissions =
    fields.granted_permissions === undefined ? (existing?.granted_permissions ?? null) : fields.granted_permissions
  await tx.run(sql`
    insert into connection (team_id, user_id, provider, id, status, external_user_id, granted_permissions, granted_scopes, created_at,
                            updated_at, is_demo)
    values (${tx.team}, ${user_id}, ${provider}, ${id}, ${status}, ${external_user_id}, ${granted_permissions}::text[],
            ${granted_scopes}::text[], ${tx.now}, ${tx.now}, ${is_demo})
    on conflict (team_id, user_id, provider) do update
    set status = excluded.status, external_user_id = excluded.external_user_id, granted_permissions = excluded.granted_permissions,
        granted_scopes = excluded.granted_scopes, error_type = null, error_message = null, errored_at = null,
        updated_at = excluded.updated_at`)
  const connected = { connection_id: id, user_id, began: false }
  const isConsent = fields.isConsent === true && status === 'connected'
  if (existing?.status === status && !isConsent) return connected
  if (status === 'paused') {
    if (!existing) await refreshConnectedSources(tx, user_id)
    return connected
  }
  // What was missed meanwhile is sent again, as history.
  await forgetHistory(tx, user_id, provider)
  if (!existing) await refreshConnectedSources(tx, user_id)
  const shown = shownProvider(provider)
  const resource_availability = availability({ provider, granted_permissions, granted_scopes })
  emit(tx, {
    type: 'provider.connection.created',
    object_id: id,
    user_id,
    client_user_id,
    data: JSON.stringify({ user_id, source: shown, provider: shown, external_user_id, resource_availability }),
  })
  return { connection_id: id, user_id, began: true }
}

/**
 * Connects a user to a provider whose data a phone or a client sends. Writes connection, "user". Emits as `connect`.
 * Errors: 404 unknown user. Source: users-wearables.md 16.3.
 */
export async function connectManually(tx: Tx, provider: ManualProvider, body: ManualConnection): Promise<{ success: boolean }> {
  // A phone's health store has no account; a device is named by its client.
  const external_user_id = providerOf(provider).auth_type === 'sdk' ? undefined : body.provider_id
  await connect(tx, body.user_id, provider, { external_user_id, granted_permissions: body.granted_permissions })
  return { success: true }
}

const errorMessages: Partial<Record<(typeof connectionErrors)[number], string>> = {
  token_refresh_failed: 'The provider refused the token; the user has to connect again',
  provider_credential_error: 'The provider refused the access token; the user has to connect again',
  deregistered_per_provider: 'The user or the provider ended the consent',
  required_scopes_not_granted: 'The user has not granted what the provider needs',
}

const Ended = T.Object({ id: T.String(), client_user_id: T.String() })

/**
 * Records that a connection is in error, which only another consent ends. Changes nothing if it is not connected. Writes connection.
 * Emits provider.connection.error. Source: users-wearables.md 4 C2; events.md 4.5.
 */
export async function failConnection(
  tx: Tx,
  user_id: string,
  provider: string,
  error_type: (typeof connectionErrors)[number],
): Promise<void> {
  const message = errorMessages[error_type] ?? 'The connection has ended'
  const ended = await tx.locking.maybe(
    Ended,
    sql`
    update connection c
    set status = 'error', error_type = ${error_type}, error_message = ${message}, errored_at = ${tx.now}, updated_at = ${tx.now}
    from "user" u
    where c.team_id = ${tx.team} and c.user_id = ${user_id} and c.provider = ${provider} and c.status = 'connected'
      and u.id = c.user_id and u.team_id = ${tx.team}
    returning c.id, u.client_user_id`,
  )
  if (!ended) return
  emit(tx, {
    type: 'provider.connection.error',
    object_id: ended.id,
    user_id,
    client_user_id: ended.client_user_id,
    data: JSON.stringify({ user_id, provider, error_type, message, error_details: message }),
  })
}

/**
 * Pauses connections of users to a provider: nothing is pulled until the user or an import connects them again. Writes connection.
 * @returns the users whose connections are paused, now or before
 */
export async function pauseConnections(tx: Tx, user_ids: string[], provider: string): Promise<string[]> {
  // Two calls for the same users lock their connections in one order.
  const rows = await tx.locking.many(
    T.Object({ user_id: T.String() }),
    sql`
    select user_id from connection
    where team_id = ${tx.team} and user_id = any (${user_ids}::uuid[]) and provider = ${provider} order by user_id for no key update`,
  )
  await tx.run(sql`
    update connection
    set status = 'paused', error_type = null, error_message = null, errored_at = null, updated_at = ${tx.now}
    where team_id = ${tx.team} and user_id = any (${user_ids}::uuid[]) and provider = ${provider} and status <> 'paused'`)
  return rows.map(({ user_id }) => user_id)
}

/**
 * Ends a connection of a user. The data that came by it stays, or is deleted, also if the connection has ended before. Writes connection,
 * "user", and what `eraseProviderData` writes. Errors: 404 unknown user, or no connection to this provider, nor data to delete.
 * Source: users-wearables.md 1, 4, 19 D8.
 */
export async function deregister(
  tx: Tx,
  user_id: string,
  provider: string,
  { delete_data = false }: { delete_data?: boolean | undefined } = {},
): Promise<{ success: boolean }> {
  const user = await lockUser(tx, user_id)
  if (!user) throw notFound('User not found')
  const ended = await tx.run(sql`
    delete from connection where team_id = ${tx.team} and user_id = ${user.user_id} and provider = ${provider}`)
  const hadData = delete_data && (await eraseProviderData(tx, user.user_id, provider))
  if (!ended && hadData) return { success: true }
  if (!ended) throw notFound('The user has no connection to this provider')
  await forgetHistory(tx, user.user_id, provider)
  await refreshConnectedSources(tx, user.user_id)
  await tx.notify(connectionEnded, user.user_id, provider)
  return { success: true }
}

/** Ends all connections of a user. Writes connection, "user". Source: users-wearables.md 4 C5. */
export async function deregisterAll(tx: Tx, user_id: string): Promise<void> {
  const ended = await tx.run(sql`delete from connection where team_id = ${tx.team} and user_id = ${user_id}`)
  if (!ended) return
  await forgetHistory(tx, user_id)
  await saveConnectedSources(tx, user_id, [])
  await tx.notify(connectionEnded, user_id, null)
}

async function refreshConnectedSources(tx: Tx, user_id: string): Promise<void> {
  const rows = await selectConnections(tx, user_id)
  const sources = rows.map(({ provider, created_at }): User['connected_sources'][number] => {
    const shown = shownProvider(provider)
    return { created_on: iso(new Date(created_at)), provider: shown, source: shown }
  })
  await saveConnectedSources(tx, user_id, sources)
  if (!sources.length) return
  const user = (await findUser(tx, user_id))!
  if (!isIngestionOver(tx, user)) planIngestionEnd(tx, user)
}

/**
 * Pauses all connections of a user whose time of ingestion is over; their data stays. A job for an end that was moved meanwhile is queued
 * for the new one. Writes connection. Runs the hooks of `connectionEnded`, which end grants at the providers. Emits nothing.
 */
async function pauseAfterIngestion(tx: Tx, user_id: string): Promise<void> {
  if (!(await lockUser(tx, user_id))) return
  const user = (await findUser(tx, user_id))!
  if (!isIngestionOver(tx, user)) return planIngestionEnd(tx, user)
  await tx.run(sql`
    update connection set status = 'paused', error_type = null, error_message = null, errored_at = null, updated_at = ${tx.now}
    where team_id = ${tx.team} and user_id = ${user_id} and status <> 'paused'`)
  // A connection that was paused before has a grant as well.
  if ((await selectConnections(tx, user_id)).length) await tx.notify(connectionEnded, user_id, null)
}

export const endIngestionHandler = defineHandler(endIngestion, (context, { user_id }) =>
  context.tx((tx) => pauseAfterIngestion(tx, user_id)),
)

const WEEKS_SHOWN = 53

const Counts = T.Object({
  connected_count: T.Integer(),
  errored_count: T.Integer(),
  weeks: T.Array(T.Object({ date: T.String(), value: T.Integer(), all: T.Integer() })),
})

/**
 * Counts the connections of the team: all, those in error, and by week of their creation. Weeks begin on Monday in UTC; `value` is the
 * number created in the week, `all` the number by the end of it. At most the last 53 weeks with a new connection are shown.
 */
export const countConnections = (tx: Tx): Promise<Static<typeof Counts>> =>
  tx.one(
    Counts,
    sql`
    with weeks as (
      select date_trunc('week', created_at at time zone 'UTC') as week, count(*) as created,
             sum(count(*)) over (order by date_trunc('week', created_at at time zone 'UTC')) as total
      from connection where team_id = ${tx.team} group by week order by week desc limit ${WEEKS_SHOWN})
    select count(*) as connected_count, count(*) filter (where status = 'error') as errored_count,
           coalesce((
             select json_agg(json_build_object('date', to_char(week, 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"'), 'value', created, 'all', total)
                             order by week)
             from weeks), '[]') as weeks
    from connection where team_id = ${tx.team}`,
  )

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
