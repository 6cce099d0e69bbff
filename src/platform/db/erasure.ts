// Erasing what a deleted team has in a cell. Each module erases its own tables, a batch of rows at a time; app/compose.ts puts the erasers in
// order, from the top of the architecture down, so that rows that refer to others go before the rows they refer to.
import type { PlainTx } from './transaction.ts'
import { raw, sql } from './sql.ts'

/** Erases at most so many of a team's rows. @returns how many went; 0: nothing is left */
export type TeamEraser = (tx: PlainTx, team_id: string, rows_max: number) => Promise<number>

/** Erase a team's rows of these tables, one after another: those that refer to others first. */
export const eraseTables = (...tables: string[]): TeamEraser =>
  inOrder(
    ...tables.map((name): TeamEraser => {
      const table = raw(`"${name}"`)
      return (tx, team_id, rows_max) =>
        tx.run(
          sql`delete from ${table} where ctid = any (array(select ctid from ${table} where team_id = ${team_id} limit ${rows_max}))`,
        )
    }),
  )

/** Erase by several erasers: the next is run when the one before finds nothing more. */
export const inOrder =
  (...erasers: TeamEraser[]): TeamEraser =>
  async (tx, team_id, rows_max) => {
    for (const erase of erasers) {
      const gone = await erase(tx, team_id, rows_max)
      if (gone) return gone
    }
    return 0
  }
