// The lease for advancing a team's clock: one caller at a time for each team, and a few clocks of a cell concurrently. Owns clock_move.
//
// A lease holds no connection between its statements. Callers that hold connections while their jobs wait for connections of the same pool
// would deadlock.
import type { Db } from '../../platform/db/database.ts'
import { conflict } from '../../platform/http/errors.ts'
import { dbNowPlus, isUnleased, LeaseKeeper } from '../../platform/db/leases.ts'
import { LeasedTable, type LeasedTableDefinition } from '../../platform/queue/leased-table.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { ConcurrencyLimit, type ConcurrencyLimits } from '../../platform/runtime/concurrency-limit.ts'
import { uuid } from '../../platform/runtime/uuid.ts'

/** Lease duration: after it, the clock of a killed process can be advanced again. */
const LEASE_S = 15
/** Divisor of a cell's connections: one in SHARE is available for advancing clocks, and each advance uses one at a time. */
const SHARE = 3
const LIMITS = { waiting_max: 200, wait_ms: 60_000 }
const RUNNING_MAX = 4
/** Time limit of one call; the next call continues. */
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

/** The lease for advancing a team's clock. */
export interface ClockLease {
  /** Guard of the transactions of the advance: see `Db.tx`. */
  guard: Sql
  /** Whether the advance has to end: the lease is lost, or the time limit is reached. */
  isOver: () => boolean
  /** Maximum number of jobs. */
  jobs_max: number
}

export interface ClockLimits extends Partial<ConcurrencyLimits> {
  lease_s?: number
  /** Time limit of one advance. */
  move_ms?: number
  /** Maximum number of jobs of one advance. */
  jobs_max?: number
}

/** The advances of a process, by cell. */
export class ClockMoves {
  readonly #limits: ClockLimits
  readonly #owner = uuid()
  readonly #cells = new Map<
    Db,
    { table: LeasedTable<ClockMove>; concurrency: ConcurrencyLimit; keeper: LeaseKeeper<ClockMove> }
  >()

  constructor(limits: ClockLimits = {}) {
    this.#limits = limits
  }

  /**
   * Advances a clock when it is its turn: `move` checks regularly whether it has to end. Writes clock_move.
   * Errors: 409 the team's clock is already advancing; 503 too many clocks are advancing, or the turn did not come in time.
   */
  async run<R>(db: Db, team: string, move: (lease: ClockLease) => Promise<R>): Promise<R> {
    const { table, concurrency, keeper } = this.#of(db)
    const sent_ms = keeper.now_ms()
    const claimed = await this.#claim(db, table, team)
    if (!claimed) throw conflict('The clock of this team is already being advanced')
    const lease = keeper.hold(claimed, sent_ms)
    try {
      const guard = table.guard(claimed)
      return await concurrency.run(() => {
        const end_ms = performance.now() + (this.#limits.move_ms ?? MOVE_MS_MAX)
        const { jobs_max = JOBS_MAX } = this.#limits
        return move({ guard, isOver: () => lease.end !== undefined || performance.now() > end_ms, jobs_max })
      })
    } finally {
      keeper.release(lease)
      // If releasing fails, the lease expires.
      await table.endLeases([claimed]).catch(() => 0)
    }
  }

  #of(db: Db) {
    const known = this.#cells.get(db)
    if (known) return known
    const { lease_s = LEASE_S } = this.#limits
    const running_max = Math.max(1, Math.min(RUNNING_MAX, Math.floor(db.connections_max / SHARE)))
    const table = new LeasedTable<ClockMove>(db, clockMoves, { owner: this.#owner, lease_s })
    const cellLeases = {
      table,
      concurrency: new ConcurrencyLimit({ running_max, ...LIMITS, ...this.#limits }),
      keeper: new LeaseKeeper<ClockMove>({ lease_s, renew: (rows) => table.renew(rows), onError: () => {} }),
    }
    this.#cells.set(db, cellLeases)
    return cellLeases
  }

  /** Claims the existing row or inserts one. The guard of later transactions checks against the lock of the first statement. */
  async #claim(db: Db, table: LeasedTable<ClockMove>, team: string): Promise<ClockMove | undefined> {
    const [claimed] = await table.claimFrom(
      sql`select ctid from clock_move where team_id = ${team} and ${isUnleased} for update skip locked`,
      { team },
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
