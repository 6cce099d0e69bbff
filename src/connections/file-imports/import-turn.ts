// How long an import may go on before it lets others have their turn, by time and by what it has read. A turn goes on from the batches that
// are stored: until it reaches them it only reads, and that does not count.
import type { Phase } from './imports.ts'

export interface TurnLimits {
  ms: number
  /** Bytes of content. */
  bytes: number
}

/**
 * A first turn is short, so that a small file of any team waits for seconds. Further ones are longer, because each reads again what is
 * stored.
 */
export const TURN_LIMITS: Record<Phase, TurnLimits> = {
  first: { ms: 3000, bytes: 16 * 1024 ** 2 },
  further: { ms: 15_000, bytes: 64 * 1024 ** 2 },
}
/** Doublings of the time of a turn in which nothing could be stored: the next one reads the same again. */
const DOUBLINGS_MAX = 10

export class ImportTurn {
  readonly #limits: TurnLimits
  /** The turns before. */
  readonly #turns: number
  readonly #now_ms: () => number
  readonly #began_ms: number
  /** The first batch of this turn: how long it took to get there, when, and where. */
  #first: { after_ms: number; at_ms: number; at_byte: number } | undefined

  constructor(limits: TurnLimits, turns: number, now_ms: () => number = () => performance.now()) {
    this.#limits = limits
    this.#turns = turns
    this.#now_ms = now_ms
    this.#began_ms = now_ms()
  }

  /** A batch is about to be stored. */
  batch(read_bytes: number): void {
    const at_ms = this.#now_ms()
    // Before a first turn nothing is stored, and the time until its first batch is that of the thread's start.
    this.#first ??= { after_ms: this.#turns === 0 ? 0 : at_ms - this.#began_ms, at_ms, at_byte: read_bytes }
  }

  /** Whether others that wait may have their turn. At most half of a turn is spent on reading again. */
  isOver(read_bytes: number): boolean {
    const { ms, bytes } = this.#limits
    const now_ms = this.#now_ms()
    if (!this.#first) return now_ms - this.#began_ms >= ms * 2 ** Math.min(this.#turns, DOUBLINGS_MAX)
    const { after_ms, at_ms, at_byte } = this.#first
    return now_ms - at_ms >= Math.max(ms, after_ms) || (read_bytes - at_byte >= bytes && now_ms - at_ms >= after_ms)
  }
}
