// The movable clock of a sandbox team. It only moves forward. An advance runs the jobs that become due, in order, each at its scheduled
// time. Source: lab-testing.md 24; a choice of this project beyond it.
import type { TeamGuard } from '../../tenancy/access/team-guard.ts'
import { setClockOffset } from '../../tenancy/teams/teams.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { iso, clockOffsetFor } from '../../platform/runtime/clock.ts'
import { teamNow, type Db } from '../../platform/db/database.ts'
import type { Tenant } from '../../platform/db/transaction.ts'
import { badRequest, invalidField, notFound } from '../../platform/http/errors.ts'
import { unavailable } from '../../platform/runtime/problem.ts'
import type { JobRunner, StartedJob } from '../../platform/queue/job-runner.ts'
import { LeaseLost } from '../../platform/db/leases.ts'
import type { ClockLease, ClockMoves } from './clock-lease.ts'
import type { RunJobCount } from './schema.ts'
import { workKindOf } from './work-kinds.ts'

/** The longest advance: ten years. */
export const LEAP_MAX_MS = 315_360_000_000
/** Number of jobs after which the stored clock is updated during an advance: each update touches every waiting job. */
const CLOCK_SYNC_EVERY_JOBS = 100

/** The dependencies of clock advances. */
export interface ClockDependencies {
  /** The runner of this process's jobs. */
  runner: () => JobRunner
  guard: Pick<TeamGuard, 'tenant' | 'invalidate'>
  clocks: ClockMoves
}

export const hasSandbox = ({ cell }: Pick<Tenant, 'cell'>): boolean => cell.startsWith('sandbox')

/** Rejects teams without a sandbox. Errors: 404, as if the path did not exist. */
export function assertSandbox(tenant: Tenant): void {
  if (!hasSandbox(tenant)) throw notFound('Not Found')
}

export const readClock = (tenant: Tenant) => ({ now: iso(teamNow(tenant)), offset_s: tenant.clock_offset_s })

/**
 * Advances the team's clock. Writes clock_move, team, job, and the tables of the jobs that it runs. At most 2,000 jobs and 30 s in one
 * call.
 * Errors: 400 backwards or by nothing, or by more than ten years; 404 not a sandbox team; 409 the clock is already advancing; 422 not
 * exactly one of `seconds` and `to`; 503 too many clocks are advancing.
 */
export async function advanceClock(
  dependencies: ClockDependencies,
  cells: Cells,
  key: Tenant,
  change: { seconds?: number; to?: string },
) {
  assertSandbox(key)
  if ((change.seconds === undefined) === (change.to === undefined))
    throw invalidField(['body'], 'exactly one of seconds and to must be given')
  const db = cells.db(key.cell)
  try {
    return await dependencies.clocks.run(db, key.team, (lease) => advanceTo(dependencies, db, key, change, lease))
  } catch (error) {
    if (error instanceof LeaseLost) throw unavailable('Advancing the clock was interrupted; try again')
    throw error
  }
}

async function advanceTo(
  dependencies: ClockDependencies,
  db: Db,
  key: Tenant,
  change: { seconds?: number; to?: string },
  { guard, isOver, jobs_max }: ClockLease,
) {
  const tenant = (await dependencies.guard.tenant(key.cell, key.team))!
  const from = teamNow(tenant)
  const end = change.to === undefined ? new Date(from.getTime() + change.seconds! * 1000) : new Date(change.to)
  if (end <= from) throw badRequest('The clock can only move forward')
  if (end.getTime() - from.getTime() > LEAP_MAX_MS) throw badRequest('The clock can be advanced by at most ten years at a time')
  const setClock = (time: Date): Promise<void> =>
    db.tx(tenant, (tx) => setClockOffset(tx, clockOffsetFor(time)), undefined, guard)
  let at = from
  let passed = 0
  const jobs = new Map<string, RunJobCount>()
  const { jobs: jobs_run, finished } = await dependencies
    .runner()
    .runUntil(key.cell, db, key.team, { start: from, end, jobs_max, isStopped: isOver }, async (instant, job) => {
      countJob(jobs, job)
      const moved = instant > at
      at = instant
      if (passed++ % CLOCK_SYNC_EVERY_JOBS === 0 && moved) await setClock(at)
    })
  await setClock(finished ? end : at)
  dependencies.guard.invalidate(key.team)
  const arrived = (await dependencies.guard.tenant(key.cell, key.team))!
  return { ...readClock(arrived), jobs_run, complete: finished, jobs: [...jobs.values()] }
}

/** Adds a job to the counts of its name and kind. */
function countJob(counts: Map<string, RunJobCount>, job: StartedJob): void {
  const kind = workKindOf(job)
  const key = `${kind} ${job.name}`
  counts.set(key, { kind, job: job.name, count: (counts.get(key)?.count ?? 0) + 1 })
}
