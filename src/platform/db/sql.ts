// SQL as text with separate values.

/** Part of a statement, or all of it. */
export class Sql {
  readonly #strings: readonly string[]
  readonly #parts: readonly unknown[]

  constructor(strings: readonly string[], parts: readonly unknown[]) {
    this.#strings = strings
    this.#parts = parts
  }

  /** The values of the parameters, in the order of the text. */
  get values(): unknown[] {
    const values: unknown[] = []
    this.#collect(values)
    return values
  }

  get text(): string {
    return this.#build({ count: 0 })
  }

  #collect(values: unknown[]): void {
    for (const part of this.#parts) {
      if (part instanceof Sql) part.#collect(values)
      else values.push(part)
    }
  }

  #build(parameters: { count: number }): string {
    let text = this.#strings[0]!
    for (let i = 0; i < this.#parts.length; i++) {
      const part = this.#parts[i]
      text += (part instanceof Sql ? part.#build(parameters) : `$${++parameters.count}`) + this.#strings[i + 1]!
    }
    return text
  }
}

export const sql = (strings: readonly string[], ...parts: unknown[]): Sql => new Sql(strings, parts)

/** SQL as it is, without values. */
export const raw = (text: string): Sql => new Sql([text], [])

export const empty = raw('')

/** At least one part, with a text between each two. */
export function join(parts: readonly unknown[], separator = ','): Sql {
  if (parts.length === 0) throw new TypeError('there is nothing to join')
  return new Sql(['', ...Array<string>(parts.length - 1).fill(separator), ''], parts)
}

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
