// Revokes the lease of an endpoint from its owner, since the endpoint was deleted or disabled. Once the owner has acknowledged
// that, no request to the endpoint begins any more. Owns `revoked_webhook_lease`.
//
// The transaction that deletes or disables leaves a row for the owner. The owner looks for such rows while it has leases,
// releases the endpoint and deletes the row; the request that deletes or disables waits for that. If an owner does not respond,
// the request waits until its lease ends: the owner begins no request after that, and its lease can no longer be renewed.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Queries, Tx } from '../../platform/db/transaction.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql, textArrayLiteral } from '../../platform/db/sql.ts'
import { ENDPOINT_LEASE_S } from './endpoint-leases.ts'

/** Time between two reads of a waiting request. */
const POLL_MS = 25

/**
 * Locks the lease of an endpoint: its owner does not change until the commit. Call it before locking the endpoint: a worker
 * locks in this order.
 */
export const lockEndpointLease = (tx: Tx, webhook_id: string): Promise<number> =>
  tx.locking.run(sql`select webhook_id from webhook_lease where webhook_id = ${webhook_id} and team_id = ${tx.team} for update`)

/**
 * Revokes the lease of an endpoint, which is locked (`lockEndpointLease`), from its owner if it has one. No other process can acquire it
 * before the owner has released it or the lease has ended. An owner whose lease has ended could renew it, so it loses the lease
 * too. Writes webhook_lease, revoked_webhook_lease.
 */
export async function revokeEndpointLease(tx: Tx, webhook_id: string): Promise<void> {
  await tx.run(sql`
    with held as (
      select webhook_id, team_id, owner, leased_until from webhook_lease
      where webhook_id = ${webhook_id} and team_id = ${tx.team} and owner is not null
    ), taken as (
      update webhook_lease l set owner = null from held where l.webhook_id = held.webhook_id and l.team_id = held.team_id
    )
    insert into revoked_webhook_lease (webhook_id, team_id, owner, leased_until) select webhook_id, team_id, owner, leased_until from held where leased_until > ${dbNow}
    on conflict (webhook_id) do update set owner = excluded.owner, leased_until = excluded.leased_until`)
}

/** Endpoints that a process has to release. */
export async function revokedFrom(db: Queries, owner: string): Promise<string[]> {
  const rows = await db.many(
    T.Object({ webhook_id: T.String() }),
    sql`select webhook_id from revoked_webhook_lease where owner = ${owner}`,
  )
  return rows.map((row) => row.webhook_id)
}

/**
 * Releases endpoints: this process begins no request to them, and others may lease them. Two statements, since `revokeEndpointLease`
 * locks in this order too. Writes webhook_lease, revoked_webhook_lease.
 */
export async function acknowledgeRevocations(db: Queries, owner: string, webhook_ids: string[]): Promise<void> {
  const isRevoked = sql`r.owner = ${owner} and r.webhook_id = any (${textArrayLiteral(webhook_ids)}::text[])`
  await db.run(sql`
    update webhook_lease l set leased_until = null from revoked_webhook_lease r where l.webhook_id = r.webhook_id and l.owner is null and ${isRevoked}`)
  await db.run(sql`delete from revoked_webhook_lease r where ${isRevoked}`)
}

const Waiting = T.Object({ waiting: T.Boolean() })

/**
 * Whether the process that had the lease of an endpoint may still begin a request: it has not released it, and its lease has
 * not ended.
 */
export async function isRevocationPending(tx: Tx, webhook_id: string): Promise<boolean> {
  const { waiting } = await tx.one(
    Waiting,
    sql`
    select exists (select from revoked_webhook_lease where webhook_id = ${webhook_id} and team_id = ${tx.team} and leased_until > ${dbNow}) as waiting`,
  )
  return waiting
}

/**
 * Waits until the process that had the lease of an endpoint begins no request any more: it has released the endpoint, or its
 * lease has ended. Waits at most 5 s (`ENDPOINT_LEASE_S`), even if the database does not respond: a lease lasts no longer, and
 * it is not renewed.
 * @param read runs a statement of the team
 */
export async function awaitRevocation(read: <R>(work: (tx: Tx) => Promise<R>) => Promise<R>, webhook_id: string): Promise<void> {
  const ended = new AbortController()
  const end = sleep(ENDPOINT_LEASE_S * 1000, undefined, { signal: ended.signal }).catch(() => {})
  let over = false
  const acknowledged = async (): Promise<void> => {
    while (!over) {
      if ((await read((tx) => isRevocationPending(tx, webhook_id)).catch(() => true)) === false) return
      await sleep(POLL_MS)
    }
  }
  await Promise.race([acknowledged(), end])
  over = true
  ended.abort()
}

/** Rows that their owner never acknowledged. Deletes from revoked_webhook_lease. */
export const revokedLeaseCleanup = cleanup({ table: 'revoked_webhook_lease', column: 'leased_until', retention_s: 60 })
