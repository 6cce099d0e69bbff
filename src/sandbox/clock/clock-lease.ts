// Who moves the clock of a team: one caller at a time, by a lease, and a few clocks of a cell side by side. Owns clock_move.
//
// A lease needs no connection between its statements: callers that hold connections while their jobs wait for connections of the same pool
// stop each other for good.
import type { Db } from '../../platform/db/database.ts'
import { conflict } from '../../platform/http/errors.ts'
import { dbNowPlus, isUnleased, LeaseKeeper } from '../../platform/db/leases.ts'
import { LeasedTable, type LeasedTableDefinition } from '../../platform/queue/leased-table.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { Turns, type TurnLimits } from '../../platform/runtime/turns.ts'
import { uuid } from '../../platform/runtime/uuid.ts'

/** A killed process's clock can be moved again after so long. */
const LEASE_S = 15
/** Of the connections of a cell so many are used for moving clocks: each uses one at a time. */
const SHARE = 3
const LIMITS = { waiting_max: 200, wait_ms: 60_000 }
const AT_ONCE_MAX = 4
/** What is not done by then is left to the next call. */
const MOVE_MS_MAX = 30_000
const JOBS_MAX = 2000

const ClockMove = T.Object({ team_id: T.String(), fence: T.Integer() })
type ClockMove = Static<typeof ClockMove>

const clockMoves: LeasedTableDefinition = {
  name: 'clock_move',
  key: { team_id: 'uuid' },
  row: ClockMove,
  lease_s: LEASE_S,
  isDurable: true,
}

/** The right to move a team's clock. */
export interface ClockLease {
  /** For the transactions that move it: see `Db.tx`. */
  guard: Sql
  /** Whether the move has to end: the lease is lost, or it has taken too long. */
  isOver: () => boolean
  /** How many jobs it may run. */
  jobs_max: number
}

export interface ClockLimits extends Partial<TurnLimits> {
  lease_s?: number
  /** How long one move may take. */
  move_ms?: number
  /** How many jobs one move may run. */
  jobs_max?: number
}

/** The moves of a process, by cell. */
export class ClockMoves {
  readonly #limits: ClockLimits
  readonly #owner = uuid()
  readonly #cells = new Map<Db, { table: LeasedTable<ClockMove>; turns: Turns; keeper: LeaseKeeper<ClockMove> }>()

  constructor(limits: ClockLimits = {}) {
    this.#limits = limits
  }

  /**
   * Move a clock when it is its turn: `move` asks in between whether it has to end. Writes clock_move.
   * 409: the team's clock is moving already. 503: too many are moving, or this one's turn did not come in time.
   */
  async run<R>(db: Db, team: string, move: (lease: ClockLease) => Promise<R>): Promise<R> {
    const { table, turns, keeper } = this.#of(db)
    const sent_ms = keeper.now_ms()
    const claimed = await this.#claim(db, table, team)
    if (!claimed) throw conflict('The clock of this team is already being advanced')
    const lease = keeper.hold(claimed, sent_ms)
    try {
      const guard = table.guard(claimed)
      return await turns.take(() => {
        const end_ms = performance.now() + (this.#limits.move_ms ?? MOVE_MS_MAX)
        const { jobs_max = JOBS_MAX } = this.#limits
        return move({ guard, isOver: () => lease.end !== undefined || performance.now() > end_ms, jobs_max })
      })
    } finally {
      keeper.release(lease)
      // Otherwise it ends by itself.
      await table.endLeases([claimed]).catch(() => 0)
    }
  }

  #of(db: Db) {
    const known = this.#cells.get(db)
    if (known) return known
    const { lease_s = LEASE_S } = this.#limits
    const at_once = Math.max(1, Math.min(AT_ONCE_MAX, Math.floor(db.connections_max / SHARE)))
    const table = new LeasedTable<ClockMove>(db, clockMoves, { owner: this.#owner, lease_s })
    const made = {
      table,
      turns: new Turns({ at_once, ...LIMITS, ...this.#limits }),
      keeper: new LeaseKeeper<ClockMove>({ lease_s, renew: (rows) => table.renew(rows), onError: () => {} }),
    }
    this.#cells.set(db, made)
    return made
  }

  /** Claims a row that is there, or else makes it. The lock of the first statement is what a guard stands against. */
  async #claim(db: Db, table: LeasedTable<ClockMove>, team: string): Promise<ClockMove | undefined> {
    const [claimed] = await table.claimFrom(
      sql`select team_id from clock_move where team_id = ${team} and ${isUnleased} for update skip locked`,
    )
    if (claimed) return claimed
    return db.queries.maybe(
      ClockMove,
      sql`
      insert into clock_move (team_id, owner, fence, leased_until) values (${team}, ${table.owner}, 1, ${dbNowPlus(table.lease_s)})
      on conflict (team_id) do nothing returning team_id, fence`,
    )
  }
}
