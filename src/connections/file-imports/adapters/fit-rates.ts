// Heart rates of a FIT file: those of its records, and those that a strap has stored meanwhile and handed over at the end, in messages of
// their own. Source: the FIT cookbook, "HR messages".
import type { FitContents } from './fit-contents.ts'
import { numberIn, numbersIn, type FitMessage } from './fit-messages.ts'

/** The strap counts in 1,024 parts of a second, in 32 bits. */
const PARTS = 1024
const COUNT = 2 ** 32
const LOW_BITS = 12
const LOW_COUNT = 1 << LOW_BITS

/** Reads messages of heart rates, one after another: each goes on from the time of the one before. */
export class StoredRates {
  readonly #times: FitContents['times']
  /** An instant, and what the strap counted at it. */
  #anchor: { at_ms: number; count: number } | undefined
  #count = 0

  constructor(times: FitContents['times']) {
    this.#times = times
  }

  /** The heart rates of a message, with their instants; none before a message has said when the strap counted what. */
  read(message: FitMessage): [at_ms: number, bpm: number][] {
    const rates = numbersIn(message, 6)
    const counts = numbersIn(message, 9)
    const at_ms = this.#times.of(message)
    if (at_ms !== undefined && counts[0] !== undefined) {
      this.#anchor = { at_ms: at_ms + (numberIn(message, 0, 32_768) ?? 0) * 1000, count: counts[0] }
      this.#count = counts[0]
    }
    const anchor = this.#anchor
    if (!anchor) return []
    const events = counts.length
      ? counts.map((count) => this.#whole(count))
      : lowBits(numbersIn(message, 10)).map((bits) => this.#from(bits))
    return events.flatMap((count, i): [number, number][] => {
      const bpm = rates[i]
      return count === undefined || bpm === undefined ? [] : [[anchor.at_ms + ((count - anchor.count) / PARTS) * 1000, bpm]]
    })
  }

  /** A count of 32 bits, which begins again at 0. */
  #whole(count: number | undefined): number | undefined {
    if (count === undefined) return undefined
    const past = Math.floor(this.#count / COUNT) * COUNT
    return (this.#count = past + count < this.#count ? past + COUNT + count : past + count)
  }

  /** A count of which the last twelve bits are stored: the next one that ends so. */
  #from(bits: number): number {
    const step = (bits - (this.#count % LOW_COUNT) + LOW_COUNT) % LOW_COUNT
    return (this.#count += step)
  }
}

/** Numbers of twelve bits, two in three bytes, the lower bits first. The byte that says "none" elsewhere is part of one here. */
function lowBits(bytes: (number | undefined)[]): number[] {
  const numbers: number[] = []
  const at = (i: number): number => bytes[i] ?? 0xff
  for (let i = 0; i + 2 < bytes.length; i += 3)
    numbers.push(at(i) | ((at(i + 1) & 0x0f) << 8), (at(i + 1) >> 4) | (at(i + 2) << 4))
  return numbers
}
