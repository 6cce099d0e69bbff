// Which process carries the messages of a link: one at a time, by a lease that it renews. The table lab_link_lease.
import type { Db } from '../../platform/db/database.ts'
import { dbNow, isUnleased, LeaseKeeper, type HeldLease } from '../../platform/db/leases.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { LeasedTable } from '../../platform/queue/leased-table.ts'
import { T, type Static } from '../../platform/schema/schema.ts'

const LeaseRow = T.Object({ account_id: T.String(), fence: T.Integer() })
type LeaseRow = Static<typeof LeaseRow>
export type LinkLease = HeldLease<LeaseRow>

/** How long a link waits for another process if its own was killed. */
const LEASE_S = 15

/** The leases of the links of a cell that this process holds. */
export class LinkLeases {
  readonly #db: Db
  readonly #table: LeasedTable<LeaseRow>
  readonly #keeper: LeaseKeeper<LeaseRow>

  constructor(db: Db, onError: (error: unknown) => void, lease_s = LEASE_S) {
    this.#db = db
    this.#table = new LeasedTable(db, {
      name: 'lab_link_lease',
      key: { account_id: 'uuid' },
      row: LeaseRow,
      lease_s,
      isDurable: true,
    })
    this.#keeper = new LeaseKeeper({ lease_s, renew: (rows) => this.#table.renew(rows), onError })
  }

  /** Claims the links that no process has. Writes lab_link_lease. */
  async claim(account_ids: readonly string[]): Promise<LinkLease[]> {
    if (account_ids.length === 0) return []
    await this.#db.queries.run(sql`
      insert into lab_link_lease (account_id)
      select account_id from lab_link where account_id = any (${account_ids}::uuid[]) on conflict do nothing`)
    const sent_ms = this.#keeper.now_ms()
    const rows = await this.#table.claimFrom(
      sql`
      select ctid from lab_link_lease
      where account_id = any (${account_ids}::uuid[]) and ${isUnleased}
      for update skip locked`,
      { team: undefined },
    )
    return rows.map((row) => this.#keeper.hold(row, sent_ms))
  }

  /** The condition that this process still holds the lease, for statements on what the link sends. */
  isHeld({ row }: LinkLease): Sql {
    return sql`exists (
      select from lab_link_lease l
      where l.account_id = ${row.account_id} and l.owner = ${this.#table.owner} and l.fence = ${row.fence} and l.leased_until > ${dbNow})`
  }

  /** Ends a lease. Writes lab_link_lease. */
  async release(lease: LinkLease): Promise<void> {
    this.#keeper.release(lease)
    await this.#table.endLeases([lease.row])
  }
}
