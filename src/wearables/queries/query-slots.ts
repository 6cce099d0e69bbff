// The slot of a team for requests for queries, and the requests of this process that wait for it. Unsourced: the numbers.
import { randomInt } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { tooManyRequests } from '../../platform/http/errors.ts'
import { T } from '../../platform/schema/schema.ts'

/** Requests of a team, and of all teams, that wait in this process for a slot. */
const WAITING_PER_TEAM_MAX = 10
const WAITING_MAX = 100
/** How long a request waits for a slot, and how long before it tries again: it holds no connection meanwhile. */
const WAIT_MS = 2000
const PAUSE_MS_MIN = 50
const PAUSE_MS_MAX = 150
/** Callers that are refused one after the other are asked to come back at different times, from 1 second on. */
const RETRY_S_MAX = 5

const Slot = T.Object({ is_free: T.Boolean() })

/**
 * Takes the team's slot until the transaction ends, whichever process runs it. A team has one: a query takes a processor of the database for as
 * long as its time limit allows. @returns whether it was free
 */
export async function takeSlot(tx: Tx): Promise<boolean> {
  const { is_free } = await tx.locking.one(
    Slot,
    sql`
    select pg_try_advisory_xact_lock(
      hashtextextended('aggregate query ' || current_schema() || ' ' || ${tx.team}::text, 1)) as is_free`,
  )
  return is_free
}

/** The requests that wait. */
export class SlotWaiters {
  /** By team. */
  readonly #waiting = new Map<string, number>()
  #all = 0
  #refused = randomInt(RETRY_S_MAX)

  /**
   * Runs `attempt` until it returns a result, again and again for up to two seconds while no slot is free.
   * Errors: 429 none was free in time, or ten requests of the team are waiting here, or a hundred of all teams.
   * @param attempt returns undefined while no slot is free
   */
  async run<R>(team: string, attempt: () => Promise<R | undefined>): Promise<R> {
    const result = await attempt()
    if (result !== undefined) return result
    const ofTeam = this.#waiting.get(team) ?? 0
    if (ofTeam >= WAITING_PER_TEAM_MAX || this.#all >= WAITING_MAX) throw this.#noSlot()
    this.#waiting.set(team, ofTeam + 1)
    this.#all++
    try {
      for (let waited_ms = 0; waited_ms < WAIT_MS;) {
        const pause_ms = randomInt(PAUSE_MS_MIN, PAUSE_MS_MAX)
        await setTimeout(pause_ms)
        waited_ms += pause_ms
        const later = await attempt()
        if (later !== undefined) return later
      }
    } finally {
      this.#all--
      const left = this.#waiting.get(team)! - 1
      if (left) this.#waiting.set(team, left)
      else this.#waiting.delete(team)
    }
    throw this.#noSlot()
  }

  #noSlot() {
    this.#refused = (this.#refused + 1) % RETRY_S_MAX
    return tooManyRequests('Another request for queries of this team is running, try again', 1 + this.#refused)
  }
}
