// Posts of samples in the form that phones send, read from their bytes into columns: `JSON.parse` makes an object and several texts of
// each sample, and reading those by the schema takes as long again. Every other form, and every fault, is left to these two.
import { countOf, marks, type JsonCount } from '../../platform/schema/json-limits.ts'
import { yieldIfLong } from '../../platform/runtime/loop-work.ts'
import { UsualInstants } from '../../platform/schema/usual-timestamps.ts'
import { APP_MAX, PRODUCT_MAX, SAMPLES_MAX, TYPE_MAX, UNIT_MAX, type QuantityColumns, type QuantityKind } from './schema.ts'

const { QUOTE, BACKSLASH, COLON, OBJECT, OBJECT_END, LIST, LIST_END } = marks
const codeOf = (character: string): number => character.charCodeAt(0)
const COMMA = codeOf(',')
const SPACE = codeOf(' ')
const NEWLINE = codeOf('\n')
const RETURN = codeOf('\r')
const TAB = codeOf('\t')
const ZERO = codeOf('0')
const DASH = codeOf('-')
const DOT = codeOf('.')
const LAST_ASCII = 0x7f

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const NULL = bytesOf('null')
const DATA = bytesOf('data"')

/** The fields that tell kinds apart, in the order of their places; and how long their texts may be. */
const texts = [
  ['unit', UNIT_MAX],
  ['source_bundle', APP_MAX],
  ['product_type', PRODUCT_MAX],
  ['type', TYPE_MAX],
] as const
const METADATA = texts.length
const PARTS = texts.length + 1
const [UNIT, VALUE, START, END, ID] = [0, 10, 11, 12, 13]

/** By its first two letters: the rest of the name of a field, with the quotation mark, and its place. */
const fields = new Map(
  [
    ...texts.map(([name], place) => [name, place] as const),
    ['metadata', METADATA],
    ['value', VALUE],
    ['start_date', START],
    ['end_date', END],
    ['id', ID],
  ].map(([name, place]) => [
    codeOf(name as string) * 256 + (name as string).charCodeAt(1),
    { rest: bytesOf(`${name}"`), place: place as number },
  ]),
)

/** Of metadata, and of a post without its samples: what is longer the reader of every other form reads in slices. */
const REST_BYTES_MAX = 64 * 1024
/** Of the shortest quantity that has all it must have. */
const QUANTITY_BYTES_MIN = 80
/** Numbers of so many digits are exact, and so are powers of ten up to the 22nd. */
const EXACT_DIGITS = 15
const powers = Array.from({ length: EXACT_DIGITS + 1 }, (_, i) => 10 ** i)

/** Thrown for a form that is not the usual one. */
const unusual = new Error('not the usual form')

/**
 * Reads a post in its usual form, in slices.
 * @param readRest reads the post without its samples, of JSON text; undefined for one with a fault
 * @returns undefined for a post in any other form, and for one with a fault
 */
export async function readUsualPost<P>(
  bytes: Buffer,
  readRest: (text: string) => P | undefined,
): Promise<(P & { columns: QuantityColumns }) | undefined> {
  try {
    const { rest, columns } = await new PostReader(bytes).read()
    const post = readRest(rest)
    return post && { ...post, columns }
  } catch (error) {
    // `JSON.parse` of a part finds faults as well.
    if (error === unusual || error instanceof SyntaxError) return undefined
    throw error
  }
}

