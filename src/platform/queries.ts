// Statements over a connection, named so that the database prepares each once; rows are promises of their schema.
import type pg from 'pg'
import type { TSchema } from 'typebox'
import { Errors } from 'typebox/value'
import type { Queries } from './db.ts'
import { statementName, type Sql } from './sql.ts'

export function compiled(q: Sql, text = q.text): pg.QueryConfig {
  const name = statementName(text)
  return name === undefined ? { text, values: q.values } : { name, text, values: q.values }
}

export function queriesOver(send: (q: Sql) => Promise<pg.QueryResult>, checkRows: boolean): Queries {
  const rows = async (schema: TSchema, q: Sql): Promise<unknown[]> => {
    const result = await send(q)
    if (checkRows) for (const row of result.rows) assertRow(schema, row)
    return result.rows
  }
  return {
    run: async (q) => (await send(q)).rowCount ?? 0,
    many: rows as Queries['many'],
    maybe: (async (schema: TSchema, q: Sql) => (await rows(schema, q))[0]) as Queries['maybe'],
    one: (async (schema: TSchema, q: Sql) => {
      const found = await rows(schema, q)
      if (found.length !== 1) throw new Error(`expected one row, got ${found.length}`)
      return found[0]
    }) as Queries['one'],
  }
}

function assertRow(schema: TSchema, row: unknown): void {
  const [fault] = Errors(schema, row)
  if (fault) throw new Error(`row does not fit its schema at '${fault.instancePath}': ${fault.message}`)
}
