// SQL as text with separate values.
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'

export { sql, empty, join, raw, type Sql }

/** Conditions joined by `and`; `true` if there are none. */
export const joinConditions = (conditions: Sql[]): Sql => (conditions.length ? join(conditions, ' and ') : sql`true`)
