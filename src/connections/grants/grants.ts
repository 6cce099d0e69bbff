// What users have granted at clouds of vendors: their tokens. Owns the table provider_grant. One grant per user and provider is current; one
// that has ended stays until it is revoked at the vendor. Source: users-wearables.md 4, 17.
import type { OAuthProvider } from '../../people/users/sources.ts'
import type { EncryptedColumn } from '../../platform/crypto/encrypted-columns.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { hookPoint } from '../../platform/db/hooks.ts'
import { dbNow, dbNowPlus } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { defineJob, enqueue } from '../../platform/queue/outbox.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { connect, connectionStatus } from '../connections/connections.ts'
import type { Grant } from '../connectors/connector.ts'
import { connectorOf } from '../connectors/connectors.ts'
import { savePermissions } from '../connections/availability.ts'

const accessTokenOf = (id: string): string => `access token of grant ${id}`
const refreshTokenOf = (id: string): string => `refresh token of grant ${id}`
const column = (name: string, context: (id: string) => string): EncryptedColumn => ({
  plane: 'cell',
  table: 'provider_grant',
  column: name,
  of: ['id'],
  context,
})
export const encryptedTokenColumns: EncryptedColumn[] = [
  column('access_token', accessTokenOf),
  column('refresh_token', refreshTokenOf),
]

const Row = T.Object({
  id: T.String(),
  user_id: T.String(),
  provider: T.String(),
  connection_id: T.String(),
  external_user_id: Nullable(T.String()),
  access_token: T.String(),
  refresh_token: Nullable(T.String()),
  expires_at: Nullable(T.String()),
  scopes: Nullable(T.Array(T.String())),
  /** Grows whenever the tokens are replaced. */
  version: T.Integer(),
  refused_version: Nullable(T.Integer()),
  refused_at: Nullable(T.String()),
})
type Row = Static<typeof Row>
const grantColumns = sql`
  id, user_id, provider, connection_id, external_user_id, access_token, refresh_token, expires_at, scopes, version, refused_version, refused_at`

/** A stored grant with its tokens in plain text. */
export interface StoredGrant extends Pick<Row, 'id' | 'user_id' | 'provider' | 'connection_id' | 'version' | 'refused_version'> {
  grant: Grant
  refused_at_ms: number | null
}

function decryptGrant(vault: Vault, row: Row): StoredGrant {
  const { id, user_id, provider, connection_id, version, refused_version, refused_at } = row
  return {
    id,
    user_id,
    provider,
    connection_id,
    version,
    refused_version,
    refused_at_ms: refused_at === null ? null : Date.parse(refused_at),
    grant: {
      access_token: vault.decrypt(row.access_token, accessTokenOf(id)),
      refresh_token: row.refresh_token && vault.decrypt(row.refresh_token, refreshTokenOf(id)),
      expires_at_ms: row.expires_at === null ? null : Date.parse(row.expires_at),
      scopes: row.scopes,
      external_user_id: row.external_user_id,
    },
  }
}

export interface UserProvider {
  user_id: string
  provider: string
}

/** The current grant of a user at a provider. */
export async function currentGrant(tx: Tx, vault: Vault, { user_id, provider }: UserProvider): Promise<StoredGrant | undefined> {
  const row = await tx.maybe(
    Row,
    sql`
    select ${grantColumns} from provider_grant
    where team_id = ${tx.team} and user_id = ${user_id} and provider = ${provider} and ended_at is null`,
  )
  return row && decryptGrant(vault, row)
}

/**
 * Takes the lease for refreshing the tokens of this version. Returns whether it was free, or had ended by the clock of the database, and the
 * tokens were neither replaced nor refused since the grant was read. Writes provider_grant.
 */
export async function claimRefresh(tx: Tx, read: StoredGrant, owner: string, lease_s: number): Promise<boolean> {
  const claimed = await tx.run(sql`
    update provider_grant set refresh_owner = ${owner}, refreshing_until = ${dbNowPlus(lease_s)}
    where team_id = ${tx.team} and id = ${read.id} and version = ${read.version} and ended_at is null
      and refused_version is not distinct from ${read.refused_version}
      and (refreshing_until is null or refreshing_until <= ${dbNow})`)
  return claimed > 0
}

/** Ends the lease of its owner; that of another one stays. Writes provider_grant. */
export const releaseRefresh = (tx: Tx, { id }: StoredGrant, owner: string): Promise<number> =>
  tx.run(sql`
    update provider_grant set refresh_owner = null, refreshing_until = null
    where team_id = ${tx.team} and id = ${id} and refresh_owner = ${owner}`)

