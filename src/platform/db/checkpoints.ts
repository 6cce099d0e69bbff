// Checkpoints along a list that grows at one end store how many rows lie between one checkpoint and the next. They make the total of a
// team's list, and a page far down in it, as cheap for 1,000,000 rows as for 1,000. A count is exact for two reasons. First, no row is ever
// inserted before a checkpoint: rows sort by the team's time, which only moves forward, and a checkpoint is set only where every row before
// it was written more than two minutes ago by the system clock, longer than any transaction may last. Second, a change that hides a row
// from the list, or shows it again, updates the count of its part of the list in the same transaction: database triggers do that for every
// writer. The triggers and the job that sets checkpoints lock the row of the team.
import type { Static, TObject } from 'typebox'
import { addSeconds, minUuidForAge } from '../runtime/clock.ts'
import type { PlainTx, Tx } from './transaction.ts'
import { T } from '../schema/schema.ts'
import { raw, sql, type Sql } from './sql.ts'

/** Rows from one checkpoint to the next. */
export const CHECKPOINT_STRIDE = 500
const SETTLE_DELAY_S = 120
const SET_MAX = 200

interface CheckpointedList<S extends TObject> {
  /** The table of the rows; statements alias it as `t`. */
  table: string
  /** Its column of the team's time; rows sort by it and `id`. */
  at: string
  /**
   * The table of its checkpoints: `team_id`, the column `at`, `id`, and `shown`, the number of rows from the previous checkpoint to this
   * one. Triggers keep the sum of a team's counts in a table of the same name with `_total` behind it, and the sums by week in one with
   * `_week`.
   */
  checkpoints: string
  /** A row of a page; it has no `total`. */
  row: S
  /** Selects them from `t`. */
  columns: Sql
  /** Whether a row `t` is shown. */
  isShown: (tx: Tx) => Sql
  /** A subquery that counts the shown rows `t` of the team that fit a condition; default: by `isShown`. */
  countShown?: (tx: Tx, condition: Sql) => Sql
}

const Counted = T.Object({ n: T.Integer() })

/** A page: at most so many rows (`limit`) after the first `offset` ones. `desc` is newest first. */
interface PageQuery {
  offset: number
  limit: number
  direction: 'asc' | 'desc'
}

interface Page<S extends TObject> {
  /** Rows of the whole list. */
  total: number
  rows: Static<S>[]
}

type RowOfTotal<S extends TObject> = Static<S> & { total: number }

const pageOf = <S extends TObject>(total: number, rows: RowOfTotal<S>[]): Page<S> => ({
  total,
  rows: rows.map((row) => {
    const { total: _, ...listed } = row
    return listed as unknown as Static<S>
  }),
})

export class Checkpoints<S extends TObject> {
  readonly #list: CheckpointedList<S>
  readonly #rowOfTotal: TObject

  constructor(list: CheckpointedList<S>) {
    this.#list = list
    this.#rowOfTotal = T.Object({ ...list.row.properties, total: T.Integer() })
  }

  /** The number of rows that the list shows. */
  async total(tx: Tx): Promise<number> {
    const { n } = await tx.one(Counted, sql`select ${this.#totalExpression(tx)} as n`)
    return n
  }