class PostReader {
  readonly #bytes: Buffer
  #at = 0
  readonly #columns: QuantityColumns
  /** Where the parts of the kind of the present quantity and of the one before begin and end; 0 for one that is absent. */
  #parts = new Int32Array(2 * PARTS)
  #before = new Int32Array(2 * PARTS)
  #kind = -1
  readonly #places = new Map<string, number>()
  readonly #instants: UsualInstants
  /** Of what `JSON.parse` reads: a post with too much of it is refused by the reader of every other form. */
  readonly #count: JsonCount | undefined

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#count = countOf(bytes)
    this.#instants = new UsualInstants(bytes)
    const most = Math.min(SAMPLES_MAX, Math.ceil(bytes.length / QUANTITY_BYTES_MIN))
    const numbers = () => new Float64Array(most)
    this.#columns = {
      length: 0,
      values: numbers(),
      start_ms: numbers(),
      end_ms: numbers(),
      kind: new Uint32Array(most),
      kinds: [],
    }
  }

  async read(): Promise<{ rest: string; columns: QuantityColumns }> {
    const bytes = this.#bytes
    let list: [from: number, to: number] | undefined
    this.#expect(OBJECT)
    do {
      this.#expect(QUOTE)
      const key = this.#at
      if (this.#isAt(key, DATA)) {
        if (list) throw unusual
        this.#at += DATA.length
        this.#expect(COLON)
        this.#expect(LIST)
        const from = this.#at
        await this.#quantities()
        list = [from, this.#at - 1]
      } else {
        const end = this.#textEnd()
        if (bytes.subarray(key, end).includes(BACKSLASH) || this.#count?.field(key, end) !== undefined) throw unusual
        this.#at = end + 1
        this.#expect(COLON)
        this.#skip()
      }
    } while (this.#isNext(COMMA))
    if (!list || bytes.length - (list[1] - list[0]) > REST_BYTES_MAX) throw unusual
    return { rest: bytes.toString('utf8', 0, list[0]) + bytes.toString('utf8', list[1]), columns: this.#columns }
  }

  /** The next byte that is no space, which is not passed. */
  #peek(): number {
    const bytes = this.#bytes
    let at = this.#at
    let byte = bytes[at]!
    while (byte === SPACE || byte === NEWLINE || byte === RETURN || byte === TAB) byte = bytes[++at]!
    this.#at = at
    return byte
  }

  #isNext(byte: number): boolean {
    if (this.#peek() !== byte) return false
    this.#at++
    return true
  }

  #expect(byte: number): void {
    if (!this.#isNext(byte)) throw unusual
  }

  #isAt(at: number, text: Uint8Array): boolean {
    for (let i = 0; i < text.length; i++) if (this.#bytes[at + i] !== text[i]) return false
    return true
  }

  /** The quotation mark that ends the text here. */
  #textEnd(): number {
    const bytes = this.#bytes
    let at = this.#at
    for (; bytes[at] !== QUOTE; at++) {
      if (bytes[at] === BACKSLASH) at++
      if (at >= bytes.length) throw unusual
    }
    return at
  }

  /** Passes a value, whose faults `JSON.parse` finds. */
  #skip(): void {
    const bytes = this.#bytes
    const count = this.#count
    let depth = 0
    let [from, to] = [0, 0]
    this.#peek()
    for (; ; this.#at++) {
      const byte = bytes[this.#at]
      if (byte === undefined) throw unusual
      if (byte === QUOTE) {
        from = ++this.#at
        to = this.#at = this.#textEnd()
      } else if (byte === OBJECT || byte === LIST) {
        if (count?.open() !== undefined) throw unusual
        depth++
      } else if (byte === OBJECT_END || byte === LIST_END) {
        if (depth === 0) return
        count?.close()
        depth--
      } else if (byte === COLON) {
        if (count?.field(from, to) !== undefined) throw unusual
      } else if (byte === COMMA && depth === 0) return
    }
  }

  async #quantities(): Promise<void> {
    if (this.#isNext(LIST_END)) return
    do {
      this.#quantity()
      const turn = yieldIfLong()
      if (turn) await turn
    } while (this.#isNext(COMMA))
    this.#expect(LIST_END)
  }

  #quantity(): void {
    const bytes = this.#bytes
    const parts = this.#parts
    const before = this.#before
    let value = Number.NaN
    let [start, start_at, end, end_at] = [Number.NaN, 0, Number.NaN, 0]
    let isSameKind = this.#kind >= 0
    /** A bit for each field that was read. */
    let read = 0
    parts.fill(0)
    this.#expect(OBJECT)
    do {
      this.#expect(QUOTE)
      const at = this.#at
      const field = fields.get(bytes[at]! * 256 + bytes[at + 1]!)
      if (!field || !this.#isAt(at, field.rest)) throw unusual
      this.#at = at + field.rest.length
      this.#expect(COLON)
      const { place } = field
      // Of a field given twice `JSON.parse` keeps the last, but it finds the faults of the first.
      if (read & (1 << place)) throw unusual
      read |= 1 << place
      if (place === VALUE) value = this.#number()
      else if (place === START) {
        start_at = this.#text()
        start = this.#instants.at(start_at, this.#at - 1)
      } else if (place === END) {
        end_at = this.#text()
        end = this.#instants.at(end_at, this.#at - 1)
      } else if (place === ID) this.#text()
      else if (this.#peek() === NULL[0]) {
        if (place === UNIT || !this.#isAt(this.#at, NULL)) throw unusual
        this.#at += NULL.length
      } else if (this.#isRepeated(before[2 * place]!, before[2 * place + 1]!)) {
        parts[2 * place] = this.#at
        parts[2 * place + 1] = this.#at += before[2 * place + 1]! - before[2 * place]!
      } else {
        isSameKind = false
        parts[2 * place] = this.#at
        if (place === METADATA) this.#skipMetadata()
        else {
          const from = this.#text()
          if (this.#at - 1 - from > texts[place]![1]) throw unusual
        }
        parts[2 * place + 1] = this.#at
      }
    } while (this.#isNext(COMMA))
    this.#expect(OBJECT_END)
    if (!Number.isFinite(value) || Number.isNaN(start) || Number.isNaN(end) || parts[2 * UNIT] === 0) throw unusual
    for (let i = 0; i < 2 * PARTS && isSameKind; i += 2) if ((parts[i] === 0) !== (before[i] === 0)) isSameKind = false
    if (!isSameKind) this.#kind = this.#kindOf(parts)
    this.#parts = before
    this.#before = parts
    this.#add(value, start, end)
  }

  /** Whether the bytes of the quantity before are here again. */
  #isRepeated(from: number, to: number): boolean {
    const bytes = this.#bytes
    const at = this.#at
    if (from === 0) return false
    for (let i = to - from - 1; i >= 0; i--) if (bytes[at + i] !== bytes[from + i]) return false
    return true
  }

  /** Passes a text without escapes, of ASCII characters. @returns where it begins, within the quotation marks */
  #text(): number {
    this.#expect(QUOTE)
    const bytes = this.#bytes
    const from = this.#at
    let at = from
    for (let byte = bytes[at]!; byte !== QUOTE; byte = bytes[++at]!)
      if (!(byte >= SPACE && byte <= LAST_ASCII && byte !== BACKSLASH)) throw unusual
    this.#at = at + 1
    return from
  }

  #skipMetadata(): void {
    if (this.#peek() !== OBJECT) throw unusual
    const from = this.#at
    this.#skip()
    if (this.#at - from > REST_BYTES_MAX) throw unusual
  }

  #number(): number {
    const first = this.#peek()
    const bytes = this.#bytes
    const from = this.#at
    let at = first === DASH ? from + 1 : from
    const digits_at = at
    let mantissa = 0
    for (let digit = bytes[at]! - ZERO; digit >= 0 && digit <= 9; digit = bytes[++at]! - ZERO) mantissa = mantissa * 10 + digit
    let digits = at - digits_at
    if (digits === 0 || (digits > 1 && bytes[digits_at] === ZERO)) throw unusual
    let decimals = 0
    if (bytes[at] === DOT) {
      const decimals_at = ++at
      for (let digit = bytes[at]! - ZERO; digit >= 0 && digit <= 9; digit = bytes[++at]! - ZERO) mantissa = mantissa * 10 + digit
      decimals = at - decimals_at
      if (decimals === 0) throw unusual
      digits += decimals
    }
    this.#at = at
    const next = bytes[at]!
    if (digits <= EXACT_DIGITS && (next === COMMA || next === OBJECT_END || next <= SPACE)) {
      const value = mantissa / powers[decimals]!
      return first === DASH ? -value : value
    }
    this.#at = from
    this.#skip()
    const value: unknown = JSON.parse(bytes.toString('latin1', from, this.#at))
    if (typeof value !== 'number') throw unusual
    return value
  }

  /** The place of a kind; a kind that was there already keeps its place. */
  #kindOf(parts: Int32Array): number {
    const bytes = this.#bytes
    const given = Array.from({ length: PARTS }, (_, i) =>
      parts[2 * i] === 0 ? '' : bytes.toString('utf8', parts[2 * i], parts[2 * i + 1]),
    )
    const key = given.join()
    const known = this.#places.get(key)
    if (known !== undefined) return known
    const kind: Record<string, unknown> = {}
    for (const [i, [name]] of texts.entries()) if (given[i] !== '') kind[name] = given[i]!.slice(1, -1)
    if (given[METADATA] !== '') kind.metadata = JSON.parse(given[METADATA]!)
    this.#places.set(key, this.#columns.kinds.length)
    return this.#columns.kinds.push(kind as QuantityKind) - 1
  }

  #add(value: number, start: number, end: number): void {
    const { values, start_ms, end_ms, kind, length } = this.#columns
    if (length === values.length) throw unusual
    values[length] = value
    start_ms[length] = start
    end_ms[length] = end
    kind[length] = this.#kind
    this.#columns.length = length + 1
  }
}
