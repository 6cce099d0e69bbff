// Custom credentials: those of teams at providers. Owns `custom_credential`. A secret is stored and never returned, neither in a response
// nor in an error. Source: management-auth.md 13.
import type { PlainTx, Tx } from '../../platform/db/transaction.ts'
import type { CellParams } from '../../tenancy/organizations/management-shapes.ts'
import { teamAccessCondition } from '../../tenancy/teams/team-access.ts'
import type { RecordAuditSubject, ManagementPrincipal } from '../../platform/http/operation.ts'
import { byCreation, Pages } from '../../platform/http/list-pages.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { hashKey } from '../../platform/crypto/api-keys.ts'
import type { EncryptedColumn } from '../../platform/crypto/encrypted-columns.ts'
import { joinConditions, sql } from '../../platform/db/sql.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { maskSecrets, restoreMasked, type Details } from './credential-details.ts'
import { lockTeams } from '../../tenancy/teams/teams.ts'
import type { Credential, CredentialProvider, CredentialQuery, UpsertCredential } from './schema.ts'

const Row = T.Object({
  id: T.String(),
  team_id: T.String(),
  provider: T.String(),
  client_id: Nullable(T.String()),
  client_secret: Nullable(T.String()),
  details: Nullable(T.String()),
  redirect_url_override: Nullable(T.String()),
  created_at: T.String(),
  updated_at: T.String(),
})
type Row = Static<typeof Row>

const credentialColumns = sql`
  c.id, c.team_id, c.provider, c.client_id, c.client_secret, c.details, c.redirect_url_override, c.created_at, c.updated_at`

const secretOf = (id: string): string => `client secret of credential ${id}`
const detailsOf = (id: string): string => `details of credential ${id}`

const column = (name: string, context: (id: string) => string): EncryptedColumn => ({
  plane: 'cell',
  table: 'custom_credential',
  column: name,
  of: ['id'],
  context,
})
export const encryptedCredentialsColumn: EncryptedColumn[] = [column('client_secret', secretOf), column('details', detailsOf)]

const decryptSecret = (vault: Vault, row: Row): Details | null =>
  row.details === null ? null : (JSON.parse(vault.decrypt(row.details, detailsOf(row.id))) as Details)

function toWire(vault: Vault, row: Row): Credential {
  const { id, provider, client_secret, client_id, team_id, created_at, updated_at, redirect_url_override } = row
  const details = decryptSecret(vault, row)
  return {
    id,
    client_id,
    client_secret_hash: client_secret === null ? null : hashKey(vault.decrypt(client_secret, secretOf(id))).toString('hex'),
    source: provider as CredentialProvider,
    team_id,
    created_at,
    updated_at,
    details: details && (maskSecrets(details) as NonNullable<Credential['details']>),
    app_url: null,
    redirect_url_override,
  }
}