  /**
   * The number of rows that the list shows, as an expression for a statement that also reads a page. It counts the rows before and after
   * the last checkpoint at one instant.
   */
  #totalExpression(tx: Tx): Sql {
    const { table, at, checkpoints, isShown, countShown } = this.#list
    const behindLast = behind(raw(at), raw('last'))
    const shown =
      countShown?.(tx, behindLast) ??
      sql`(select count(*) from ${raw(table)} t where t.team_id = ${tx.team} and ${isShown(tx)} and ${behindLast})`
    return sql`(
      with ${this.#last(tx)}
      select coalesce((select shown from ${raw(`${checkpoints}_total`)} where team_id = ${tx.team}), 0) + ${shown})`
  }

  /** For `with`: the last checkpoint of the team, or a place before all rows. */
  #last(tx: Tx): Sql {
    const { at, checkpoints } = this.#list
    return sql`last as materialized (
        (select ${raw(at)} as at, id from ${raw(checkpoints)} where team_id = ${tx.team} order by ${raw(at)} desc, id desc limit 1)
        union all select '-infinity', '00000000-0000-0000-0000-000000000000'
        order by at desc limit 1)`
  }

  /** A page of the list and the number of rows that the list shows. */
  async page(tx: Tx, query: PageQuery): Promise<Page<S>> {
    return query.direction === 'desc' && query.offset < CHECKPOINT_STRIDE ? this.#newest(tx, query) : this.#distant(tx, query)
  }

  /** One statement counts the rows and reads the page. */
  async #newest(tx: Tx, { offset, limit }: PageQuery): Promise<Page<S>> {
    const { table, at, isShown, columns } = this.#list
    const order = sql`t.${raw(at)} desc, t.id desc`
    const rows = await this.#many(
      tx,
      sql`
      select ${columns}, ${this.#totalExpression(tx)} as total
      from (
        select * from ${raw(table)} t where t.team_id = ${tx.team} and ${isShown(tx)}
        order by ${order} limit ${rowsWithin(offset + limit)}) t
      order by ${order} offset ${offset} limit ${limit}`,
    )
    return pageOf(rows[0]?.total ?? (offset ? await this.total(tx) : 0), rows)
  }

  /**
   * One statement counts the rows, finds the checkpoint before the page and reads forward from it. A page that is newest first is the same
   * rows in reverse.
   */
  async #distant(tx: Tx, query: PageQuery): Promise<Page<S>> {
    const { offset, limit, direction } = query
    const read = (within: number) => this.#many(tx, this.#forward(tx, query, within))
    let rows = await read(CHECKPOINT_STRIDE + limit)
    let total = rows[0]?.total ?? (await this.total(tx))
    // More rows can lie between a checkpoint and the page where checkpoints are not set yet or were erased.
    if (rows.length < Math.min(limit, total - offset)) {
      rows = await read(total)
      total = rows[0]?.total ?? total
    }
    return pageOf(total, direction === 'asc' ? rows : rows.reverse())
  }

  /**
   * The rows of a page, oldest first, if they are among so many after the checkpoint (`within`). The checkpoint is the last one at or before
   * the page, or a place before all rows: the sums of the weeks are added up, then the counts of one week.
   */
  #forward(tx: Tx, { offset, limit, direction }: PageQuery, within: number): Sql {
    const { table, at, checkpoints, isShown, columns } = this.#list
    const [list, column] = [raw(checkpoints), raw(at)]
    const rank = direction === 'asc' ? sql`${offset}::bigint` : sql`greatest(total - ${offset + limit}::bigint, 0)`
    return sql`
      with counted as materialized (select ${this.#totalExpression(tx)} as total),
      target as materialized (select total, ${rank} as rank from counted),
      week as materialized (
        select begin, rank from (
          select week as begin, sum(shown) over (order by week rows unbounded preceding) - shown as rank
          from ${raw(`${checkpoints}_week`)} where team_id = ${tx.team}) weeks
        where rank <= (select rank from target) order by begin desc limit 1),
      place as materialized (
        select target.total, coalesce(nearest.at, '-infinity') as at, coalesce(nearest.id, '00000000-0000-0000-0000-000000000000') as id,
          target.rank - coalesce(nearest.rank, 0) as skip
        from target left join (
          select at, id, rank from (
            (select ${column} as at, id, (select rank from week) as rank
             from ${list} where team_id = ${tx.team} and ${column} < (select begin from week)
             order by ${column} desc, id desc limit 1)
            union all
            select ${column}, id, (select rank from week) + sum(shown) over (order by ${column}, id rows unbounded preceding)
            from ${list}
            where team_id = ${tx.team} and ${column} >= (select begin from week)
              and ${column} < (select begin from week) + interval '168 hours') checkpoints
          where rank <= (select rank from target) order by rank desc, at desc, id desc limit 1) nearest on true)
      select ${columns}, (select total from place) as total
      from (
        select * from ${raw(table)} t
        where t.team_id = ${tx.team} and ${isShown(tx)} and ${behind(column, raw('place'))}
        order by t.${column}, t.id limit ${rowsWithin(within)}) t
      order by t.${column}, t.id
      offset (select skip from place) limit (select greatest(least(${limit}::bigint, total - ${offset}::bigint), 0) from place)`
  }

  async #many(tx: Tx, q: Sql): Promise<RowOfTotal<S>[]> {
    return (await tx.many(this.#rowOfTotal, q)) as RowOfTotal<S>[]
  }

  /**
   * Sets the checkpoints that are due, 200 at most. Writes the table of checkpoints. The last checkpoint comes from a subquery, as in
   * `#totalExpression`: the planner then expects few rows and uses the index of the list. From values it takes statistics that may be from
   * before most rows were written, and reads all rows of the table.
   * @returns whether there may be more to set
   */
  async set(tx: Tx): Promise<boolean> {
    const { table, at, checkpoints, isShown } = this.#list
    const column = raw(at)
    await lockTeam(tx, tx.team)
    // The team's time never goes back, so rows that are younger by it are younger by the system clock as well and need no check.
    const set = await tx.run(sql`
      insert into ${raw(checkpoints)} (team_id, ${column}, id, shown)
      with ${this.#last(tx)}
      select ${tx.team}, at, id, ${CHECKPOINT_STRIDE}
      from (
        select at, id, row_number() over (order by at, id) as place
        from (
          select t.${column} as at, t.id from ${raw(table)} t
          where t.team_id = ${tx.team} and ${isShown(tx)}
            and t.${column} >= (select at from last) and (t.${column}, t.id) >= (select at, id from last)
            and t.${column} <= ${addSeconds(tx.now, -SETTLE_DELAY_S)}
          order by t.${column}, t.id limit ${SET_MAX * CHECKPOINT_STRIDE + 1}) t) placed
      where place > 1 and (place - 1) % ${CHECKPOINT_STRIDE} = 0 and id < ${minUuidForAge(SETTLE_DELAY_S)}::uuid`)
    return set === SET_MAX
  }

  /**
   * Removes the checkpoints that were set at rows which are erased, because a checkpoint has the id of its row. Their counts are added to
   * the next ones. Writes the table of checkpoints.
   */
  async erase(tx: Tx, ids: string[]): Promise<void> {
    const { at, checkpoints } = this.#list
    const [table, column] = [raw(checkpoints), raw(at)]
    const { n } = await tx.one(
      Counted,
      sql`select count(*) as n from ${table} where team_id = ${tx.team} and id = any (${ids}::uuid[])`,
    )
    if (n === 0) return
    await lockTeam(tx, tx.team)
    await tx.run(sql`
      with gone as (
        delete from ${table} where team_id = ${tx.team} and id = any (${ids}::uuid[]) returning ${column} as at, id, shown)
      update ${table} c set shown = c.shown + moved.shown
      from (
        select next.at, next.id, sum(gone.shown)::bigint as shown
        from gone cross join lateral (
          select n.${column} as at, n.id from ${table} n
          where n.team_id = ${tx.team} and (n.${column}, n.id) > (gone.at, gone.id) and n.id <> all (${ids}::uuid[])
          order by n.${column}, n.id limit 1) next
        group by next.at, next.id) moved
      where c.team_id = ${tx.team} and c.${column} = moved.at and c.id = moved.id`)
  }
}

/**
 * Rows `t` at or after a checkpoint, which is in `place`. The planner cannot know how few rows follow it; the upper bound makes it expect
 * one row in 200, and so use the index of the list. With the checkpoint as a value of the statement it planned each execution again, which
 * took longer than counting (docs/decisions/pagination.md).
 */
const behind = (at: Sql, place: Sql): Sql => sql`
  t.${at} >= (select at from ${place}) and t.${at} <= 'infinity' and (t.${at}, t.id) >= (select at, id from ${place})`

/**
 * The next power of two, at least 128, as a constant for `limit`: there are few different statements. With a parameter the planner expects a
 * tenth of the list and plans each execution again, since it expects less work from the values at hand; a list of 50 orders took three times
 * the processor time of the database. From a constant near the real number it expects about the same.
 */
const rowsWithin = (count: number): Sql => raw(String(2 ** Math.ceil(Math.log2(Math.max(count, 128)))))

/**
 * Only one transaction at a time sets the checkpoints of a team or changes their counts. The row of the team is the lock; transactions that
 * only add rows to its lists do not wait for it.
 */
export const lockTeam = (tx: PlainTx, team_id: string): Promise<number> =>
  tx.locking.run(sql`select id from team where id = ${team_id} for no key update`)
