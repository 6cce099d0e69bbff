// A table as a queue. Rows that are due are claimed in batches under a lease (leased-table.ts), and their owner ends each of them in one of
// four ways: completed; released, which does not count as an attempt; retried later; or a dead letter, which stays until the operator
// retries it or it is too old. All times are the database's. Jobs, mail and text messages are such tables.
import type { Static, TProperties } from 'typebox'
import { dbNow, dbNowPlus, endLease, isUnleased } from '../db/leases.ts'
import { join, raw, sql, type Sql } from '../db/sql.ts'
import type { Db } from '../db/database.ts'
import { T } from '../schema/schema.ts'
import { runByTeam } from './by-team.ts'
import type { ClaimLimits } from './queue-slots.ts'
import { LeasedTable, type ClaimedRow, type LeasedTableDefinition, type LeaseOwner } from './leased-table.ts'

/** A table with the columns `id` and `due_at`, and how its rows end. Conditions and assignments name its columns without a prefix. */
export interface QueueDefinition extends LeasedTableDefinition {
  /** The condition of a row that has not ended and may be claimed, besides being due and unleased. */
  isPending: Sql
  /** The order in which rows are claimed. */
  order: Sql
  /** The column that counts attempts. The claim counts them, so that they also end if each one kills its process. */
  attempts: string
  /** The column of the last error, a class and a code. */
  error?: string
  /** Completed rows are deleted, or these columns are set. */
  completion: 'delete' | Sql
  /** Rows are completed even if another owner has claimed them since: a sent message need not be sent again. */
  isCompletedForAll?: boolean
  /** The definition of a dead letter. Undefined: rows are retried until they are completed. */
  dead?: {
    is: Sql
    /** Columns set in a row that becomes a dead letter, and in one that the operator retries. */
    set: Sql
    unset: Sql
    /** The time of the last failure. */
    failed_at: string
    /** It is listed and counted for so long; without limit if not given. */
    listed_s?: number
    /** What the operator sees of the row, besides its id, attempts, times and error: no patient data. */
    listedColumns: TProperties
  }
  /** The condition of a row that is too old: it becomes a dead letter with the error `expired`. */
  isExpired?: Sql
}

/** Factor by which more rows are selected than claimed: other workers claim some of them at the same moment. */
export const CHOSEN = 2

/** A row of a team that may be claimed. */
export const Candidate = T.Object({ team_id: T.String(), id: T.String() })
export type Candidate = Static<typeof Candidate>

const idOf = (row: ClaimedRow): string => (row as unknown as Candidate).id

export class LeasedQueue<Row extends ClaimedRow> extends LeasedTable<Row> {
  readonly #definition: QueueDefinition

  constructor(db: Pick<Db, 'queries' | 'asyncCommit'>, definition: QueueDefinition, owner: LeaseOwner = {}) {
    super(db, definition, owner)
    this.#definition = definition
  }

  get isCompletedForAll(): boolean {
    return this.#definition.isCompletedForAll === true
  }

