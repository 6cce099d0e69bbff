// Endpoints: the receivers of a team's events. Owns `webhook`. Source: events.md 6.7, 7; management-auth.md 11.
import type { PlainTx, Tx } from '../../platform/db/transaction.ts'
import { assertBelowLimit, badRequest, notFound } from '../../platform/http/errors.ts'
import { unavailable } from '../../platform/runtime/problem.ts'
import { subscribeTeam } from '../../platform/queue/outbox.ts'
import { instantKey, Pages } from '../../platform/http/list-pages.ts'
import { T } from '../../platform/schema/schema.ts'
import { join, sql, type Sql } from '../../platform/db/sql.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { decryptHeaders, encryptHeaders } from './custom-headers.ts'
import { endpointChanged, endpointChanging, endpointCreated, endpointDeleting } from './endpoint-hooks.ts'
import { Webhook, type CreateWebhook, type PatchWebhook } from './schema.ts'
import { addSecret, readable, RETRY_S } from './signing-secrets.ts'
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import { eraseTables } from '../../platform/db/erasure.ts'

const ENDPOINTS_MAX = 50

const UNREADABLE = 'The secret or the headers cannot be decrypted'
const newColumns = sql`id, url, description, rate_limit, disabled, filter_types, created_at, updated_at, null as delivery_error`
const endpointColumns = (tx: Tx): Sql => sql`
  id, url, description, rate_limit, disabled, filter_types, created_at, updated_at,
  case when (select d.unreadable_since from destination d where d.id = webhook.id and d.team_id = ${tx.team}) is not null then ${UNREADABLE} end as delivery_error`
const isSandbox = (tx: Tx): boolean => tx.tenant.cell.startsWith('sandbox')

/** Null and the empty list both mean: every type. */
const filter = (types: string[] | null | undefined): string[] | null => (types?.length ? [...new Set(types)] : null)

/**
 * Creates an endpoint. Writes webhook, webhook_secret, event_subscribed_team, and what hooks on `endpointCreated` write.
 * 400: the team has 50 endpoints. 422: a forbidden address, unknown types, a malformed secret.
 */
export async function createEndpoint(tx: Tx, vault: Vault, targets: TargetPolicy, body: CreateWebhook): Promise<Webhook> {
  targets.check(body.url, isSandbox(tx))
  await tx.locking.run(sql`select id from team where id = ${tx.team} for no key update`)
  const present = sql`select count(*) as n from webhook where team_id = ${tx.team}`
  await assertBelowLimit(tx, present, ENDPOINTS_MAX, 'A team', 'endpoints')
  const id = `ep_${tx.uuid().replaceAll('-', '')}`
  const created = await tx.one(
    Webhook,
    sql`
    insert into webhook (id, team_id, url, description, rate_limit, disabled, filter_types, headers, created_at, updated_at)
    values (${id}, ${tx.team}, ${body.url}, ${body.description ?? ''}, ${body.rate_limit ?? null}, ${body.disabled ?? false},
            ${filter(body.filter_types)}::text[], ${encryptHeaders(vault, id, {})}, ${tx.now}, ${tx.now})
    returning ${newColumns}`,
  )
  await addSecret(tx, vault, id, body.secret)
  await tx.notify(endpointCreated, id)
  await subscribeTeam(tx, tx.team)
  return created
}

const isEndpointId = (text: string): boolean => /^ep_[0-9a-f]{32}$/.test(text)

