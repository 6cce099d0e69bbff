// Statements over a connection. Statements that run often have a name, so that the database prepares each once. Rows have the type of their
// schema, which tests verify.
import type pg from 'pg'
import type { TSchema } from 'typebox'
import type { Queries } from './transaction.ts'
import { isStale, prepared } from './prepared-statements.ts'
import { firstFault } from '../schema/shape-check.ts'
import type { Sql } from './sql.ts'

export function compiled(q: Sql, text = q.text): pg.QueryConfig {
  const name = prepared.of(text)
  return name === undefined ? { text, values: q.values } : { name, text, values: q.values }
}

export interface Sending {
  /** Every statement is a transaction of its own: a statement that failed because its prepared form no longer fits is sent once more. */
  alone?: boolean
  /** Called before a statement; an error that it throws ends the statement, and `done` is not called. */
  begin?: () => void
  /** Called after a statement, with any outcome. */
  done?: () => void
}

/** @param send sends a statement, which is compiled when it is sent */
export function createQueries(
  send: (q: Sql) => Promise<pg.QueryResult>,
  checkRows: boolean,
  { alone = true, begin, done }: Sending = {},
): Queries {
  const again = (error: unknown, q: Sql): Promise<pg.QueryResult> => {
    if (isStale(error)) prepared.renew()
    if (!alone || !isStale(error)) throw error
    return send(q)
  }
  const rows = async (schema: TSchema, q: Sql): Promise<unknown[]> => {
    begin?.()
    let result: pg.QueryResult
    try {
      result = await send(q)
    } catch (error) {
      result = await again(error, q)
    } finally {
      done?.()
    }
    if (checkRows) for (const row of result.rows) assertRow(schema, row)
    return result.rows
  }
  return {
    run: async (q) => {
      begin?.()
      try {
        return (await send(q)).rowCount ?? 0
      } catch (error) {
        return (await again(error, q)).rowCount ?? 0
      } finally {
        done?.()
      }
    },
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
  const fault = firstFault(schema, row)
  if (fault) throw new Error(`row does not fit its schema at '${fault.instancePath}': ${fault.message}`)
}