/** The grants to export, by the id of their user. */
export async function grantsAfter(
  tx: Tx,
  vault: Vault,
  provider: string,
  { afterId, user_ids, limit }: { afterId: string; user_ids: string[] | null; limit: number },
): Promise<StoredGrant[]> {
  const rows = await tx.many(
    Row,
    sql`
    select ${grantColumns} from provider_grant
    where team_id = ${tx.team} and provider = ${provider} and ended_at is null and user_id > ${afterId}
      and (${user_ids}::uuid[] is null or user_id = any (${user_ids}::uuid[]))
    order by user_id limit ${limit}`,
  )
  return rows.map((row) => decryptGrant(vault, row))
}

const Holder = T.Object({ user_id: T.String() })

/** The users of the team who have connected this account of a vendor. */
export async function usersOfAccount(tx: Tx, provider: string, external_user_id: string): Promise<string[]> {
  const rows = await tx.many(
    Holder,
    sql`
    select user_id from provider_grant
    where team_id = ${tx.team} and provider = ${provider} and external_user_id = ${external_user_id} and ended_at is null
    order by user_id limit 100`,
  )
  return rows.map(({ user_id }) => user_id)
}

/** Whether another user of the team has connected this account of a vendor. */
export const isAccountOfAnother = async (
  tx: Tx,
  { user_id, provider }: UserProvider,
  external_user_id: string,
): Promise<boolean> => (await usersOfAccount(tx, provider, external_user_id)).some((id) => id !== user_id)

/**
 * Whether the team refuses another connection of an account, and another user has connected it. Two users who connect one account at the same
 * time: the second waits, and finds the first.
 */
