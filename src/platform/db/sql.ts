// SQL as text with separate values.
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'

export { sql, empty, join, raw, type Sql }

/** Conditions joined by `and`; `true` if there are none. */
export const joinConditions = (conditions: Sql[]): Sql => (conditions.length ? join(conditions, ' and ') : sql`true`)

/** A pattern of `like` that finds exactly this text, or part of such a pattern. */
export const likeText = (text: string): string => text.replace(/[\\%_]/g, '\\$&')
/** A pattern of `like` that finds a text anywhere. */
export const likeAnywhere = (text: string): string => `%${likeText(text)}%`

/**
 * A PostgreSQL array literal, for statements with many rows: the client's own serialization takes as long as the rows. An
 * array of numbers, instants, or texts that need no quotes, such as UUIDs.
 */
export const arrayLiteral = (values: readonly (string | number | boolean | Date | null)[]): string =>
  `{${values.map((value) => (value === null ? 'NULL' : value instanceof Date ? value.toISOString() : value)).join(',')}}`

/** An array of texts. */
export const textArrayLiteral = (values: readonly (string | null)[]): string =>
  `{${values.map((value) => (value === null ? 'NULL' : PLAIN.test(value) ? `"${value}"` : `"${value.replace(/[\\"]/g, '\\$&')}"`)).join(',')}}`

const PLAIN = /^[^\\"]*$/
