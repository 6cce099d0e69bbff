// SQL as text with values beside it.
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'

export { sql, empty, join, raw, type Sql }

/** Conditions joined by `and`; `true` when there are none. */
export const joinConditions = (conditions: Sql[]): Sql => (conditions.length ? join(conditions, ' and ') : sql`true`)
