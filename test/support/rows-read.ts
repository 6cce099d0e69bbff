// Counts the rows that statements read, by the plans that PostgreSQL reports after it has run them.
import { T } from '../../src/platform/schema/schema.ts'
import { sql, type Sql } from '../../src/platform/db/sql.ts'
import type { Queries, Tx } from '../../src/platform/db/transaction.ts'

interface Plan {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}
const Explained = T.Object({ 'QUERY PLAN': T.Unknown() })

const rowsOf = (tables: Set<string>, plan: Plan): number =>
  (tables.has(plan['Relation Name'] ?? '')
    ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
    : 0) + (plan.Plans ?? []).reduce((sum, inner) => sum + rowsOf(tables, inner), 0)

/**
 * Returns how many rows of these tables the statements of `work` read. Each statement is run by `explain analyze`. One of `run` is not run
 * again, so that it makes its change once; its number of rows is given as 0. Those that return rows are run a second time for them.
 */
export async function rowsRead(tx: Tx, tables: string[], work: (tx: Tx) => Promise<unknown>): Promise<number> {
  const counted = new Set(tables)
  let read = 0
  const explained = async (q: Sql) => {
    const row = await tx.one(Explained, sql`explain (analyze, format json) ${q}`)
    read += rowsOf(counted, (row['QUERY PLAN'] as { Plan: Plan }[])[0]!.Plan)
  }
  const watched = <M extends 'many' | 'maybe' | 'one'>(method: M): Queries[M] =>
    (async (row: never, q: Sql) => {
      await explained(q)
      return (tx[method] as (row: never, q: Sql) => Promise<unknown>)(row, q)
    }) as Queries[M]
  const run: Tx['run'] = async (q) => {
    await explained(q)
    return 0
  }
  const { locking } = tx
  const uuid = () => tx.uuid()
  await work({ ...tx, locking, uuid, run, many: watched('many'), maybe: watched('maybe'), one: watched('one') })
  return read
}
