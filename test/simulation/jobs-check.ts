// The invariants of simulated jobs between any two steps.
import assert from 'node:assert/strict'
import type { Db } from '../../src/platform/db/database.ts'
import { T } from '../../src/platform/schema/schema.ts'
import { sql } from '../../src/platform/db/sql.ts'

export const ATTEMPTS_MAX = 4
/** Number of transactions of a job's handler; each inserts an effect. */
export const PARTS = 2
/** The number of a job that another one queues is higher by this. */
export const NEXT = 100
/** Exclusive upper limit of the pauses after attempts. */
const DUE_IN_S_MAX = 60

/** The effects of the steps so far. */
export interface Expected {
  /** Numbers of the jobs that were queued. Queueing may have been rolled back. */
  jobs: Set<number>
  /** Number of claims by job number. */
  claims: Map<number, number>
  /** Claims with a lost response: they may have counted as attempts of any job. */
  claimsLost: number
}

/**
 * Checks that each job is queued, or completed with each effect once, or failed after all its attempts. The job that a job queues runs
 * after it.
 * @returns number of jobs left to run
 */
export async function checkJobs(admin: Db, team: string, { jobs, claims: claimed, claimsLost }: Expected): Promise<number> {
  const Row = T.Object({ n: T.Integer(), attempts: T.Integer(), failed: T.Boolean(), due_in_s: T.Number() })
  const rows = await admin.queries.many(
    Row,
    sql`
    select (payload::json ->> 'n')::integer as n, attempts, failed_at is not null as failed,
      extract(epoch from due_at - statement_timestamp())::float8 as due_in_s
    from job where team_id = ${team}`,
  )
  const Effect = T.Object({ n: T.Integer(), part: T.Integer() })
  const effects = await admin.queries.many(Effect, sql`select n, part from simulated_effect where team_id = ${team} order by seq`)
  const rowOf = new Map(rows.map((row) => [row.n, row]))
  assert.equal(rowOf.size, rows.length, 'a job has two rows')
  const partsOf = (n: number) => effects.filter((effect) => effect.n === n).length
  for (const n of jobs) {
    const row = rowOf.get(n)
    const isQueued = n < NEXT || partsOf(n - NEXT) === PARTS
    if (!isQueued) assert(!row && partsOf(n) === 0, `job ${n} exists although job ${n - NEXT}, which queues it, is not completed`)
    else if (!row) assert.equal(partsOf(n), PARTS, `job ${n} is gone without its effects`)
    else if (row.failed) {
      const claims = (claimed.get(n) ?? 0) + claimsLost
      assert(row.attempts >= ATTEMPTS_MAX, `job ${n} failed permanently after ${row.attempts} attempts`)
      assert(claims >= ATTEMPTS_MAX, `job ${n} failed permanently after ${claims} claims`)
    } else assert(row.due_in_s <= DUE_IN_S_MAX, `job ${n} is due only in ${row.due_in_s} s`)
    const order = effects.filter((effect) => effect.n % NEXT === n % NEXT).map((effect) => effect.n * 10 + effect.part)
    assert.equal(new Set(order).size, order.length, `a part of job ${n} was done twice`)
    assert.deepEqual(order, order.toSorted(ascending), `the effects of job ${n} and of the job that it queues are out of order`)
  }
  return rows.filter(({ failed }) => !failed).length
}

const ascending = (a: number, b: number) => a - b
