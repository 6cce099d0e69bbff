// Lists as PostgreSQL reads them, for statements of many rows: the client's own way of writing them takes as long as the rows.

/** Of numbers, instants, and texts without anything that would have to be quoted, such as UUIDs. */
export const arrayLiteral = (values: readonly (string | number | boolean | Date | null)[]): string =>
  `{${values.map((value) => (value === null ? 'NULL' : value instanceof Date ? value.toISOString() : value)).join(',')}}`

/** Of texts. */
export const textArrayLiteral = (values: readonly (string | null)[]): string =>
  `{${values.map((value) => (value === null ? 'NULL' : PLAIN.test(value) ? `"${value}"` : `"${value.replace(/[\\"]/g, '\\$&')}"`)).join(',')}}`

const PLAIN = /^[^\\"]*$/
