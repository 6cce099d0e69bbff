// Lists as PostgreSQL reads them, for statements of many rows: the client's own way of writing them takes as long as the rows.

/** Of numbers, and of texts without anything that would have to be quoted, such as UUIDs. */
export const plainList = (values: readonly (string | number)[]): string => `{${values.join(',')}}`

/** Of texts. */
export const textList = (values: readonly string[]): string =>
  `{${values.map((value) => (PLAIN.test(value) ? `"${value}"` : `"${value.replace(/[\\"]/g, '\\$&')}"`)).join(',')}}`

const PLAIN = /^[^\\"]*$/
