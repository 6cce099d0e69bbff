// SQL as text with separate values. A statement with nested parts has the same text each time, so its text is looked up by the templates that
// it consists of and not put together again: together with finding its prepared name that was a tenth of the server's time for an order.

/** Part of a statement, or all of it. */
export class Sql {
  readonly #strings: readonly string[]
  readonly #parts: readonly unknown[]
  /** Identifies the strings; undefined if no other part has the same. */
  readonly #key: object | string | undefined
  /** Bit `i` is set if part `i` is SQL and not a value; 0 without a key. */
  readonly #nested: number
  #values: unknown[] | undefined
  #text: string | undefined

  constructor(strings: readonly string[], parts: readonly unknown[], key: object | string | undefined) {
    this.#strings = strings
    this.#parts = parts
    this.#key = parts.length > PARTS_MAX ? undefined : key
    let nested = 0
    if (this.#key !== undefined) for (let i = 0; i < parts.length; i++) if (parts[i] instanceof Sql) nested |= 1 << i
    this.#nested = nested
  }

  /** The values of the parameters, in the order of the text. */
  get values(): unknown[] {
    if (!this.#values) this.#collect((this.#values = []))
    return this.#values
  }

  get text(): string {
    return (this.#text ??= this.#known())
  }

  #collect(values: unknown[]): void {
    for (const part of this.#parts) {
      if (part instanceof Sql) part.#collect(values)
      else values.push(part)
    }
  }

  #known(): string {
    const form = this.#form(forms.all)
    if (!form) return this.#build(new Parameters())
    return (form.text ??= this.#build(new Parameters()))
  }

  /** The form below `before` that these parts lead to. */
  #form(before: Form): Form | undefined {
    if (this.#key === undefined) return undefined
    let form: Form | undefined = before.next(this.#key).next(this.#nested)
    if (this.#nested === 0) return form
    for (const part of this.#parts) if (part instanceof Sql && form) form = part.#form(form)
    return form
  }

  #build(parameters: Parameters): string {
    let text = this.#strings[0]!
    for (let i = 0; i < this.#parts.length; i++) {
      const part = this.#parts[i]
      text += (part instanceof Sql ? part.#build(parameters) : parameters.next()) + this.#strings[i + 1]!
    }
    return text
  }
}

/** A number has as many bits for nested parts. */
const PARTS_MAX = 31
const FORMS_MAX = 20_000

class Parameters {
  #last = 0
  next(): string {
    return `$${++this.#last}`
  }
}

/** What a statement has consisted of so far, in the order of its text; with the text if it ends there. */
class Form {
  text: string | undefined
  #next: Map<object | string | number, Form> | undefined

  next(part: object | string | number): Form {
    this.#next ??= new Map()
    let form = this.#next.get(part)
    if (!form) {
      this.#next.set(part, (form = new Form()))
      // Texts of `raw` may be without number.
      if (++forms.count > FORMS_MAX) Object.assign(forms, { all: new Form(), count: 0 })
    }
    return form
  }
}

const forms = { all: new Form(), count: 0 }

export const sql = (strings: readonly string[], ...parts: unknown[]): Sql => new Sql(strings, parts, strings)

/** SQL as it is, without values. */
export const raw = (text: string): Sql => new Sql([text], [], text)

export const empty = raw('')

/** The strings of `join`, by their separator and then by the number of parts. */
const separators = new Map<string, (readonly string[])[]>()

/** At least one part, with a text between each two. */
export function join(parts: readonly unknown[], separator = ','): Sql {
  if (parts.length === 0) throw new TypeError('there is nothing to join')
  if (parts.length > PARTS_MAX) return new Sql(separated(parts.length, separator), parts, undefined)
  let known = separators.get(separator)
  if (!known) separators.set(separator, (known = []))
  const strings = (known[parts.length] ??= separated(parts.length, separator))
  return new Sql(strings, parts, strings)
}

const separated = (length: number, separator: string): string[] => ['', ...Array<string>(length - 1).fill(separator), '']

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
