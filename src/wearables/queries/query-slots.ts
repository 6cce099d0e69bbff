// The slot of a team for requests for queries, and the requests of this process that wait for it. Unsourced: the numbers.
import { randomInt } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { tooManyRequests } from '../../platform/http/errors.ts'
import { ConcurrencyLimit } from '../../platform/runtime/concurrency-limit.ts'
import { T } from '../../platform/schema/schema.ts'

/** Requests of a team, and of all teams, that wait in this process for a slot. */
const WAITING_PER_TEAM_MAX = 10
const WAITING_MAX = 100
/** How long a request waits for the slot, and how long before it tries again: it holds no connection meanwhile. */
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

/** The requests that wait: in this process for those of their team before them, then for another process that holds the slot. */
export class SlotWaiters {
  #rejected = randomInt(RETRY_S_MAX)
  readonly #limit = new ConcurrencyLimit(
    {
      running_max: Infinity,
      running_max_each: 1,
      waiting_max: WAITING_MAX,
      waiting_max_each: WAITING_PER_TEAM_MAX,
      wait_ms: WAIT_MS,
    },
    () => this.#noSlot(),
  )

  /**
   * Runs `attempt` until it returns a result, again and again for up to two seconds while another process holds the slot.
   * Errors: 429 the slot was not free in time, or ten requests of the team are waiting here, or a hundred of all teams.
   * @param attempt returns undefined while the slot is not free
   */
  async run<R>(team: string, attempt: () => Promise<R | undefined>): Promise<R> {
    const until_ms = performance.now() + WAIT_MS
    return this.#limit.run(
      async () => {
        for (;;) {
          const result = await attempt()
          if (result !== undefined) return result
          if (performance.now() >= until_ms) throw this.#noSlot()
          await setTimeout(randomInt(PAUSE_MS_MIN, PAUSE_MS_MAX))
        }
      },
      { owner: team },
    )
  }

  #noSlot() {
    this.#rejected = (this.#rejected + 1) % RETRY_S_MAX
    return tooManyRequests('Another request for queries of this team is running, try again', 1 + this.#rejected)
  }
}
