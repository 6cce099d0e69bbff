// Numbers of the database's sequences, reserved in blocks so that a transaction need not ask for its own. When a process ends, the rest of
// its block is lost: numbers are unique and have gaps.
import type { Queries } from './transaction.ts'
import { T } from '../schema/schema.ts'
import { FairQueue, IN_FLIGHT } from './fair-queue.ts'
import { sql } from './sql.ts'

/** The increment of every sequence that is read here. */
const BLOCK_SIZE = 64

const AllocatedBlock = T.Object({ first: T.Integer() })

export class IdAllocator {
  readonly #queries: Queries
  readonly #blocks = new Map<string, { next: number; end: number }>()
  readonly #pendingFetch = new Map<string, Promise<void>>()
  readonly #waiting = new FairQueue(IN_FLIGHT)

  constructor(queries: Queries) {
    this.#queries = queries
  }

  /**
   * The next `count` numbers of a sequence, ascending and above `last_id`, which must come from the same sequence: a block that another
   * process reserved before that number is discarded. 503: too many wait for a block, in total or for the team; `''` is not a team.
   */
  async allocate(sequence: string, count: number, last_id: number, team = ''): Promise<number[]> {
    if (count > BLOCK_SIZE) throw new Error(`at most ${BLOCK_SIZE} ids can be allocated at once`)
    for (;;) {
      const block = this.#blocks.get(sequence)
      if (block && block.next > last_id && block.end - block.next >= count) {
        const first = block.next
        block.next += count
        return Array.from({ length: count }, (_, i) => first + i)
      }
      void this.#waiting.enter(team)
      await this.#fetchBlock(sequence).finally(() => this.#waiting.leave(team))
    }
  }

  /** Callers that find the block too small wait for the same next block. */
  #fetchBlock(sequence: string): Promise<void> {
    let coming = this.#pendingFetch.get(sequence)
    if (!coming) {
      coming = this.#queries
        .one(AllocatedBlock, sql`select nextval(${sequence}::regclass) as first`)
        .then(({ first }) => void this.#blocks.set(sequence, { next: first, end: first + BLOCK_SIZE }))
        .finally(() => this.#pendingFetch.delete(sequence))
      this.#pendingFetch.set(sequence, coming)
    }
    return coming
  }
}
