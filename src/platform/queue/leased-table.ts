// A table whose rows are leased. One owner at a time claims a row, under a lease that ends by the database's clock. A late
// write of an owner changes nothing in a row that another owner has claimed since.
//
// Such a table has the columns `owner`, `fence` (the fencing token) and `leased_until`; see platform/db/leases.ts.
import type { TObject } from 'typebox'
import type { Db } from '../db/database.ts'
import { dbNowPlus, endLease, isOwned, isUnleased, leaseGuard, takeLease } from '../db/leases.ts'
import { joinConditions, join, raw, sql, type Sql } from '../db/sql.ts'
import type { Queries } from '../db/transaction.ts'
import { T } from '../schema/schema.ts'
import { uuid } from '../runtime/uuid.ts'

/** What a claim returns for a row: at least its key, and the fencing token of the claim if the table has one. */
export interface ClaimedRow {
  fence?: number
}

export interface LeasedTableDefinition {
  name: string
  /** The primary key: its columns and their types. */
  key: Readonly<Record<string, 'uuid' | 'text'>>
  /** What a claim returns. Its properties are columns of the table, among them the key and, if the table has it, `fence`. */
  row: TObject
  lease_s: number
  /**
   * Whether the table has no `fence`: a row that its owner lost and claimed again cannot be distinguished from the earlier
   * claim. For rows to which the earlier claim writes nothing.
   */
  isUnfenced?: boolean
  /** Claims and renewals are durable before they return. Otherwise a crash of the database may undo them. */
  isDurable?: boolean
}

export interface LeaseOwner {
  /** The owner of the rows that the process claims; a random id by default. */
  owner?: string
  /** The duration of a lease; that of the table by default. */
  lease_s?: number
}

export interface ClaimOptions {
  /** The team of the rows; undefined: those of the table belong to no team. */
  team: string | undefined
  /** Further columns that the claim sets. */
  set?: Sql
}

const Nth = T.Object({ nth: T.Integer() })

export class LeasedTable<Row extends ClaimedRow> {
  readonly owner: string
  readonly lease_s: number
  protected readonly db: Pick<Db, 'queries' | 'asyncCommit'>
  protected readonly table: Sql
  readonly #definition: LeasedTableDefinition

  constructor(db: Pick<Db, 'queries' | 'asyncCommit'>, definition: LeasedTableDefinition, { owner, lease_s }: LeaseOwner = {}) {
    this.db = db
    this.owner = owner ?? uuid()
    this.lease_s = lease_s ?? definition.lease_s
    this.table = raw(definition.name)
    this.#definition = definition
  }

  /** The columns that a claim returns. */
  get columns(): Sql {
    return join(Object.keys(this.#definition.row.properties).map((name) => raw(`leased.${name}`)))
  }

  /** The columns that a claim sets. */
  protected get lease(): Sql {
    const { isUnfenced } = this.#definition
    const until = dbNowPlus(this.lease_s)
    return isUnfenced ? sql`owner = ${this.owner}, leased_until = ${until}` : takeLease(this.owner, this.lease_s)
  }

  /** The condition that this owner has the row, or that no owner has it. */
  get isOursOrFree(): Sql {
    return sql`(owner = ${this.owner} or ${isUnleased})`
  }

  /**
   * A statement that claims rows and returns them, also as a part of statements that claim more than one thing.
   * @param candidates selects the places of rows to claim, `ctid`, with `for update skip locked`. They need no index, and no statistics
   */
  claimStatement(candidates: Sql, { team, set }: ClaimOptions): Sql {
    const lease = set ? sql`${this.lease}, ${set}` : this.lease
    const isOfTeam = team === undefined ? sql`` : sql`leased.team_id = ${team} and`
    // A join with the candidates, planned while the table was empty, took 10 s with 10,000 rows.
    return sql`
      update ${this.table} as leased set ${lease} where ${isOfTeam} leased.ctid = any (array(${candidates})) returning ${this.columns}`
  }

  /** Claims rows. @param candidates, options as in `claimStatement` */
  async claimFrom(candidates: Sql, options: ClaimOptions): Promise<Row[]> {
    return (await this.claims.many(this.#definition.row, this.claimStatement(candidates, options))) as unknown as Row[]
  }

  /** Extends the leases of rows that this owner still has. @returns those rows */
  async renew(rows: readonly Row[]): Promise<Row[]> {
    if (rows.length === 0) return []
    const renewed = await this.claims.many(
      Nth,
      sql`
      update ${this.table} as leased set leased_until = ${dbNowPlus(this.lease_s)} from ${this.relationOf(rows)}
      where ${this.isOwnedAmong} returning listed.nth`,
    )
    return renewed.map(({ nth }) => rows[nth - 1]!)
  }

  /** Ends the leases of rows that this owner still has. @param set further columns to set. @returns the number of rows */
  async endLeases(rows: readonly Row[], set?: Sql): Promise<number> {
    if (rows.length === 0) return 0
    return this.claims.run(sql`
      update ${this.table} as leased set ${set ? sql`${endLease}, ${set}` : endLease} from ${this.relationOf(rows)} where ${this.isOwnedAmong}`)
  }

  /** Ends every lease of this owner. */
  endAllLeases(): Promise<number> {
    return this.claims.run(sql`update ${this.table} set ${endLease} where owner = ${this.owner}`)
  }

  /** The guard of a transaction that works on a claimed row: see `Db.tx`. */
  guard(row: Row): Sql {
    return leaseGuard(this.table, this.isRow(row), { owner: this.owner, fence: row.fence! })
  }

  protected get claims(): Queries {
    return this.#definition.isDurable ? this.db.queries : this.db.asyncCommit
  }

  /** Whether each row belongs to a team. */
  protected get isOfTeams(): boolean {
    return 'team_id' in this.#definition.key
  }

  protected get keyColumns(): Sql[] {
    return Object.keys(this.#definition.key).map((name) => raw(name))
  }

  /** The condition that a row of the table is this one. */
  protected isRow(row: Row): Sql {
    const values = row as unknown as Record<string, string>
    return joinConditions(Object.keys(this.#definition.key).map((name) => sql`${raw(name)} = ${values[name]}`))
  }

  /** The condition that a row of the table is this one, and that no owner has claimed it since. */
  protected isOwnedRow(row: Row): Sql {
    return sql`${this.isRow(row)} and ${isOwned(this.owner, row.fence!)}`
  }

  /** Claimed rows as a relation `listed`, for a statement about the table as `leased`. */
  protected relationOf(rows: readonly Row[]): Sql {
    const values = rows as unknown as readonly Record<string, string>[]
    const keys = Object.entries(this.#definition.key)
    const lists = keys.map(([name, type]) => sql`${values.map((row) => row[name])}::${raw(type)}[]`)
    const fences = this.#definition.isUnfenced ? [] : [sql`${rows.map(({ fence }) => fence)}::integer[]`]
    const names = join([...this.keyColumns, ...(fences.length ? [raw('fence')] : []), raw('nth')])
    return sql`unnest(${join([...lists, ...fences])}) with ordinality as listed (${names})`
  }

  /** `leased` is a row of `listed`. */
  protected get isListed(): Sql {
    return joinConditions(this.keyColumns.map((name) => sql`leased.${name} = listed.${name}`))
  }

  /** The condition that `leased` is a row of `listed`, and that no owner has claimed it since. */
  protected get isOwnedAmong(): Sql {
    const isOurs = sql`${this.isListed} and leased.owner = ${this.owner}`
    return this.#definition.isUnfenced ? isOurs : sql`${isOurs} and leased.fence = listed.fence`
  }
}
