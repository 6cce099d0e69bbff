// The end of a deleted team: when its grace is over, everything it has in a cell is erased. The control plane keeps its record, so that
// its id is never used again, and the audit log stays. Source: management-auth.md 7.
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'
import type { TeamEraser } from '../../platform/db/erasure.ts'
import { dbNowPlus } from '../../platform/db/leases.ts'
import { ageInSeconds, type Cleanup } from '../../platform/queue/retention.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'

/** A deleted team's data can be rescued by the operator for this long. */
const GRACE_S = 7 * 86_400
const TEAMS_MAX = 100

export interface ErasureLimits {
  /** Rows of one transaction. */
  rows_max: number
  /** Transactions of one run that delete something; the next run goes on. */
  batches_max: number
}
const LIMITS: ErasureLimits = { rows_max: 1000, batches_max: 50 }

const Id = T.Object({ id: T.String() })
const Deleted = T.Object({ id: T.String(), age_s: T.Number() })
type Deleted = Static<typeof Deleted>

/**
 * Erase teams of a cell whose grace is over, batch by batch, each in a transaction of its own: a run that ends in the middle has erased
 * so much, and the next goes on. Several processes may run it; a team is one's at a time. Writes team, and what the erasers own.
 * Throws at the end what went wrong with a team; others are erased nevertheless.
 * @returns how many rows went
 * @param control asked too: a deletion that was cut off in the cell alone is none
 * @param stopped asked between batches: whether to leave the rest to the next run
 */
export async function eraseTeams(
  db: Db,
  control: Db,
  erasers: readonly TeamEraser[],
  stopped: () => boolean,
  { rows_max, batches_max }: ErasureLimits = LIMITS,
): Promise<number> {
  const faults: unknown[] = []
  let batches = 0
  let rows = 0
  for (const { id } of await teamsDueForErasure(db, control)) {
    const steps = [...erasers, eraseTeamRow]
    try {
      while (steps.length) {
        if (stopped() || batches === batches_max) return rows
        const gone = await eraseBatch(db, id, steps[0]!, rows_max)
        if (gone === 'taken') break
        if (gone === 0) steps.shift()
        // What finds nothing is not counted: a run of few batches comes further, however many tables are empty already.
        else batches++
        rows += gone
      }
    } catch (error) {
      faults.push(error)
    }
  }
  if (faults.length) throw faults[0]
  return rows
}

/** Deleted teams, as rows whose time is over. */
export const teamCleanup = (erasers: readonly TeamEraser[]): Cleanup => ({
  kind: 'team',
  control: false,
  async overdueFor(db, control) {
    const [first] = await teamsDueForErasure(db, control)
    return first && first.age_s - GRACE_S
  },
  remove: (db, control, stopped) => eraseTeams(db, control, erasers, stopped),
})

/** Teams of the cell that were deleted long enough ago, in the cell and on the control plane, each by the clock of its database. */
async function teamsDueForErasure(db: Db, control: Db): Promise<Deleted[]> {
  const inCell = await db.plainTx((tx) => deletedLongAgo(tx))
  if (inCell.length === 0) return []
  return control.plainTx(async (tx) => {
    const among = inCell.map(({ id }) => id)
    const known = new Set((await deletedLongAgo(tx, among)).map(({ id }) => id))
    return inCell.filter(({ id }) => known.has(id)).slice(0, TEAMS_MAX)
  })
}

function deletedLongAgo(tx: PlainTx, among?: string[]): Promise<Deleted[]> {
  const which = among ? sql`id = any (${among}::uuid[])` : sql`true`
  return tx.many(
    Deleted,
    sql`
    select id, ${ageInSeconds(sql`deleted_at`)} as age_s from team
    where deleted_at <= ${dbNowPlus(-GRACE_S)} and ${which} order by deleted_at, id limit 10000`,
  )
}

/** The team's row is the lock: a process that finds it locked or gone leaves the team to whoever was first. */
const eraseBatch = (db: Db, team_id: string, erase: TeamEraser, rows_max: number): Promise<number | 'taken'> =>
  db.plainTx(async (tx) => {
    const locked = await tx.locking.maybe(
      Id,
      sql`select id from team where id = ${team_id} and deleted_at is not null for update skip locked`,
    )
    return locked ? erase(tx, team_id, rows_max) : 'taken'
  })

const eraseTeamRow: TeamEraser = (tx, team_id) => tx.run(sql`delete from team where id = ${team_id}`)
