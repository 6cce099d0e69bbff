// Erasing what a deleted team has in a cell. Each module erases its own tables, a batch of rows at a time; app/modules.ts puts the erasers in
// order, from the top of the architecture down, so that rows that refer to others go before the rows they refer to.
import type { PlainTx } from './transaction.ts'
import { sql, type Sql } from './sql.ts'

/** Erases at most so many of a team's rows. @returns how many went; 0: nothing is left */
export type TeamEraser = (tx: PlainTx, team_id: string, rows_max: number) => Promise<number>

/** Erase by statements that each delete a batch of one table's rows: the next is run when the one before finds nothing more. */
export const inTurn =
  (...deletes: ((team_id: string, rows_max: number) => Sql)[]): TeamEraser =>
  async (tx, team_id, rows_max) => {
    for (const statement of deletes) {
      const gone = await tx.run(statement(team_id, rows_max))
      if (gone) return gone
    }
    return 0
  }

/** The tables of the platform: what was told, what was to be done, what was answered. The audit log stays. */
export const erasePlatformRows: TeamEraser = inTurn(
  (team, max) =>
    sql`delete from announcement where ctid = any (array(select ctid from announcement where team_id = ${team} limit ${max}))`,
  (team) => sql`delete from followed_team where team_id = ${team}`,
  (team, max) => sql`delete from event where ctid = any (array(select ctid from event where team_id = ${team} limit ${max}))`,
  (team, max) => sql`delete from job where ctid = any (array(select ctid from job where team_id = ${team} limit ${max}))`,
  (team, max) =>
    sql`delete from idempotency where ctid = any (array(select ctid from idempotency where team_id = ${team} limit ${max}))`,
)
