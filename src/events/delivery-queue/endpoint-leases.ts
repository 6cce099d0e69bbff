// Endpoint leases: which process serves an endpoint, and the health of the endpoint as all processes share it. All times are
// the database's. Owns `webhook_lease`.
import type { Queries, Tx } from '../../platform/db/transaction.ts'
import { dbNow, dbNowPlus } from '../../platform/db/leases.ts'
import { LeasedTable, type LeasedTableDefinition, type LeaseOwner } from '../../platform/queue/leased-table.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { DeliveryDb } from '../fan-out/fan-out.ts'

/** Renewed while the owner lives. An endpoint waits at most this long if its process is killed. */
export const ENDPOINT_LEASE_S = 5

export const createEndpointLease = (tx: Tx, webhook_id: string): Promise<number> =>
  tx.run(sql`insert into webhook_lease (webhook_id, team_id) values (${webhook_id}, ${tx.team})`)

/** Resets the health of an endpoint after a change of its address. */
export const resetEndpointHealth = (tx: Tx, webhook_id: string): Promise<number> =>
  tx.run(sql`
    update webhook_lease set paused_until = null, first_failure_at = null, failing_since = null
    where webhook_id = ${webhook_id} and team_id = ${tx.team}`)

const EndpointLease = T.Object({ webhook_id: T.String() })
export type EndpointLease = Static<typeof EndpointLease> & { fence?: never }

/** Deliveries sent under a lease are fenced by their own leases: delivery-queue.ts. */
const endpointLeases: LeasedTableDefinition = {
  name: 'webhook_lease',
  key: { webhook_id: 'text' },
  row: EndpointLease,
  lease_s: ENDPOINT_LEASE_S,
  isUnfenced: true,
}

/** The endpoint leases of a process. */
export class EndpointLeases extends LeasedTable<EndpointLease> {
  constructor(db: Pick<DeliveryDb, 'queries' | 'asyncCommit'>, owner: LeaseOwner = {}) {
    super(db, endpointLeases, owner)
  }

  /**
   * Leases endpoints that are enabled and that no other process has. The statement that leases them checks this, because they
   * may have been disabled, or their address changed, since an earlier read. Writes webhook_lease. @returns their ids and
   * addresses
   */
  async acquire(db: Queries, webhook_ids: string[]): Promise<Map<string, string>> {
    const rows = await db.many(
      T.Object({ webhook_id: T.String(), url: T.String() }),
      this.claimStatement(
        sql`
        select t.webhook_id, w.url from webhook_lease t join webhook w on w.id = t.webhook_id and w.team_id = t.team_id and not w.disabled
        where t.webhook_id = any (${webhook_ids}::text[]) and ${this.isOursOrFree}
        for update of t skip locked for share of w skip locked`,
        { more: sql`candidate.url` },
      ),
    )
    return new Map(rows.map(({ webhook_id, url }) => [webhook_id, url]))
  }
}

/** Nothing is sent to an endpoint that cannot be decrypted. It is retried after this time: the key may be available again. */
const UNREADABLE_S = 60

/** Pauses endpoints that cannot be decrypted. Writes webhook_lease. */
export const pauseUnreadable = (db: Queries, webhook_ids: string[]): Promise<number> =>
  db.run(sql`
    update webhook_lease set unreadable_since = coalesce(unreadable_since, ${dbNow}), paused_until = ${dbNowPlus(UNREADABLE_S)}
    where webhook_id = any (${webhook_ids}::text[])`)

/** Marks endpoints that could not be decrypted as readable again. Writes webhook_lease. */
export const clearUnreadable = (db: Queries, webhook_ids: string[]): Promise<number> =>
  db.run(sql`update webhook_lease set unreadable_since = null where webhook_id = any (${webhook_ids}::text[])`)

/** The encrypted values of an endpoint were replaced, so decrypting is retried at once. Writes webhook_lease. */
export async function retryUnreadable(tx: Tx, webhook_id: string): Promise<void> {
  await tx.run(sql`
    update webhook_lease set unreadable_since = null, paused_until = null
    where webhook_id = ${webhook_id} and team_id = ${tx.team} and unreadable_since is not null`)
  tx.notifyDelivery()
}

/** The health of an endpoint, as a process observed it. */
export interface EndpointHealthUpdate {
  webhook_id: string
  /** The pause that the endpoint asked for. */
  pause_s: number | undefined
  first_failure_at: Date | undefined
  failing_since: Date | undefined
}

/** Saves the health of endpoints. Only the owner of the lease calls this. */
export async function saveEndpointHealth(db: Queries, owner: string, learned: EndpointHealthUpdate[]): Promise<void> {
  if (learned.length === 0) return
  await db.run(sql`
    update webhook_lease l set paused_until = coalesce(${dbNow} + make_interval(secs => s.pause_s), l.paused_until), first_failure_at = s.first_failure_at, failing_since = s.failing_since
    from unnest(${learned.map((l) => l.webhook_id)}::text[], ${learned.map((l) => l.pause_s ?? null)}::float8[],
                ${learned.map((l) => l.first_failure_at ?? null)}::timestamptz[], ${learned.map((l) => l.failing_since ?? null)}::timestamptz[])
         as s (webhook_id, pause_s, first_failure_at, failing_since)
    where l.webhook_id = s.webhook_id and l.owner = ${owner}`)
}
