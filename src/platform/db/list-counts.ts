// The number of rows of a team's long lists. A transaction that inserts or erases rows adds to one of 16 slots, that of its connection, so
// that transactions of one team do not wait for each other. The total of a list is the sum of its slots, less the rows that it hides.
import type { Tx } from './transaction.ts'
import { sql, type Sql } from './sql.ts'

/** Lists whose rows are counted: all rows of a team in the table, also those of deleted users. */
type CountedList = 'users' | 'orders'

/** Adds to the number of rows of a list when the transaction ends. Writes list_count. @param change below zero for erased rows */
export const countRows = (tx: Tx, list: CountedList, change: number): void => tx.deferBatched({ list, change }, writeCounts)

const writeCounts = (tx: Tx, changes: { list: CountedList; change: number }[]): Sql => sql`
  insert into list_count (team_id, list, slot, row_count)
  select ${tx.team}, list, pg_backend_pid() % 16, sum(change)
  from unnest(${changes.map(({ list }) => list)}::text[], ${changes.map(({ change }) => change)}::integer[]) as t (list, change)
  group by list order by list
  on conflict (team_id, list, slot) do update set row_count = list_count.row_count + excluded.row_count`

/** The number of rows of a list, as an expression. Reads at most 16 rows. */
export const countedRows = (tx: Tx, list: CountedList): Sql => sql`
  (select coalesce(sum(row_count), 0)::bigint from list_count where team_id = ${tx.team} and list = ${list})`
