// The SQL of destinations: what sending to them needs, and their health as all processes share it. All times are the database's. Owns
// `destination`.
import type { PlainTx, Queries, Tx } from '../../platform/db/transaction.ts'
import { dbNow, dbNowPlus } from '../../platform/db/leases.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { brokers, type Broker } from '../brokers/schema.ts'
import { revokeLease } from './leases.ts'

export type DestinationKind = 'webhook' | Broker

export const DestinationRow = T.Object({
  id: T.String(),
  team_id: T.String(),
  kind: T.Unsafe<DestinationKind>(T.String()),
  keeps_order: T.Boolean(),
  first_failure_at: Nullable(T.String()),
  failing_since: Nullable(T.String()),
  /** It could not be decrypted before. */
  unreadable: T.Boolean(),
  /** URL of a webhook endpoint. */
  url: Nullable(T.String()),
  rate_limit: Nullable(T.Integer()),
  headers: Nullable(T.String()),
  secrets: T.Array(T.String()),
  /** The encrypted settings of a broker's pipeline, and the organization of the team. */
  settings: Nullable(T.String()),
  org_id: T.String(),
})
export type DestinationRow = Static<typeof DestinationRow>

/** From `destinationTables`: with the keys that sign now, newest first; the old key ends at the team's time. */
export const destinationColumns: Sql = sql`
  d.id, d.team_id, d.kind, d.keeps_order, d.first_failure_at, d.failing_since, d.unreadable_since is not null as unreadable,
  w.url, w.rate_limit, w.headers, p.destinations as settings, t.org_id,
  to_json(array(
    select s.secret from webhook_secret s
    where s.team_id = w.team_id and s.webhook_id = w.id and (s.expires_at is null or s.expires_at > ${dbNow} + make_interval(secs => t.clock_offset_s))
    order by s.id desc)) as secrets`

export const destinationTables: Sql = sql`
  destination d join team t on t.id = d.team_id
  left join webhook w on w.id = d.id and w.team_id = d.team_id
  left join pipeline p on p.team_id = d.team_id`

export const loadDestinations = (db: Queries, ids: string[]): Promise<DestinationRow[]> =>
  db.many(DestinationRow, sql`select ${destinationColumns} from ${destinationTables} where d.id = any (${ids}::text[])`)

/** A new endpoint is a destination. Writes destination. */
export const createWebhookDestination = (tx: Tx, id: string): Promise<number> =>
  tx.run(sql`insert into destination (id, team_id, kind) values (${id}, ${tx.team}, 'webhook')`)

/**
 * Deletes a destination: no request to it begins any more, and a cleanup erases its log. Writes destination, deleted_destination,
 * revoked_lease. @returns whether there was one
 */
export async function deleteDestination(tx: PlainTx, team_id: string, id: string): Promise<boolean> {
  await revokeLease(tx, team_id, id)
  const deleted = await tx.run(sql`
    with deleted as (delete from destination where id = ${id} and team_id = ${team_id} returning id, team_id)
    insert into deleted_destination (destination_id, team_id) select id, team_id from deleted`)
  return deleted > 0
}

/**
 * Adapts the destinations of a team to a change of its pipeline: one for each enabled broker, due at once. Deliveries that wait for a broker
 * that is no longer enabled are deleted. Writes destination, delivery.
 * @param orderedBrokers brokers that keep the order of the events of a user
 */
export async function syncBrokers(tx: PlainTx, team_id: string, enabled: Broker[], orderedBrokers: Broker[]): Promise<void> {
  for (const kind of brokers) {
    const id = `${kind}_${team_id.replaceAll('-', '')}`
    const isPending = sql`destination_id = ${id} and team_id = ${team_id} and due_at is not null`
    if (!enabled.includes(kind)) {
      if (await deleteDestination(tx, team_id, id)) await tx.run(sql`delete from delivery where ${isPending}`)
      continue
    }
    await revokeLease(tx, team_id, id)
    await tx.run(sql`
      insert into destination (id, team_id, kind, keeps_order) values (${id}, ${team_id}, ${kind}, ${orderedBrokers.includes(kind)})
      on conflict (team_id, id) do update set keeps_order = excluded.keeps_order, paused_until = null, unreadable_since = null`)
    await tx.run(sql`delete from deleted_destination where destination_id = ${id} and team_id = ${team_id}`)
    await tx.run(sql`update delivery set due_at = ${dbNow} where ${isPending} and due_at > ${dbNow}`)
  }
}

/** Resets the health of an endpoint after a change of its address. */
export const resetHealth = (tx: Tx, id: string): Promise<number> =>
  tx.run(sql`
    update destination set paused_until = null, first_failure_at = null, failing_since = null
    where id = ${id} and team_id = ${tx.team}`)

/** Nothing is sent to a destination that cannot be decrypted. It is retried after this time: the key may be available again. */
const UNREADABLE_S = 60

/** Pauses destinations that cannot be decrypted. Writes destination. */
export const pauseUnreadable = (db: Queries, ids: string[]): Promise<number> =>
  db.run(sql`
    update destination set unreadable_since = least(unreadable_since, ${dbNow}), paused_until = ${dbNowPlus(UNREADABLE_S)}
    where id = any (${ids}::text[])`)

/** Marks destinations that could not be decrypted as readable again. Writes destination. */
export const clearUnreadable = (db: Queries, ids: string[]): Promise<number> =>
  db.run(sql`update destination set unreadable_since = null where id = any (${ids}::text[])`)

/** The encrypted values of an endpoint were replaced, so decrypting is retried at once. Writes destination. */
export async function retryUnreadable(tx: Tx, id: string): Promise<void> {
  await tx.run(sql`
    update destination set unreadable_since = null, paused_until = null
    where id = ${id} and team_id = ${tx.team} and unreadable_since is not null`)
  tx.notifyDelivery()
}

/** The health of a destination, as a process observed it. */
export interface HealthUpdate {
  id: string
  /** The time for which it is paused. */
  pause_s: number | undefined
  first_failure_at: Date | undefined
  failing_since: Date | undefined
}

/** Saves the health of destinations. Only the owner of the lease calls this. */
export async function saveHealth(db: Queries, owner: string, updates: HealthUpdate[]): Promise<void> {
  if (updates.length === 0) return
  await db.run(sql`
    with s as (
      select id, ${dbNow} + make_interval(secs => pause_s) as paused_until, first_failure_at, failing_since
      from unnest(${updates.map((update) => update.id)}::text[], ${updates.map((update) => update.pause_s ?? null)}::float8[],
                ${updates.map((update) => update.first_failure_at ?? null)}::timestamptz[], ${updates.map((update) => update.failing_since ?? null)}::timestamptz[])
         as t (id, pause_s, first_failure_at, failing_since))
    update destination d
    set paused_until = coalesce(s.paused_until, d.paused_until), first_failure_at = s.first_failure_at, failing_since = s.failing_since
    from s where d.id = s.id and d.owner = ${owner}`)
}
