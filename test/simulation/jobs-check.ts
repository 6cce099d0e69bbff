// What must hold of the jobs of a simulation between any two steps.
import assert from 'node:assert/strict'
import type { Db } from '../../src/platform/db/database.ts'
import { T } from '../../src/platform/schema/schema.ts'
import { sql } from '../../src/platform/db/sql.ts'

export const ATTEMPTS_MAX = 4
/** Transactions that the handler of a job makes; each leaves an effect. */
export const PARTS = 2
/** The number of a job that another one queues is higher by this. */
export const NEXT = 100
/** Of the pauses after attempts, the longest is shorter than this. */
const DUE_IN_S_MAX = 60

/** What the steps so far have brought about. */
export interface Expected {
  /** Numbers of the jobs that were queued, or whose queueing may have been rolled back. */
  jobs: Set<number>
  /** How often each has been claimed. */
  claimed: Map<number, number>
  /** Claims whose answers were lost: they may have counted as attempts of any job. */
  claimsLost: number
}

/**
 * Each job is there, or done with all its effects, each once; or it has failed after as many attempts as it has. What a job queues is done after it.
 * @returns how many jobs are left to do
 */
export async function checkJobs(admin: Db, team: string, { jobs, claimed, claimsLost }: Expected): Promise<number> {
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
  const there = new Map(rows.map((row) => [row.n, row]))
  assert.equal(there.size, rows.length, 'a job is there twice')
  const partsOf = (n: number) => effects.filter((effect) => effect.n === n).length
  for (const n of jobs) {
    const row = there.get(n)
    const isQueued = n < NEXT || partsOf(n - NEXT) === PARTS
    if (!isQueued) assert(!row && partsOf(n) === 0, `job ${n} is there although job ${n - NEXT}, which queues it, is not done`)
    else if (!row) assert.equal(partsOf(n), PARTS, `job ${n} is gone without its effects`)
    else if (row.failed) {
      const claims = (claimed.get(n) ?? 0) + claimsLost
      assert(row.attempts >= ATTEMPTS_MAX, `job ${n} failed for good after ${row.attempts} attempts`)
      assert(claims >= ATTEMPTS_MAX, `job ${n} failed for good after ${claims} claims`)
    } else assert(row.due_in_s <= DUE_IN_S_MAX, `job ${n} is due only in ${row.due_in_s} s`)
    const order = effects.filter((effect) => effect.n % NEXT === n % NEXT).map((effect) => effect.n * 10 + effect.part)
    assert.equal(new Set(order).size, order.length, `a part of job ${n} was done twice`)
    assert.deepEqual(order, order.toSorted(ascending), `the effects of job ${n} and of the job that it queues are out of order`)
  }
  return rows.filter(({ failed }) => !failed).length
}

const ascending = (a: number, b: number) => a - b
