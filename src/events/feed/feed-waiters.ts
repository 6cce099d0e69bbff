// Requests that wait for new events of a team's feed. A waiting request holds neither a connection nor a transaction: one small
// statement per cell and interval checks for all of them.
import type { CellName } from '../../settings/cells.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Queries } from '../../platform/db/transaction.ts'
import { tooManyRequests } from '../../platform/http/errors.ts'
import { unavailable } from '../../platform/runtime/problem.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'

const POLL_MS = 200
const WAITING_MAX = 1000
const WAITING_PER_TEAM_MAX = 20
const RETRY_S = 5

interface Waiter {
  team: string
  position: number
  wake: (hasNewEvents: boolean) => void
}

const End = T.Object({ team_id: T.String(), seq: T.Integer() })

/** Of the teams that have or had receivers: only their feeds have events. */
const latestPositions = (queries: Queries, teams: string[]) =>
  queries.many(
    End,
    sql`
    select s.team_id, coalesce((select max(f.seq) from feed f where f.team_id = s.team_id), 0) as seq
    from event_subscribed_team s where s.team_id = any (${teams}::uuid[])`,
  )

/** The waiting requests of this process. */
export class FeedWaiters {
  readonly #cells = new Map<CellName, Set<Waiter>>()
  /** Cells that have a polling loop: one each, however often waiting requests come and go. */
  readonly #pollers = new Set<CellName>()
  #waiting = 0
  #closed = false

  /**
   * Waits until the feed of a team has passed `after`. @returns false if it has not after `wait_ms`, or if the process ends
   * 429: twenty requests of the team are waiting here. 503: a thousand requests of all teams are waiting.
   */
  async wait(cell: CellName, db: Db, team: string, position: number, wait_ms: number): Promise<boolean> {
    if (this.#closed || wait_ms <= 0) return false
    const waiters = this.#cells.get(cell) ?? new Set()
    this.#cells.set(cell, waiters)
    let ofTeam = 0
    for (const waiter of waiters) if (waiter.team === team) ofTeam++
    if (ofTeam >= WAITING_PER_TEAM_MAX)
      throw tooManyRequests(`This team already has ${WAITING_PER_TEAM_MAX} requests waiting for events`, RETRY_S)
    if (this.#waiting >= WAITING_MAX) throw unavailable('Too many requests are waiting for events', RETRY_S)
    this.#waiting++
    let timer: NodeJS.Timeout | undefined
    let waiter: Waiter | undefined
    try {
      return await new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(false), wait_ms)
        waiter = { team, position, wake: resolve }
        waiters.add(waiter)
        if (!this.#pollers.has(cell)) void this.#poll(cell, db.queries, waiters)
      })
    } finally {
      clearTimeout(timer)
      waiters.delete(waiter!)
      this.#waiting--
    }
  }

  /** Ends the wait of all requests now. */
  close(): void {
    this.#closed = true
    for (const waiters of this.#cells.values()) for (const { wake } of waiters) wake(false)
  }

  async #poll(cell: CellName, queries: Queries, waiters: Set<Waiter>): Promise<void> {
    this.#pollers.add(cell)
    while (waiters.size && !this.#closed) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      const teams = [...new Set([...waiters].map(({ team }) => team))]
      // A database that does not respond now may respond next time; waiting requests return at their own deadline.
      const ends = await latestPositions(queries, teams).catch(() => [])
      const endOf = new Map(ends.map(({ team_id, seq }) => [team_id, seq]))
      for (const { team, position, wake } of waiters) if ((endOf.get(team) ?? 0) > position) wake(true)
    }
    this.#pollers.delete(cell)
  }
}