/** Lists credentials in this cell of the accessible teams, newest first, 50 a page. Errors: 400 a cursor of another list. */
export async function listCredentials(
  tx: PlainTx,
  vault: Vault,
  manager: ManagementPrincipal,
  place: CellParams,
  query: CredentialQuery,
) {
  const list = `credentials ${manager.org} ${place.env} ${place.region} ${query.provider ?? ''} ${query.team_id?.join() ?? ''}`
  const pages = new Pages(list, query, byCreation('c'))
  const conditions = [teamAccessCondition(manager, query.team_id), pages.afterCursor]
  if (query.provider !== undefined) conditions.push(sql`c.provider = ${query.provider}`)
  const rows = await tx.many(
    Row,
    sql`
    select ${credentialColumns} from custom_credential c join team t on t.id = c.team_id
    where ${joinConditions(conditions)} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, ({ created_at, id }) => [created_at, id])
  return { credentials: page.map((row) => toWire(vault, row)), next_cursor }
}

const findCredential = (tx: PlainTx, team_id: string, provider: string): Promise<Row | undefined> =>
  tx.maybe(
    Row,
    sql`select ${credentialColumns} from custom_credential c where c.team_id = ${team_id} and c.provider = ${provider}`,
  )

/** Returns the address to which a provider redirects the team's users instead of ours. */
export const getRedirectOverride = async (tx: PlainTx, team_id: string, provider: string): Promise<string | null> =>
  (await findCredential(tx, team_id, provider))?.redirect_url_override ?? null

/** A team's own application at a provider. */
export interface Application {
  client_id: string
  client_secret: string
  details: Details | null
  redirect_url_override: string | null
}

/** The team's application at a provider; undefined without an id and a secret. */
export async function findApplication(tx: Tx, vault: Vault, provider: string): Promise<Application | undefined> {
  const row = await findCredential(tx, tx.team, provider)
  if (!row || row.client_id === null || row.client_secret === null) return undefined
  const { id, client_id, client_secret, redirect_url_override } = row
  return {
    client_id,
    client_secret: vault.decrypt(client_secret, secretOf(id)),
    details: decryptSecret(vault, row),
    redirect_url_override,
  }
}

/**
 * Adds details that a vendor has returned to the credentials of the team's application, unless the team has another application by now. Writes
 * custom_credential.
 */
export async function keepDetails(
  tx: Tx,
  vault: Vault,
  provider: string,
  { client_id }: Pick<Application, 'client_id'>,
  details: Details,
): Promise<void> {
  const row = await tx.locking.maybe(
    Row,
    sql`
    select ${credentialColumns} from custom_credential c where c.team_id = ${tx.team} and c.provider = ${provider} and c.client_id = ${client_id}
    for update`,
  )
  if (!row) return
  const all = JSON.stringify({ ...decryptSecret(vault, row), ...details })
  await tx.run(sql`
    update custom_credential set details = ${vault.encrypt(all, detailsOf(row.id))}, updated_at = ${tx.now}
    where team_id = ${tx.team} and id = ${row.id}`)
}

/**
 * Sets the credentials of a team for a provider. An absent field keeps its value, null clears it; the secret can only be replaced or kept.
 * A mask in the details keeps the stored value. The caller checks access to the team. Writes custom_credential.
 * Errors: 422 a mask without a stored value.
 */
export async function upsertCredential(
  tx: PlainTx,
  vault: Vault,
  body: UpsertCredential,
  recordSubject: RecordAuditSubject,
): Promise<Credential> {
  const { team_id, provider, client_secret } = body
  await lockTeams(tx, [team_id])
  const before = await findCredential(tx, team_id, provider)
  const id = before?.id ?? tx.uuid()
  const stored = before ? decryptSecret(vault, before) : null
  const details = body.details == null ? body.details : restoreMasked(body.details, stored)
  const next = {
    client_id: body.client_id === undefined ? before?.client_id : body.client_id,
    client_secret: client_secret === undefined ? before?.client_secret : vault.encrypt(client_secret, secretOf(id)),
    details: details === undefined ? before?.details : details && vault.encrypt(JSON.stringify(details), detailsOf(id)),
    redirect_url_override: body.redirect_url_override === undefined ? before?.redirect_url_override : body.redirect_url_override,
  }
  const kept = await tx.one(
    Row,
    sql`
    insert into custom_credential as c (id, team_id, provider, client_id, client_secret, details, redirect_url_override, created_at, updated_at)
    values (${id}, ${team_id}, ${provider}, ${next.client_id ?? null}, ${next.client_secret ?? null}, ${next.details ?? null},
            ${next.redirect_url_override ?? null}, ${tx.now}, ${tx.now})
    on conflict (team_id, provider) do update set client_id = excluded.client_id, client_secret = excluded.client_secret,
      details = excluded.details, redirect_url_override = excluded.redirect_url_override, updated_at = excluded.updated_at
    returning ${credentialColumns}`,
  )
  recordSubject(team_id, id)
  return toWire(vault, kept)
}

const Deleted = T.Object({ id: T.String(), team_id: T.String() })

/**
 * Deletes credentials in this cell. Writes custom_credential.
 * @returns the deleted ids; unknown and inaccessible ids are reported as not found
 */
export async function deleteCredentials(
  tx: PlainTx,
  manager: ManagementPrincipal,
  ids: string[],
  recordSubject: RecordAuditSubject,
) {
  const requestedIds = [...new Set(ids)]
  const deleted = await tx.many(
    Deleted,
    sql`
    delete from custom_credential where (team_id, id) in (
      select c.team_id, c.id from custom_credential c join team t on t.id = c.team_id
      where ${teamAccessCondition(manager)} and c.id = any (${requestedIds}::uuid[]))
    returning id, team_id`,
  )
  for (const { id, team_id } of deleted) recordSubject(team_id, id)
  const deletedIds = new Set(deleted.map(({ id }) => id))
  return {
    success: requestedIds.filter((id) => deletedIds.has(id)),
    failure: [],
    not_found: requestedIds.filter((id) => !deletedIds.has(id)),
  }
}
