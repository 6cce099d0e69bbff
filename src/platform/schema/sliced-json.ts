// Reading long JSON texts without keeping the event loop: `JSON.parse` of 16 MB takes up to half a second. The text is looked through
// first, with its limits; then each object and list that is long is made of its parts, which are parsed by themselves.
import { yieldIfLong } from '../runtime/loop-work.ts'
import { JsonScan, marks } from './json-limits.ts'

const { QUOTE, BACKSLASH, OBJECT, OBJECT_END, LIST, LIST_END } = marks
const COMMA = 0x2c
/** How much is parsed at once: a millisecond or two. */
const PIECE_BYTES = 64 * 1024
/** How much is looked through at once. */
const STEP_BYTES = 256 * 1024

export type ReadJson = { value: unknown } | { fault: string }

/** Parses a text as `JSON.parse` does, in slices. @returns the value, or what the text has too much of (json-limits.ts) or what is wrong with it */
export async function parseInSlices(bytes: Buffer): Promise<ReadJson> {
  /** The last byte of each long container, by its first. */
  const ends = new Map<number, number>()
  const scan = new JsonScan(bytes, (start, end) => end - start > PIECE_BYTES && ends.set(start, end))
  while (scan.step(STEP_BYTES)) await yieldIfLong()
  if (scan.excess !== undefined) return { fault: scan.excess }
  try {
    return { value: await new Parser(bytes, ends).parse() }
  } catch (error) {
    if (error instanceof SyntaxError) return { fault: 'not valid JSON' }
    throw error
  }
}

class Parser {
  readonly #bytes: Buffer
  readonly #ends: ReadonlyMap<number, number>

  constructor(bytes: Buffer, ends: ReadonlyMap<number, number>) {
    this.#bytes = bytes
    this.#ends = ends
  }

  parse(): Promise<unknown> {
    const [from, to] = this.#trimmed(0, this.#bytes.length)
    return this.#value(from, to)
  }

  /** The value between two places, with nothing around it. */
  async #value(start_at: number, end_at: number): Promise<unknown> {
    const end = this.#ends.get(start_at)
    if (end === undefined) return JSON.parse(this.#bytes.toString('utf8', start_at, end_at))
    if (end !== end_at - 1) throw new SyntaxError('more than a value')
    const [first, last] = [this.#bytes[start_at], this.#bytes[end]]
    if (first === LIST && last === LIST_END) return this.#list(start_at + 1, end)
    if (first === OBJECT && last === OBJECT_END) return this.#object(start_at + 1, end)
    throw new SyntaxError('a container that ends as another one')
  }

  async #list(start_at: number, end_at: number): Promise<unknown[]> {
    const pieces: unknown[][] = []
    await this.#eachPiece(start_at, end_at, async (start, end, isLong) => {
      pieces.push(isLong ? [await this.#value(start, end)] : this.#parsed<unknown[]>('[', start, end, ']'))
    })
    return joinInSlices(pieces)
  }

  async #object(start_at: number, end_at: number): Promise<Record<string, unknown>> {
    const object: Record<string, unknown> = {}
    // As `JSON.parse` does it: assigning to `__proto__` would set the prototype.
    const set = (name: string, value: unknown) =>
      Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
    await this.#eachPiece(start_at, end_at, async (start, end, isLong, value_at) => {
      if (!isLong) for (const [name, value] of Object.entries(this.#parsed<object>('{', start, end, '}'))) set(name, value)
      else {
        const name = this.#nameOf(start, value_at)
        set(name, await this.#value(value_at, end))
      }
    })
    return object
  }

  /** The name of a field, of what stands before its value. */
  #nameOf(start_at: number, end_at: number): string {
    const text = this.#bytes.toString('utf8', start_at, end_at).trimEnd()
    if (!text.endsWith(':')) throw new SyntaxError('a field without a name')
    const name: unknown = JSON.parse(text.slice(0, -1))
    if (typeof name !== 'string') throw new SyntaxError('a name that is no text')
    return name
  }

  /** Parses the parts of a container that stand between two commas. There is at least one. */
  #parsed<V extends object>(open: string, start_at: number, end_at: number, close: string): V {
    const value = JSON.parse(`${open}${this.#bytes.toString('utf8', start_at, end_at)}${close}`) as V
    const isEmpty = Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
    if (isEmpty) throw new SyntaxError('nothing between two commas')
    return value
  }

  /**
   * Divides a container into pieces: a part that is or has a long container, or as many others as fit into a piece.
   * @param use gets where the piece begins and ends, and of a long one where its value begins
   */
  async #eachPiece(
    start_at: number,
    end_at: number,
    use: (start_at: number, end_at: number, isLong: boolean, value_at: number) => Promise<void>,
  ): Promise<void> {
    const bytes = this.#bytes
    let [piece, part, depth] = [start_at, start_at, 0]
    const end = async (piece_end: number) => {
      // Before, and not after: finding the end of a text of megabytes takes as long as parsing it.
      await yieldIfLong()
      await use(piece, piece_end, false, piece)
    }
    for (let at = start_at; at < end_at; at++) {
      const byte = bytes[at]
      if (byte === QUOTE) at = this.#textEnd(at, end_at)
      else if (byte === OBJECT || byte === LIST) {
        const last = this.#ends.get(at)
        if (last === undefined || depth > 0) depth++
        else {
          // The comma before it belongs to neither.
          if (part > piece) await end(part - 1)
          const [start, until] = [this.#trimmed(part, at + 1)[0], last + 1]
          await use(start, until, true, at)
          at = this.#trimmed(until, end_at)[0]
          if (at < end_at && bytes[at] !== COMMA) throw new SyntaxError('no comma after a part')
          // Nothing may follow the last comma.
          if (at === end_at - 1) throw new SyntaxError('nothing after a comma')
          piece = part = at + 1
        }
      } else if (byte === OBJECT_END || byte === LIST_END) depth--
      else if (byte === COMMA && depth === 0) {
        if (at - piece >= PIECE_BYTES) {
          await end(at)
          piece = at + 1
          if (piece === end_at) throw new SyntaxError('nothing after a comma')
        }
        part = at + 1
      }
    }
    if (piece < end_at) await end(end_at)
  }

  /** The quotation mark that ends the text which begins here. */
  #textEnd(start_at: number, end_at: number): number {
    const bytes = this.#bytes
    for (let end = start_at + 1; end < end_at; end++) {
      if (bytes[end] === BACKSLASH) end++
      else if (bytes[end] === QUOTE) return end
    }
    throw new SyntaxError('a text without an end')
  }

  /** Without space around. */
  #trimmed(start_at: number, end_at: number): [from: number, to: number] {
    const bytes = this.#bytes
    const isSpace = (place: number) =>
      bytes[place] === 0x20 || bytes[place] === 0x0a || bytes[place] === 0x0d || bytes[place] === 0x09
    let [start, end] = [start_at, end_at]
    while (start < end && isSpace(start)) start++
    while (end > start && isSpace(end - 1)) end--
    return [start, end]
  }
}

/** One list of the items of several. Its size is set once: a list of millions of items that grows is copied, which keeps the event loop. */
async function joinInSlices(lists: unknown[][]): Promise<unknown[]> {
  const items: unknown[] = []
  items.length = lists.reduce((sum, { length }) => sum + length, 0)
  let count = 0
  for (const list of lists) {
    const turn = yieldIfLong()
    if (turn) await turn
    for (const item of list) items[count++] = item
  }
  return items
}
