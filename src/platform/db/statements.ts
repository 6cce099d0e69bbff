// Statements as methods that return rows. Rows have the type of their schema, which tests verify.
import type pg from 'pg'
import type { TSchema } from 'typebox'
import type { Queries } from './transaction.ts'
import { isStale, preparedNames } from './prepared-statements.ts'
import { firstFault } from '../schema/shape-check.ts'
import type { Sql } from './sql.ts'

/** A statement for `pg`, with a name if it runs often: the database then prepares it once per connection. */
export function toStatement({ text, values }: Sql): pg.QueryConfig {
  const name = preparedNames.nameFor(text)
  return name === undefined ? { text, values } : { name, text, values }
}

/**
 * @param send sends a statement
 * @param isAlone every statement is a transaction of its own: one whose prepared form no longer fits is sent once more
 */
export function createQueries(
  send: (statement: pg.QueryConfig) => Promise<pg.QueryResult>,
  checkRows: boolean,
  isAlone = true,
): Queries {
  const result = async (q: Sql): Promise<pg.QueryResult> => {
    try {
      return await send(toStatement(q))
    } catch (error) {
      if (!isStale(error)) throw error
      preparedNames.renew()
      if (!isAlone) throw error
      return send(toStatement(q))
    }
  }
  const many = async (schema: TSchema, q: Sql): Promise<unknown[]> => {
    const { rows } = await result(q)
    if (checkRows) for (const row of rows) assertRow(schema, row)
    return rows
  }
  return {
    run: async (q) => (await result(q)).rowCount ?? 0,
    many: many as Queries['many'],
    maybe: (async (schema: TSchema, q: Sql) => (await many(schema, q))[0]) as Queries['maybe'],
    one: (async (schema: TSchema, q: Sql) => {
      const rows = await many(schema, q)
      if (rows.length !== 1) throw new Error(`expected one row, got ${rows.length}`)
      return rows[0]
    }) as Queries['one'],
  }
}

function assertRow(schema: TSchema, row: unknown): void {
  const fault = firstFault(schema, row)
  if (fault) throw new Error(`row does not fit its schema at '${fault.instancePath}': ${fault.message}`)
}
