// Limits of a JSON text in addition to its length, checked before `JSON.parse` runs. Its time depends on the form of the text more than on its
// length: it keeps a stack of what is open, and a hidden class for each sequence of field names. A hostile text of a few megabytes would
// stop the process for seconds.
import { randomInt } from 'node:crypto'

/** More than any request needs. */
const LEVELS_MAX = 64
const CONTAINERS_MAX = 500_000
const SEQUENCES_MAX = 100_000
/** A shorter text takes a few milliseconds at most, whatever its form. */
const CHECKED_BYTES_MIN = 16_384

/** The bytes that structure a JSON text. */
export const marks = { QUOTE: 0x22, BACKSLASH: 0x5c, COLON: 0x3a, OBJECT: 0x7b, OBJECT_END: 0x7d, LIST: 0x5b, LIST_END: 0x5d }
const COMMA = 0x2c
const { QUOTE, BACKSLASH, COLON, OBJECT, OBJECT_END, LIST, LIST_END } = marks

/** Sequences are counted by their hashes. Where 100,000 are counted there are about 125,000: some hashes are equal. */
const HASH_BITS = 18
const WORD_BITS = 32
const PRIME = 0x01000193
/** Unknown to clients, so that they cannot choose sequences with equal hashes. */
const SEED = randomInt(2 ** WORD_BITS)

/** Counts what a JSON text has. The methods return what it has too much of, as a text for the client. */
export class JsonCount {
  readonly #bytes: Uint8Array
  readonly #seen = new Uint32Array(2 ** HASH_BITS / WORD_BITS)
  /** At each level, the hash of the field names so far. */
  readonly #sequence = new Uint32Array(LEVELS_MAX + 1).fill(SEED)
  #level = 0
  #containers = 0
  #sequences = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** An object or a list begins. */
  open(): string | undefined {
    if (++this.#level > LEVELS_MAX) return `more than ${LEVELS_MAX} levels`
    if (++this.#containers > CONTAINERS_MAX) return `more than ${CONTAINERS_MAX} objects and lists`
    this.#sequence[this.#level] = SEED
    return undefined
  }

  close(): void {
    this.#level--
  }

  /** A field of the innermost object. @param start where its name begins, within the quotation marks @param end where it ends */
  field(start: number, end: number): string | undefined {
    const bytes = this.#bytes
    let hash = this.#sequence[this.#level]!
    // The quotation mark is hashed as well: it tells names in sequence from one long name.
    for (let at = start; at <= end; at++) hash = Math.imul(hash ^ bytes[at]!, PRIME)
    this.#sequence[this.#level] = hash
    const place = (hash ^ (hash >>> HASH_BITS)) & (2 ** HASH_BITS - 1)
    const word = place >>> 5
    const bit = 1 << place
    if (this.#seen[word]! & bit) return undefined
    this.#seen[word]! |= bit
    return ++this.#sequences > SEQUENCES_MAX ? `more than ${SEQUENCES_MAX} different sequences of field names` : undefined
  }
}

/** Counts a text that is long enough to be checked. */
const countOf = (bytes: Uint8Array): JsonCount | undefined =>
  bytes.length < CHECKED_BYTES_MIN ? undefined : new JsonCount(bytes)

/** Looks through a JSON text for what structures it, and counts that. */
export class JsonScan {
  readonly #bytes: Uint8Array
  readonly #count: JsonCount | undefined
  readonly #onContainer: ((start: number, end: number) => void) | undefined
  /** Where the containers begin that are open. */
  readonly #open: number[] = []
  #at = 0
  #isInText = false
  /** The text that was passed last. */
  #from = 0
  #to = 0
  #commas = 0
  readonly #values_max: number
  /** What the text has too much of. */
  excess: string | undefined

  /**
   * @param onContainer gets each object and list with its first and its last byte, the inner ones first
   * @param values_max values in lists and objects
   */
  constructor(bytes: Uint8Array, onContainer?: (start: number, end: number) => void, values_max = Infinity) {
    this.#bytes = bytes
    this.#values_max = values_max
    this.#count = countOf(bytes)
    this.#onContainer = onContainer
  }

  /** Looks on for so many bytes at most, or one more. @returns whether there is more to look at */
  step(bytes_max: number): boolean {
    const bytes = this.#bytes
    const end = Math.min(bytes.length, this.#at + bytes_max)
    let at = this.#at
    for (; at < end && this.excess === undefined; at++) {
      const byte = bytes[at]
      if (this.#isInText) {
        if (byte === BACKSLASH) at++
        else if (byte === QUOTE) {
          this.#isInText = false
          this.#to = at
        }
      } else if (byte === QUOTE) {
        this.#isInText = true
        this.#from = at + 1
      } else if (byte === OBJECT || byte === LIST) {
        this.#open.push(at)
        this.excess = this.#count?.open()
      } else if (byte === OBJECT_END || byte === LIST_END) {
        const from = this.#open.pop()
        if (from !== undefined) this.#onContainer?.(from, at)
        this.#count?.close()
      } else if (byte === COLON) this.excess = this.#count?.field(this.#from, this.#to)
      else if (byte === COMMA && ++this.#commas >= this.#values_max) this.excess = `more than ${this.#values_max} values`
    }
    this.#at = at
    return at < bytes.length && this.excess === undefined
  }
}

/**
 * What a JSON text has too much of; undefined for a text within the limits, and for a short one. Faults of the text are left to `JSON.parse`.
 * @param values_max values in lists and objects
 */
export function findExcess(bytes: Uint8Array, values_max = Infinity): string | undefined {
  if (bytes.length < CHECKED_BYTES_MIN) return undefined
  const scan = new JsonScan(bytes, undefined, values_max)
  scan.step(Infinity)
  return scan.excess
}
