// The movable clock of a sandbox team. It only moves forward, and what falls due on the way is lived through: each job runs in
// order, at its own instant, as if the days had passed. Source: lab-testing.md 24; a choice of this project beyond it.
import type { TeamGuard } from '../../tenancy/access/team-guard.ts'
import { setClockOffset } from '../../tenancy/teams/teams.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { iso, clockOffsetFor } from '../../platform/runtime/clock.ts'
import { teamNow, type Db } from '../../platform/db/database.ts'
import type { Tenant } from '../../platform/db/transaction.ts'
import { badRequest, invalidField, notFound } from '../../platform/http/errors.ts'
import { unavailable } from '../../platform/runtime/problem.ts'
import type { JobRunner } from '../../platform/queue/job-runner.ts'
import { LeaseLost } from '../../platform/db/leases.ts'
import type { ClockLease, ClockMoves } from './clock-lease.ts'

const TEN_YEARS_MS = 315_360_000_000
/** The clock that others see follows the journey every so many jobs: setting it touches every waiting job. */
const CLOCK_SYNC_EVERY_JOBS = 100

/** What moving clocks needs of the process. */
export interface ClockDependencies {
  /** What carries out the jobs of this process. */
  runner: () => JobRunner
  guard: Pick<TeamGuard, 'tenant' | 'invalidate'>
  clocks: ClockMoves
}

/** Only sandbox teams have this. 404 for others, as if the path did not exist. */
export function assertSandbox(tenant: Tenant): void {
  if (!tenant.cell.startsWith('sandbox')) throw notFound('Not Found')
}

export const readClock = (tenant: Tenant) => ({ now: iso(teamNow(tenant)), offset_s: tenant.clock_offset_s })

/**
 * Advance the team's clock. Writes clock_move, team, job, and what the jobs on the way write.
 * 400: backwards or nowhere, or more than ten years. 404: not a sandbox team. 409: the clock is moving already.
 * 422: not exactly one of `seconds` and `to`. 503: too many clocks are moving. At most 2,000 jobs run in one call, and for 30 s.
 */
export async function advanceClock(
  dependencies: ClockDependencies,
  cells: Cells,
  key: Tenant,
  by: { seconds?: number; to?: string },
) {
  assertSandbox(key)
  if ((by.seconds === undefined) === (by.to === undefined))
    throw invalidField(['body'], 'exactly one of seconds and to must be given')
  const db = cells.of(key.cell)
  try {
    return await dependencies.clocks.run(db, key.team, (lease) => advanceTo(dependencies, db, key, by, lease))
  } catch (error) {
    if (error instanceof LeaseLost) throw unavailable('The clock could not be moved without interruption, try again')
    throw error
  }
}

async function advanceTo(
  dependencies: ClockDependencies,
  db: Db,
  key: Tenant,
  by: { seconds?: number; to?: string },
  { guard, isOver, jobs_max }: ClockLease,
) {
  const tenant = (await dependencies.guard.tenant(key.cell, key.team))!
  const from = teamNow(tenant)
  const until = by.to === undefined ? new Date(from.getTime() + by.seconds! * 1000) : new Date(by.to)
  if (until <= from) throw badRequest('The clock can only be moved forward')
  if (until.getTime() - from.getTime() > TEN_YEARS_MS)
    throw badRequest('The clock can be advanced by at most ten years at a time')
  const setClock = (at: Date): Promise<void> => db.tx(tenant, (tx) => setClockOffset(tx, clockOffsetFor(at)), undefined, guard)
  let at = from
  let passed = 0
  const { jobs, finished } = await dependencies
    .runner()
    .runUntil(key.cell, db, key.team, { from, until, jobs_max, stopped: isOver }, async (instant) => {
      const moved = instant > at
      at = instant
      if (passed++ % CLOCK_SYNC_EVERY_JOBS === 0 && moved) await setClock(at)
    })
  await setClock(finished ? until : at)
  dependencies.guard.invalidate(key.team)
  const arrived = (await dependencies.guard.tenant(key.cell, key.team))!
  return { ...readClock(arrived), jobs_run: jobs, complete: finished }
}