/** Endpoints, newest first. 400: a cursor of another list. */
export async function listEndpoints(tx: Tx, query: { limit?: number; next_cursor?: string }) {
  const keys = [instantKey(sql`created_at`), { column: sql`id`, cast: sql`::text`, part: isEndpointId }]
  const pages = new Pages(`webhooks ${tx.team}`, query, keys)
  const rows = await tx.many(
    Webhook,
    sql`select ${endpointColumns(tx)} from webhook where team_id = ${tx.team} and ${pages.afterCursor} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, ({ created_at, id }) => [created_at, id])
  return { data: page, next_cursor }
}

const UNKNOWN = 'Webhook not found'

/** Reads an endpoint. 404: unknown, or of another team or environment. */
export async function getEndpoint(tx: Tx, id: string): Promise<Webhook> {
  const found = await tx.maybe(Webhook, sql`select ${endpointColumns(tx)} from webhook where id = ${id} and team_id = ${tx.team}`)
  if (!found) throw notFound(UNKNOWN)
  return found
}

/** Like `getEndpoint`, and locks the endpoint until the commit. */
export async function lockEndpoint(tx: Tx, id: string): Promise<Webhook> {
  const found = await tx.locking.maybe(
    Webhook,
    sql`select ${endpointColumns(tx)} from webhook where id = ${id} and team_id = ${tx.team} for no key update`,
  )
  if (!found) throw notFound(UNKNOWN)
  return found
}

/** Like `getEndpoint`, for sending: the endpoint is neither deleted nor disabled before the commit. 400: it is disabled. */
export async function getEnabledEndpoint(tx: Tx, id: string): Promise<Webhook> {
  const found = await tx.locking.maybe(
    Webhook,
    sql`select ${endpointColumns(tx)} from webhook where id = ${id} and team_id = ${tx.team} for share`,
  )
  if (!found) throw notFound(UNKNOWN)
  if (found.disabled) throw badRequest('The webhook is disabled')
  return found
}

/**
 * Changes an endpoint: absent fields stay, null clears `rate_limit` and `filter_types`. Writes webhook, and what hooks on
 * `endpointChanged` write.
 * Disabling stops pending deliveries; enabling does not resume them. After a change of the address, pending deliveries go to
 * the new one. No request to the disabled endpoint or to the former address begins once `awaitRevocation` has returned.
 * 404: unknown. 422: as at creation.
 */
export async function patchEndpoint(tx: Tx, targets: TargetPolicy, id: string, body: PatchWebhook): Promise<Webhook> {
  if (body.disabled !== undefined || body.url !== undefined) await tx.notify(endpointChanging, id)
  const before = await lockEndpoint(tx, id)
  if (body.url !== undefined) targets.check(body.url, isSandbox(tx))
  const changes: Sql[] = [sql`updated_at = ${tx.now}`]
  if (body.url !== undefined) changes.push(sql`url = ${body.url}`)
  if (body.description !== undefined) changes.push(sql`description = ${body.description}`)
  if (body.rate_limit !== undefined) changes.push(sql`rate_limit = ${body.rate_limit}`)
  if (body.disabled !== undefined) changes.push(sql`disabled = ${body.disabled}`)
  if (body.filter_types !== undefined) changes.push(sql`filter_types = ${filter(body.filter_types)}::text[]`)
  const changed = await tx.one(
    Webhook,
    sql`update webhook set ${join(changes, ', ')} where id = ${id} and team_id = ${tx.team} returning ${endpointColumns(tx)}`,
  )
  const isMoved = changed.url !== before.url
  const isDisabled = changed.disabled && !before.disabled
  const isEnabled = before.disabled && !changed.disabled
  if (isDisabled || isEnabled || isMoved) await tx.notify(endpointChanged, id, { isDisabled, isEnabled, isMoved })
  return changed
}

/**
 * Disables an endpoint whose deliveries have failed for too long; the caller stops its deliveries. Writes webhook.
 * @returns whether it was enabled before
 */
export const disableEndpoint = async (tx: PlainTx, team_id: string, id: string): Promise<boolean> =>
  (await tx.run(sql`update webhook set disabled = true where id = ${id} and team_id = ${team_id} and not disabled`)) > 0

/**
 * Deletes an endpoint. No request to it begins once `awaitRevocation` has returned. The log of its deliveries cannot be read from then
 * on, and a cleanup erases it. Writes webhook, and what hooks on `endpointDeleting` write. 404: unknown.
 */
export async function deleteEndpoint(tx: Tx, id: string): Promise<void> {
  await tx.notify(endpointChanging, id)
  await tx.notify(endpointDeleting, id)
  const deleted = await tx.run(sql`delete from webhook where id = ${id} and team_id = ${tx.team}`)
  if (!deleted) throw notFound(UNKNOWN)
}

const EncryptedHeaders = T.Object({ headers: T.String() })

/** The custom headers of an endpoint, values included. 404: unknown. 503: they cannot be decrypted here. */
export async function getHeaders(tx: Tx, vault: Vault, id: string): Promise<Record<string, string>> {
  const row = await tx.maybe(EncryptedHeaders, sql`select headers from webhook where id = ${id} and team_id = ${tx.team}`)
  if (!row) throw notFound(UNKNOWN)
  const headers = readable(() => decryptHeaders(vault, id, row.headers))
  if (!headers) throw unavailable('The headers cannot be decrypted; putting them again replaces them', RETRY_S)
  return headers
}

/** Erases the endpoints of a deleted team. Its deliveries must be erased before: they are found by their endpoints. */
export const eraseTeamEndpoints = eraseTables('webhook_secret', 'webhook')
