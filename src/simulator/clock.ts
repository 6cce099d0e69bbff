// The movable clock of a sandbox team. It only moves forward, and what falls due on the way is lived through: each job runs in
// order, at its own instant, as if the days had passed. Source: lab-testing.md 24; a choice of this project beyond it.
import type { TeamGuard } from '../management/guard.ts'
import { setClockOffset } from '../management/teams.ts'
import type { Cells } from '../platform/cells.ts'
import { iso, offsetTo } from '../platform/clock.ts'
import { teamNow, type Db, type Tenant } from '../platform/db.ts'
import { badRequest, conflict, invalidValue, notFound } from '../platform/errors.ts'
import type { JobRunner } from '../platform/job-runner.ts'

const JOBS_MAX = 2000
const TEN_YEARS_MS = 315_360_000_000
/** The clock that others see follows the journey every so many jobs: setting it touches every waiting job. */
const FOLLOWED_JOBS = 100

/** What travelling needs of the process. */
export interface World {
  runner: JobRunner
  guard: TeamGuard
}

/** Only sandbox teams have this. 404 for others, as if the path did not exist. */
export function assertSandbox(tenant: Tenant): void {
  if (!tenant.cell.startsWith('sandbox')) throw notFound('Not Found')
}

export const readClock = (tenant: Tenant) => ({ now: iso(teamNow(tenant)), offset_s: tenant.clock_offset_s })

/**
 * Move the team's clock forward. Writes team, job, and what the jobs on the way write.
 * 400: backwards or nowhere, or more than ten years. 404: not a sandbox team. 409: the clock is moving already.
 * 422: not exactly one of `seconds` and `to`. At most 2,000 jobs run in one call.
 */
export async function advanceClock(world: World, cells: Cells, key: Tenant, by: { seconds?: number; to?: string }) {
  assertSandbox(key)
  if ((by.seconds === undefined) === (by.to === undefined))
    throw invalidValue(['body'], 'exactly one of seconds and to must be given')
  const db = cells.of(key.cell)
  const client = await db.pool.connect()
  const lock = [`clock ${key.team}`]
  try {
    const { rows } = await client.query<{ locked: boolean }>(
      'select pg_try_advisory_lock(hashtextextended($1, 0)) as locked',
      lock,
    )
    if (!rows[0]!.locked) throw conflict('The clock of this team is moving already')
    try {
      return await travel(world, db, key, by)
    } finally {
      await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', lock)
    }
  } finally {
    client.release()
  }
}

async function travel(world: World, db: Db, key: Tenant, by: { seconds?: number; to?: string }) {
  const tenant = (await world.guard.tenant(key.cell, key.team))!
  const from = teamNow(tenant)
  const until = by.to === undefined ? new Date(from.getTime() + by.seconds! * 1000) : new Date(by.to)
  if (until <= from) throw badRequest('The clock only moves forward')
  if (until.getTime() - from.getTime() > TEN_YEARS_MS) throw badRequest('The clock moves at most ten years at a time')
  let at = from
  let passed = 0
  const { jobs, finished } = await world.runner.runUntil(
    key.cell,
    db,
    key.team,
    { from, until, jobs_max: JOBS_MAX },
    async (instant) => {
      const moved = instant > at
      at = instant
      if (passed++ % FOLLOWED_JOBS === 0 && moved) await setClock(db, tenant, at)
    },
  )
  await setClock(db, tenant, finished ? until : at)
  world.guard.forget(key.team)
  const arrived = (await world.guard.tenant(key.cell, key.team))!
  return { ...readClock(arrived), jobs_run: jobs, complete: finished }
}

const setClock = (db: Db, tenant: Tenant, at: Date): Promise<void> => db.tx(tenant, (tx) => setClockOffset(tx, offsetTo(at)))
