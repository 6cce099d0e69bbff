// Checkpoints along a list that grows at one end store how many rows lie between one checkpoint and the next. They make the total of a
// team's list, and a page far down in it, as cheap for 1,000,000 rows as for 1,000. A count is exact for two reasons. First, no row is ever
// inserted before a checkpoint: rows sort by the team's time, which only moves forward, and a checkpoint is set only where every row before
// it was written more than two minutes ago by the system clock, longer than any transaction may last. Second, a change that hides a row
// from the list, or shows it again, updates the count of its part of the list in the same transaction: database triggers do that for every
// writer. The triggers and the job that sets checkpoints lock the row of the team.
import { addSeconds, minUuidForAge } from '../runtime/clock.ts'
import type { PlainTx, Tx } from './transaction.ts'
import { T } from '../schema/schema.ts'
import { raw, sql, type Sql } from './sql.ts'

/** Rows from one checkpoint to the next. */
export const CHECKPOINT_STRIDE = 500
const SETTLE_DELAY_S = 120
const SET_MAX = 200

interface CheckpointedList {
  /** The table of the rows; statements alias it as `t`. */
  table: string
  /** Its column of the team's time; rows sort by it and `id`. */
  at: string
  /**
   * The table of its checkpoints: `team_id`, the column `at`, `id`, and `shown`, the number of rows from the previous checkpoint to this
   * one. Triggers keep the sum of a team's counts in a table of the same name with `_total` behind it.
   */
  checkpoints: string
  /** Whether a row `t` is shown. */
  isShown: (tx: Tx) => Sql
  /** A subquery that counts the shown rows `t` of the team that fit a condition; default: by `isShown`. */
  countShown?: (tx: Tx, condition: Sql) => Sql
}

const Counted = T.Object({ n: T.Integer() })
const Place = T.Object({ at: T.String(), id: T.String(), rank: T.Integer() })

export class Checkpoints {
  readonly #list: CheckpointedList

  constructor(list: CheckpointedList) {
    this.#list = list
  }

  /** The number of rows that the list shows. */
  async total(tx: Tx): Promise<number> {
    const { n } = await tx.one(Counted, sql`select ${this.totalExpression(tx)} as n`)
    return n
  }

  /**
   * The number of rows that the list shows, as an expression for a statement that also reads a page. It counts the rows before and after
   * the last checkpoint at one instant. The planner cannot know how few rows follow the checkpoint; the upper bound makes it expect one row
   * in 200, and so use the index of the list. With the checkpoint as a value of the statement it planned each execution again, which took
   * longer than counting (docs/decisions/speed.md).
   */
  totalExpression(tx: Tx): Sql {
    const { table, at, checkpoints, isShown, countShown } = this.#list
    const column = raw(at)
    const behind = sql`
      t.${column} >= (select at from last) and t.${column} <= 'infinity' and (t.${column}, t.id) >= (select at, id from last)`
    const shown =
      countShown?.(tx, behind) ??
      sql`(select count(*) from ${raw(table)} t where t.team_id = ${tx.team} and ${isShown(tx)} and ${behind})`
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

  /**
   * Where to begin reading for a row of a rank, counted from the oldest, which is 0.
   * @returns a condition on `t`, and the number of shown rows to skip from there, in the order of the list
   */
  async from(tx: Tx, rank: number): Promise<{ condition: Sql; skip: number }> {
    const { at, checkpoints } = this.#list
    const place = await tx.maybe(
      Place,
      sql`
      select c.at, c.id, c.rank from (
        select ${raw(at)} as at, id, sum(shown) over (order by ${raw(at)}, id)::bigint as rank
        from ${raw(checkpoints)} where team_id = ${tx.team}) c
      where c.rank <= ${rank} order by c.rank desc, c.at desc, c.id desc limit 1`,
    )
    if (!place) return { condition: sql`true`, skip: rank }
    return { condition: sql`(t.${raw(at)}, t.id) >= (${place.at}, ${place.id}::uuid)`, skip: rank - place.rank }
  }

  /**
   * Sets the checkpoints that are due, 200 at most. Writes the table of checkpoints. The last checkpoint comes from a subquery, as in
   * `totalExpression`: the planner then expects few rows and uses the index of the list. From values it takes statistics that may be from
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
 * Only one transaction at a time sets the checkpoints of a team or changes their counts. The row of the team is the lock; transactions that
 * only add rows to its lists do not wait for it.
 */
export const lockTeam = (tx: PlainTx, team_id: string): Promise<number> =>
  tx.locking.run(sql`select id from team where id = ${team_id} for no key update`)
