// Erasure of a deleted team's rows in a cell. Each module erases its own tables, one batch of rows at a time. app/compose.ts orders the
// erasers from the top of the architecture down, so that referencing rows are deleted before the rows they refer to.
import type { PlainTx, Tx } from './transaction.ts'
import { empty, raw, sql } from './sql.ts'

/** Erases at most the given number of a team's rows. @returns the number of erased rows; 0: nothing is left */
export type TeamEraser = (tx: PlainTx, team_id: string, rows_max: number) => Promise<number>

/** Erases a team's rows of these tables, one table after another; list referencing tables first. */
export const eraseTables = (...tables: string[]): TeamEraser =>
  inOrder(
    ...tables.map((name): TeamEraser => {
      const table = raw(`"${name}"`)
      return (tx, team_id, rows_max) =>
        tx.run(
          sql`
          delete from ${table} where team_id = ${team_id}
            and ctid = any (array(select ctid from ${table} where team_id = ${team_id} limit ${rows_max}))`,
        )
    }),
  )

/** Erases a user's rows of these tables, of one provider or of all; list referencing tables first. @returns the number of erased rows */
export const eraseTablesOfUser =
  (...tables: string[]) =>
  async (tx: Tx, user_id: string, provider?: string | null): Promise<number> => {
    const ofProvider = typeof provider === 'string' ? sql`and provider = ${provider}` : empty
    let erasedRows = 0
    for (const name of tables)
      erasedRows += await tx.run(
        sql`delete from ${raw(`"${name}"`)} where team_id = ${tx.team} and user_id = ${user_id} ${ofProvider}`,
      )
    return erasedRows
  }

/** Builds an eraser from several: each runs when the previous one finds no more rows. */
export const inOrder =
  (...erasers: TeamEraser[]): TeamEraser =>
  async (tx, team_id, rows_max) => {
    for (const erase of erasers) {
      const erasedRows = await erase(tx, team_id, rows_max)
      if (erasedRows) return erasedRows
    }
    return 0
  }
