// Leases of destinations. One process at a time serves a destination, the owner of its lease, so that its rate, its pauses and its order
// are kept without asking other processes. All times are the database's. Owns `revoked_lease`.
//
// A lease is revoked from its owner when the destination is deleted, disabled or changed. Once the owner has acknowledged that, no request
// to the destination begins any more.
//
// The transaction of the change leaves a row for the owner. The owner looks for such rows while it has leases, releases the destination
// and deletes the row; the request that deletes or disables an endpoint waits for that. If an owner does not respond, the request waits
// until its lease ends: the owner begins no request after that, and its lease can no longer be renewed.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx, Queries, Tx } from '../../platform/db/transaction.ts'
import { runByTeam } from '../../platform/queue/by-team.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { LeasedTable, type LeasedTableDefinition, type LeaseOwner } from '../../platform/queue/leased-table.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql, textArrayLiteral } from '../../platform/db/sql.ts'

/** The connections to a cell that delivery needs. */
export type DeliveryDb = Pick<Db, 'queries' | 'asyncCommit' | 'asyncCommitTx' | 'plainTx' | 'onEventNotification'>

/** Renewed while the owner lives. A destination waits at most this long if its process is killed. */
export const DESTINATION_LEASE_S = 5

/** Time between two reads of a waiting request. */
const POLL_MS = 25

const LeasedDestination = T.Object({ id: T.String() })
export type LeasedDestination = Static<typeof LeasedDestination> & { fence?: never }

/** Deliveries sent under a lease are fenced by their own leases: delivery-rows.ts. */
const leasedDestinations: LeasedTableDefinition = {
  name: 'destination',
  key: { id: 'text' },
  row: LeasedDestination,
  lease_s: DESTINATION_LEASE_S,
  isUnfenced: true,
}

/** The destinations that a process has leased. */
export class DestinationLeases extends LeasedTable<LeasedDestination> {
  constructor(db: Pick<DeliveryDb, 'queries' | 'asyncCommit'>, owner: LeaseOwner = {}) {
    super(db, leasedDestinations, owner)
  }

  /** Leases destinations that no other process has. Read them again afterwards. Writes destination. @returns their ids */
  async acquire(db: Queries, destinations: readonly { team_id: string; id: string }[]): Promise<string[]> {
    const rows = await runByTeam(destinations, (team, ofTeam) => {
      const ids = ofTeam.map(({ id }) => id)
      const places = sql`
        select ctid from destination where team_id = ${team} and id = any (${ids}::text[]) and ${this.isOursOrFree} for update skip locked`
      return db.many(LeasedDestination, this.claimStatement(places, { team }))
    })
    return rows.map(({ id }) => id)
  }
}

/**
 * Locks the lease of an endpoint: its owner does not change until the commit. Call it before locking the endpoint: a worker
 * locks in this order.
 */
export const lockLease = (tx: Tx, id: string): Promise<number> =>
  tx.locking.run(sql`select id from destination where id = ${id} and team_id = ${tx.team} for update`)

/**
 * Revokes the lease of a destination from its owner if it has one. No other process can acquire it before the owner has released it or the
 * lease has ended. An owner whose lease has ended could renew it, so it loses the lease too. Writes destination, revoked_lease.
 */
export async function revokeLease(tx: PlainTx, team_id: string, id: string): Promise<void> {
  await tx.run(sql`
    with held as (
      select id, team_id, owner, leased_until from destination where id = ${id} and team_id = ${team_id} and owner is not null
    ), taken as (
      update destination d set owner = null from held where d.id = held.id and d.team_id = ${team_id}
    )
    insert into revoked_lease (destination_id, team_id, owner, leased_until)
    select id, team_id, owner, leased_until from held where leased_until > ${dbNow}
    on conflict (team_id, destination_id) do update set owner = excluded.owner, leased_until = excluded.leased_until`)
}

/** Destinations that a process has to release. */
export async function listRevoked(db: Queries, owner: string): Promise<string[]> {
  const rows = await db.many(
    T.Object({ destination_id: T.String() }),
    sql`select destination_id from revoked_lease where owner = ${owner}`,
  )
  return rows.map((row) => row.destination_id)
}

/**
 * Releases destinations: this process begins no request to them, and others may lease them. Two statements, since `revokeLease`
 * locks in this order too. Writes destination, revoked_lease.
 */
export async function acknowledgeRevocations(db: Queries, owner: string, ids: string[]): Promise<void> {
  const isRevoked = sql`r.owner = ${owner} and r.destination_id = any (${textArrayLiteral(ids)}::text[])`
  await db.run(sql`
    update destination d set leased_until = null from revoked_lease r
    where d.team_id = r.team_id and d.id = r.destination_id and d.owner is null and ${isRevoked}`)
  await db.run(sql`delete from revoked_lease r where ${isRevoked}`)
}

/**
 * Whether the process that had the lease of an endpoint may still begin a request: it has not released it, and its lease has
 * not ended.
 */
export async function isRevocationPending(tx: Tx, id: string): Promise<boolean> {
  const { pending } = await tx.one(
    T.Object({ pending: T.Boolean() }),
    sql`
    select exists (select from revoked_lease where destination_id = ${id} and team_id = ${tx.team} and leased_until > ${dbNow}) as pending`,
  )
  return pending
}

/**
 * Waits until the process that had the lease of an endpoint begins no request any more: it has released the endpoint, or its
 * lease has ended. Waits at most 5 s (`DESTINATION_LEASE_S`), even if the database does not respond: a lease lasts no longer, and
 * it is not renewed.
 * @param read runs a statement of the team
 */
export async function awaitRevocation(read: <R>(work: (tx: Tx) => Promise<R>) => Promise<R>, id: string): Promise<void> {
  const aborted = new AbortController()
  const end = sleep(DESTINATION_LEASE_S * 1000, undefined, { signal: aborted.signal }).catch(() => {})
  let isOver = false
  const acknowledged = async (): Promise<void> => {
    while (!isOver) {
      if ((await read((tx) => isRevocationPending(tx, id)).catch(() => true)) === false) return
      await sleep(POLL_MS)
    }
  }
  await Promise.race([acknowledged(), end])
  isOver = true
  aborted.abort()
}

/** Rows that their owner never acknowledged. Deletes from revoked_lease. */
export const revokedLeaseCleanup = cleanup({ table: 'revoked_lease', column: 'leased_until', retention_s: 60 })
