// Which indexes of lab_message the plan of a statement reads.
import type { Db } from '../../src/platform/db/database.ts'
import { sql, type Sql } from '../../src/platform/db/sql.ts'
import type { Queries } from '../../src/platform/db/transaction.ts'
import { T } from '../../src/platform/schema/schema.ts'

/** The statements that a function sends; each answer is undefined, and an error ends it. */
export async function statementsOf(call: (queries: Queries) => Promise<unknown>): Promise<Sql[]> {
  const statements: Sql[] = []
  const record = (_: unknown, statement: Sql) => Promise.resolve(void statements.push(statement) as never)
  await call({ run: (statement) => record(null, statement), many: record, maybe: record, one: record }).catch(() => undefined)
  return statements
}

/** The indexes and whole tables that the plan of a statement reads of lab_message. */
export async function messageReads({ queries }: Db, statement: Sql): Promise<string[]> {
  const rows = await queries.many(T.Object({ 'QUERY PLAN': T.String() }), sql`explain ${statement}`)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  return [
    ...new Set(
      [...plan.matchAll(/Scan (?:Backward )?(?:using|on) (lab_message__?\w+)|(Seq Scan on lab_message)\b/gu)].map(
        (match) => match[1] ?? match[2]!,
      ),
    ),
  ].toSorted()
}
