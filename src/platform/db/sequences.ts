// Numbers from the database's sequences, taken in blocks so that a transaction need not ask for its own. What a process has left of a
// block when it ends is lost: numbers are unique and have gaps.
import type { Queries } from './transaction.ts'
import { T } from '../schema/schema.ts'
import { Bound } from './shares.ts'
import { sql } from './sql.ts'

/** The increment of every sequence that is read here. */
const BLOCK = 64

const Taken = T.Object({ first: T.Integer() })

export class Numbers {
  readonly #queries: () => Queries
  readonly #blocks = new Map<string, { next: number; end: number }>()
  readonly #coming = new Map<string, Promise<void>>()
  readonly #waiting = new Bound()

  constructor(queries: () => Queries) {
    this.#queries = queries
  }

  /**
   * The next `count` numbers of a sequence, ascending and above `above`, which must come from the same sequence: a block begun before
   * somebody else took that number is given up. 503: too many wait for a block, in all or of the team; `''` is no team.
   */
  async take(sequence: string, count: number, above: number, team = ''): Promise<number[]> {
    if (count > BLOCK) throw new Error(`at most ${BLOCK} numbers are taken at once`)
    for (;;) {
      const block = this.#blocks.get(sequence)
      if (block && block.next > above && block.end - block.next >= count) {
        const first = block.next
        block.next += count
        return Array.from({ length: count }, (_, i) => first + i)
      }
      this.#waiting.enter(team)
      await this.#fetch(sequence).finally(() => this.#waiting.leave(team))
    }
  }

  /** Several that find the block too small wait for the same next one. */
  #fetch(sequence: string): Promise<void> {
    let coming = this.#coming.get(sequence)
    if (!coming) {
      coming = this.#queries()
        .one(Taken, sql`select nextval(${sequence}::regclass) as first`)
        .then(({ first }) => void this.#blocks.set(sequence, { next: first, end: first + BLOCK }))
        .finally(() => this.#coming.delete(sequence))
      this.#coming.set(sequence, coming)
    }
    return coming
  }
}