export async function isAccountTaken(tx: Tx, key: UserProvider, external_user_id: string | null): Promise<boolean> {
  if (tx.tenant.settings.reject_duplicate_connection !== true || external_user_id === null) return false
  const account = `account ${tx.team} ${key.provider} ${external_user_id}`
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${account}, 0))`)
  return isAccountOfAnother(tx, key, external_user_id)
}

/**
 * A grant was stored. `began`: its connection is new, was in error or paused, or its user has consented again; `isOther`: it is of another account than before;
 * `asksForHistory`: the data from before the connection is wanted.
 */
export const grantSaved = hookPoint<[saved: SavedGrant & { isOther: boolean; asksForHistory: boolean }]>('grants.grant_saved')

export interface SavedGrant extends UserProvider {
  provider: OAuthProvider
  connection_id: string
  /** The connection is new, was in error or paused, or its user has consented again. */
  began: boolean
}

const Before = T.Object({ id: T.String(), external_user_id: Nullable(T.String()) })

/** The resources that a grant allows; null: the vendor does not say what was granted. */
function permissionsForScopes(provider: OAuthProvider, { scopes }: Grant): string[] | null {
  const connector = connectorOf(provider)
  if (!connector || scopes === null) return null
  const granted = new Set(scopes)
  return connector.resources.filter((resource) => {
    const scope = connector.scopesByResource[resource]
    return scope === undefined || granted.has(scope)
  })
}

/**
 * Stores what a user has granted, connects the user to the provider, and schedules the backfill. The tokens of a grant of the same account
 * are replaced; a grant of another account ends, and a job revokes it. After the user's time of ingestion the grant ends at once. Writes
 * connection, provider_grant, "user", job. Emits provider.connection.created, unless the grant was imported for a user who is connected.
 * Errors: 404 unknown user.
 * @param asksForHistory false: the grant is imported, and no history is asked for
 */
export async function saveGrant(
  tx: Tx,
  vault: Vault,
  given_user_id: string,
  provider: OAuthProvider,
  grant: Grant,
  { asksForHistory = true }: { asksForHistory?: boolean } = {},
): Promise<SavedGrant> {
  const granted_permissions = permissionsForScopes(provider, grant)
  const { external_user_id } = grant
  const { connection_id, user_id, began } = await connect(tx, given_user_id, provider, {
    external_user_id,
    granted_permissions,
    granted_scopes: grant.scopes,
    isConsent: asksForHistory,
  })
  const before = await tx.locking.maybe(
    Before,
    sql`
    select id, external_user_id from provider_grant
    where team_id = ${tx.team} and user_id = ${user_id} and provider = ${provider} and ended_at is null for update`,
  )
  const isOther = before !== undefined && before.external_user_id !== external_user_id
  // The grant of another account is revoked with its own tokens.
  if (isOther) await endGrants(tx, user_id, provider)
  const id = before && !isOther ? before.id : tx.uuid()
  const access_token = vault.encrypt(grant.access_token, accessTokenOf(id))
  const refresh_token = grant.refresh_token && vault.encrypt(grant.refresh_token, refreshTokenOf(id))
  const expires_at = instantOf(grant.expires_at_ms)
  await tx.run(sql`
    insert into provider_grant as g (team_id, id, user_id, provider, connection_id, external_user_id, access_token, refresh_token,
                                     expires_at, scopes, version, created_at, updated_at)
    values (${tx.team}, ${id}, ${user_id}, ${provider}, ${connection_id}, ${external_user_id}, ${access_token}, ${refresh_token},
            ${expires_at}, ${grant.scopes}::text[], 1, ${tx.now}, ${tx.now})
    on conflict (team_id, id) do update
    set connection_id = excluded.connection_id, external_user_id = excluded.external_user_id, access_token = excluded.access_token,
        refresh_token = excluded.refresh_token, expires_at = excluded.expires_at, scopes = excluded.scopes, version = g.version + 1,
        refused_version = null, refresh_owner = null, refreshing_until = null, updated_at = excluded.updated_at`)
  const saved: SavedGrant = { user_id, provider, connection_id, began }
  // `connect` pauses only after the user's time of ingestion: nothing may be read with the grant.
  if ((await connectionStatus(tx, user_id, provider)) === 'paused') await endGrants(tx, user_id, provider)
  else await tx.notify(grantSaved, { ...saved, isOther, asksForHistory })
  return saved
}

const instantOf = (at_ms: number | null): Date | null => (at_ms === null ? null : new Date(at_ms))

/**
 * Stores refreshed tokens, before they are used, so that none is lost; also those of a grant that has ended meanwhile, which is revoked with
 * them. If the vendor names other scopes than before, the connection shows them. Changes nothing if the tokens are no longer those that were
 * refreshed. Writes provider_grant, connection.
 */
export async function replaceTokens(tx: Tx, vault: Vault, storedGrant: StoredGrant, grant: Grant): Promise<number> {
  const { id, version, user_id, provider } = storedGrant
  const replaced = await tx.run(sql`
    update provider_grant
    set access_token = ${vault.encrypt(grant.access_token, accessTokenOf(id))},
        refresh_token = ${grant.refresh_token && vault.encrypt(grant.refresh_token, refreshTokenOf(id))},
        expires_at = ${instantOf(grant.expires_at_ms)}, scopes = ${grant.scopes}::text[], version = version + 1, refused_version = null,
        refresh_owner = null, refreshing_until = null, updated_at = ${tx.now}
    where team_id = ${tx.team} and id = ${id} and version = ${version}`)
  const isOther = JSON.stringify(grant.scopes?.toSorted()) !== JSON.stringify(storedGrant.grant.scopes?.toSorted())
  if (replaced && isOther && (await currentGrant(tx, vault, storedGrant))?.id === id)
    await savePermissions(tx, user_id, provider, permissionsForScopes(provider as OAuthProvider, grant), grant.scopes)
  return replaced
}

/**
 * Records that the vendor refused to refresh the tokens of this version, and ends the lease. Returns 0 if the grant has ended or its tokens
 * were replaced meanwhile: then the refusal does not count. Writes provider_grant.
 */
export const recordRefusal = (tx: Tx, { id, version }: StoredGrant): Promise<number> =>
  tx.run(sql`
    update provider_grant set refused_version = ${version}, refused_at = case when refused_version = ${version} then refused_at else ${tx.now} end,
        refresh_owner = null, refreshing_until = null
    where team_id = ${tx.team} and id = ${id} and version = ${version} and ended_at is null`)

export const revokeGrant = defineJob('grants.revoke', T.Object({ grant_id: T.String() }), { attempts_max: 5 })

/** Ends grants whose connections have ended; jobs revoke them at their vendors. Writes provider_grant, job. */
export async function endGrants(tx: Tx, user_id: string, provider: string | null): Promise<void> {
  const rows = await tx.many(
    T.Object({ id: T.String() }),
    sql`
    update provider_grant set ended_at = ${tx.now}
    where team_id = ${tx.team} and user_id = ${user_id} and provider = coalesce(${provider}, provider) and ended_at is null
    returning id`,
  )
  for (const { id } of rows) enqueue(tx, revokeGrant, { grant_id: id })
}

/** A grant that has ended and was not revoked yet. */
export async function endedGrant(tx: Tx, vault: Vault, grant_id: string): Promise<StoredGrant | undefined> {
  const row = await tx.maybe(
    Row,
    sql`select ${grantColumns} from provider_grant where team_id = ${tx.team} and id = ${grant_id} and ended_at is not null`,
  )
  return row && decryptGrant(vault, row)
}

/**
 * Whether the team has a current grant of the same account, which a revocation may end, too: providers may end all grants of an account at
 * once. If the account is unknown, a grant of the same user at the provider counts.
 */
export async function hasCurrentGrant(tx: Tx, { user_id, provider, grant }: StoredGrant): Promise<boolean> {
  const { external_user_id } = grant
  const found = await tx.maybe(
    Holder,
    sql`
    select user_id from provider_grant
    where team_id = ${tx.team} and provider = ${provider} and ended_at is null
      and (external_user_id = ${external_user_id}
           or ((external_user_id is null or ${external_user_id}::text is null) and user_id = ${user_id}))
    limit 1`,
  )
  return found !== undefined
}

/** Forgets a grant. Writes provider_grant. */
export const deleteGrant = (tx: Tx, grant_id: string): Promise<number> =>
  tx.run(sql`delete from provider_grant where team_id = ${tx.team} and id = ${grant_id}`)
