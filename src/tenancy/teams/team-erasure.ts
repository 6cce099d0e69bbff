// Erasure of deleted teams: after the grace period all data of the team in a cell is erased. The control plane keeps its record, so that
// its id is never used again, and the audit log stays. Source: management-auth.md 7.
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'
import type { TeamEraser } from '../../platform/db/erasure.ts'
import { dbNowPlus } from '../../platform/db/leases.ts'
import { ageInSeconds, type Cleanup } from '../../platform/queue/retention.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'

/** The operator can restore a deleted team's data for this long. */
const GRACE_S = 7 * 86_400
const TEAMS_MAX = 100

export interface ErasureLimits {
  /** Rows per transaction. */
  rows_max: number
  /** Transactions of one run that delete rows; the next run continues. */
  batches_max: number
}
const LIMITS: ErasureLimits = { rows_max: 1000, batches_max: 100 }

const Id = T.Object({ id: T.String() })
const Deleted = T.Object({ id: T.String(), age_s: T.Number() })
type Deleted = Static<typeof Deleted>

/**
 * Erases teams of a cell after their grace period, batch by batch, each in a transaction of its own: an interrupted run has erased its
 * batches, and the next run continues. Several processes may run it; only one of them erases a team at a time. Writes team, and the tables
 * of the erasers. Throws at the end the error of a team; the other teams are erased nevertheless.
 * @returns the number of erased rows
 * @param control checked too: a deletion that was interrupted after the cell does not count
 * @param isStopped checked between batches: whether to leave the rest to the next run
 */
export async function eraseTeams(
  db: Db,
  control: Db,
  erasers: readonly TeamEraser[],
  isStopped: () => boolean,
  { rows_max, batches_max }: ErasureLimits = LIMITS,
): Promise<number> {
  const faults: unknown[] = []
  let batches = 0
  let rows = 0
  for (const { id } of await teamsDueForErasure(db, control)) {
    const steps = [...erasers, eraseTeamRow(erasers)]
    try {
      while (steps.length) {
        if (isStopped() || batches === batches_max) return rows
        const erasedRows = await eraseBatch(db, id, steps[0]!, rows_max)
        if (erasedRows === 'taken') break
        if (erasedRows === 0) steps.shift()
        // Batches that find nothing are not counted: a run with few batches still progresses past tables that are empty already.
        else batches++
        rows += erasedRows
      }
    } catch (error) {
      faults.push(error)
    }
  }
  if (faults.length) throw faults[0]
  return rows
}

/** Deleted teams, as rows whose retention has ended. */
export const teamCleanup = (erasers: readonly TeamEraser[]): Cleanup => ({
  kind: 'team',
  control: false,
  async overdueFor(db, control) {
    const [first] = await teamsDueForErasure(db, control)
    return first && first.age_s - GRACE_S
  },
  remove: (db, control, isStopped) => eraseTeams(db, control, erasers, isStopped),
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

function deletedLongAgo(tx: PlainTx, team_ids?: string[]): Promise<Deleted[]> {
  const which = team_ids ? sql`id = any (${team_ids}::uuid[])` : sql`true`
  return tx.many(
    Deleted,
    sql`
    select id, ${ageInSeconds(sql`deleted_at`)} as age_s from team
    where deleted_at <= ${dbNowPlus(-GRACE_S)} and ${which} order by deleted_at, id limit 10000`,
  )
}

/** The team's row is the lock: a process that finds it locked or deleted skips the team, because another process erases it. */
const eraseBatch = (db: Db, team_id: string, erase: TeamEraser, rows_max: number): Promise<number | 'taken'> =>
  db.plainTx(async (tx) => {
    const locked = await tx.locking.maybe(
      Id,
      sql`select id from team where id = ${team_id} and deleted_at is not null for update skip locked`,
    )
    return locked ? erase(tx, team_id, rows_max) : 'taken'
  })

/** Deletes the row of a team. Not all rows of the team have a foreign key to it: rows that were added since the batches of their table are erased first. */
const eraseTeamRow =
  (erasers: readonly TeamEraser[]): TeamEraser =>
  async (tx, team_id, rows_max) => {
    for (const erase of erasers) {
      const rows = await erase(tx, team_id, rows_max)
      if (rows) return rows
    }
    return tx.run(sql`delete from team where id = ${team_id}`)
  }