  /** Columns that a claim sets besides the lease. */
  get claimSets(): Sql {
    const column = raw(this.#definition.attempts)
    return sql`${column} = ${column} + 1`
  }

  /** The condition that a row may be claimed now. */
  get isClaimable(): Sql {
    const { isPending, isExpired } = this.#definition
    const isClaimable = sql`due_at <= ${dbNow} and ${isPending} and ${isUnleased}`
    return isExpired ? sql`${isClaimable} and not (${isExpired})` : isClaimable
  }

  /** Claims rows that are due, at most `max`. @param condition a further condition */
  async claim(max: number, condition: Sql = sql`true`): Promise<Row[]> {
    if (max <= 0) return []
    const { order } = this.#definition
    const due = sql`from ${this.table} where ${this.isClaimable} and ${condition} order by ${order}`
    if (!this.isOfTeams)
      return this.claimFrom(sql`select ctid ${due} limit ${max} for update skip locked`, { team: undefined, set: this.claimSets })
    const candidates = await this.claims.many(Candidate, sql`select team_id, id ${due} limit ${max * CHOSEN}`)
    return this.claimAmong(candidates, max)
  }

  /**
   * Claims the first rows of several teams that are still due and that no other owner claims at the same moment. Writes the table.
   * @returns the rows, in the order of the candidates
   */
  protected async claimAmong(candidates: readonly Candidate[], max: number): Promise<Row[]> {
    const claimedRows = new Map<string, Row>()
    for (let begin = 0; begin < candidates.length && claimedRows.size < max;) {
      const next = candidates.slice(begin, begin + max - claimedRows.size)
      begin += next.length
      for (const row of await runByTeam(next, (team, ofTeam) => this.#claimOf(team, ofTeam))) claimedRows.set(idOf(row), row)
    }
    return candidates.flatMap(({ id }) => claimedRows.get(id) ?? [])
  }

  #claimOf(team: string, candidates: readonly Candidate[]): Promise<Row[]> {
    const ids = candidates.map(({ id }) => id)
    return this.claimFrom(
      sql`
      select ctid from ${this.table} where team_id = ${team} and id = any (${ids}::uuid[]) and ${this.isClaimable}
      for update skip locked`,
      { team, set: this.claimSets },
    )
  }

  /**
   * Claims rows for a worker, except of groups that have used their share.
   * @param group the column by which rows are grouped; one group by default
   */
  async claimWithin(limits: ClaimLimits, group?: string): Promise<{ rows: Row[]; isMore: boolean }> {
    const full = [...limits.claimedRows].flatMap(([name, count]) => (count >= limits.groupMax(name) ? [name] : []))
    const which = group !== undefined && full.length ? sql`${raw(group)} <> all (${full}::uuid[])` : undefined
    const rows = await this.claim(limits.total, which)
    return { rows, isMore: rows.length === limits.total || which !== undefined }
  }

  /** Completes rows. @returns the number of rows that this owner still had */
  async complete(rows: readonly Row[]): Promise<number> {
    if (rows.length === 0) return 0
    const { completion, isCompletedForAll, isPending } = this.#definition
    const which = isCompletedForAll ? sql`${this.isListed} and ${isPending}` : this.isOwnedAmong
    return this.claims.run(
      completion === 'delete'
        ? sql`delete from ${this.table} as leased using ${this.relationOf(rows)} where ${which}`
        : sql`update ${this.table} as leased set ${endLease}, ${completion} from ${this.relationOf(rows)} where ${which}`,
    )
  }

  /** Releases rows whose work has not begun: others may claim them, and the claim does not count as an attempt. */
  release(rows: readonly Row[]): Promise<number> {
    return this.endLeases(rows, this.#uncounted())
  }

  /** Postpones a row that must not be worked on before the end of a pause. That does not count as an attempt. */
  postpone(row: Row, pause_s: number): Promise<number> {
    return this.endLeases([row], this.#uncounted(pause_s))
  }

  /**
   * Ends a failed attempt. Changes nothing in a row that another owner has claimed since.
   * @param error a class and a code, without data
   * @param pause_s the time until it may be claimed again; undefined: not before the operator retries it
   */
  fail(row: Row, { error, pause_s }: { error: string; pause_s: number | undefined }): Promise<number> {
    const { dead } = this.#definition
    const sets = [
      endLease,
      ...this.#error(error),
      pause_s === undefined && dead ? dead.set : sql`due_at = ${dbNowPlus(pause_s ?? 0)}`,
    ]
    return this.db.queries.run(sql`update ${this.table} set ${join(sets, ', ')} where ${this.isOwnedRow(row)}`)
  }

  /** Marks rows that have waited too long as dead letters. @returns their number */
  async expire(): Promise<number> {
    const { isExpired, isPending, dead } = this.#definition
    if (!isExpired || !dead) return 0
    return this.claims.run(sql`
      update ${this.table} set ${join([endLease, ...this.#error('expired'), dead.set], ', ')}
      where due_at <= ${dbNow} and ${isPending} and ${isUnleased} and ${isExpired}`)
  }

  #error(error: string): Sql[] {
    const { error: column } = this.#definition
    return column === undefined ? [] : [sql`${raw(column)} = ${error}`]
  }

  #uncounted(pause_s?: number): Sql {
    const column = raw(this.#definition.attempts)
    const uncounted = sql`${column} = ${column} - 1`
    return pause_s === undefined ? uncounted : sql`${uncounted}, due_at = ${dbNowPlus(pause_s)}`
  }
}
