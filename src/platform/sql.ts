// SQL as text with values beside it. A statement is prepared under a name derived from its text.
import { createHash } from 'node:crypto'
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'

export { sql, empty, join, raw, type Sql }

/** Conditions joined by `and`; `true` when there are none. */
export const and = (conditions: Sql[]): Sql => (conditions.length ? join(conditions, ' and ') : sql`true`)

const STATEMENTS_MAX = 2000
const names = new Map<string, string>()

/** The name under which a statement is prepared on every connection; undefined beyond the limit, so that it runs unnamed. */
export function statementName(text: string): string | undefined {
  let name = names.get(text)
  if (name === undefined && names.size < STATEMENTS_MAX) {
    name = createHash('sha1').update(text).digest('base64url').slice(0, 20)
    names.set(text, name)
  }
  return name
}
