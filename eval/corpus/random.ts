// Random values that depend on a seed alone, so that the same seed makes the same documents on every machine.

export interface Random {
  /** From 0 to 1, 1 excluded. */
  next(): number
  /** A whole number; both ends are included. */
  integer(min: number, max: number): number
  float(min: number, max: number): number
  /** Normally distributed with mean 0 and standard deviation 1. */
  gaussian(): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
  /** In random order. */
  shuffle<T>(items: readonly T[]): T[]
  /** A generator of its own for one purpose: what it draws does not change what others draw. */
  fork(purpose: string): Random
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (const char of text) value = Math.imul(value ^ char.codePointAt(0)!, 0x01000193)
  return value >>> 0
}

export function createRandom(seed: string): Random {
  let state = hash(seed)
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const float = (min: number, max: number) => min + next() * (max - min)
  const integer = (min: number, max: number) => Math.floor(float(min, max + 1))
  const random: Random = {
    next,
    float,
    integer,
    gaussian: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    chance: (probability) => next() < probability,
    pick: (items) => items[integer(0, items.length - 1)]!,
    shuffle(items) {
      const shuffled = [...items]
      for (let i = shuffled.length - 1; i > 0; i--) {
        const j = integer(0, i)
        ;[shuffled[i], shuffled[j]] = [shuffled[j]!, shuffled[i]!]
      }
      return shuffled
    },
    fork: (purpose) => createRandom(`${seed}/${purpose}`),
  }
  return random
}
