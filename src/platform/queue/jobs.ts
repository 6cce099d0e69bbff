// The table `job` as a queue with leases: claiming, renewing, completing, putting off.
// Jobs are queued in outbox.ts; who runs them stands in job-runner.ts, those that failed in failed-jobs.ts. All times are the database's.
import type { Db } from '../db/database.ts'
import { claimedRows, dbNow, dbNowPlus, endLease, isOwned, isUnleased, leaseGuard, renewLeases, takeLease } from '../db/leases.ts'
import { Nullable, T, type Static } from '../schema/schema.ts'
import { raw, sql, type Sql } from '../db/sql.ts'

export const JOB_LEASE_S = 60
const BACKOFF_S_MAX = 3600
/** How many of the oldest due jobs are looked at for each claim. Where they all belong to teams that have their share, teams are asked in turn. */
const WINDOW = 500
/** So many times as many are chosen as are claimed: other workers claim some of them at the same moment. */
const CHOSEN = 2
/** How many teams are asked in turn by one claim. */
const TEAMS = 200

export const JobRow = T.Object({
  id: T.String(),
  team_id: T.String(),
  name: T.String(),
  payload: T.String(),
  run_at: T.String(),
  attempts: T.Integer(),
  fence: T.Integer(),
})
export type JobRow = Static<typeof JobRow>

const COLUMNS = sql`id, team_id, name, payload, run_at, attempts, fence`
/** A claimed job as JSON. Its payload is text that stays as it is. */
const AS_JSON = sql`json_build_object('id', claimed.id, 'team_id', claimed.team_id, 'name', claimed.name, 'payload', claimed.payload,
  'run_at', claimed.run_at, 'attempts', claimed.attempts, 'fence', claimed.fence)`
const isDue = sql`due_at <= ${dbNow} and failed_at is null`

/** How much a worker takes with one claim. */
export interface ClaimRoom {
  /** Jobs in all. */
  total: number
  /** Jobs of one team, with those of it that the worker has already. */
  team: number
  /** What the worker has already, by team. */
  held: ReadonlyMap<string, number>
}

/** How many candidates there were, beside each claimed job; in a row without a job where none was claimed. */
const Claimed = T.Object({ looked_at: T.Integer(), due_at: Nullable(T.String()), job: Nullable(JobRow) })

/** Teams that are asked in turn begin after this one. */
const FIRST_TEAM = '00000000-0000-0000-0000-000000000000'

/**
 * Claims jobs of a cell that are due, for 60 s if not said otherwise: each team's oldest first, then each team's second, and so on, as far
 * as the room allows. Writes job. A crash of the database may undo a claim.
 */
export class JobClaims {
  readonly #db: Db
  readonly #owner: string
  readonly #lease_s: number
  #after = FIRST_TEAM

  constructor(db: Db, owner: string, lease_s = JOB_LEASE_S) {
    this.#db = db
    this.#owner = owner
    this.#lease_s = lease_s
  }

  /** @returns the jobs, oldest first, and whether there are more that are due */
  async claim(room: ClaimRoom): Promise<{ jobs: JobRow[]; more: boolean }> {
    const found = await this.#take(
      room,
      sql`select id, team_id, due_at from job where ${isDue} and ${isUnleased} order by due_at, id limit ${WINDOW}`,
    )
    const missing = room.total - found.rows.length
    if (missing === 0 || found.looked_at < WINDOW) return { jobs: found.rows, more: found.looked_at > found.rows.length }
    const held = new Map(room.held)
    for (const { team_id } of found.rows) held.set(team_id, (held.get(team_id) ?? 0) + 1)
    const others = await this.#take({ ...room, total: missing, held }, await this.#teamsInTurn(room.team))
    return { jobs: [...found.rows, ...others.rows], more: true }
  }

  /** The oldest due jobs of the next 200 teams that have any jobs, so that no team is hidden behind the backlog of another. */
  async #teamsInTurn(each: number): Promise<Sql> {
    const next = (after: Sql) =>
      sql`select j.team_id from job j where j.failed_at is null and j.team_id > ${after} order by j.team_id limit 1`
    const teams = await this.#db.relaxed.many(
      T.Object({ team_id: T.String() }),
      sql`
      with recursive team (team_id) as (
        (${next(sql`${this.#after}::uuid`)})
        union all
        select (${next(sql`team.team_id`)}) from team where team.team_id is not null)
      select team_id from team where team_id is not null limit ${TEAMS}`,
    )
    const ids = teams.map(({ team_id }) => team_id)
    this.#after = ids.length === TEAMS ? ids.at(-1)! : FIRST_TEAM
    return sql`
      select due.* from unnest(${ids}::uuid[]) as asked (team_id)
      cross join lateral (
        select id, team_id, due_at from job
        where job.team_id = asked.team_id and ${isDue} and ${isUnleased} order by due_at, id limit ${each}) due`
  }

  /**
   * The steps are arranged so that a plan made while the table was small is not slow when it is large: ids are few wherever they are
   * looked for in all rows.
   */
  async #take({ total, team, held }: ClaimRoom, candidates: Sql): Promise<{ rows: JobRow[]; looked_at: number }> {
    const found = await this.#db.relaxed.many(
      Claimed,
      sql`
      with candidate as materialized (${candidates}),
      ranked as (
        select candidate.*, coalesce(held.n, 0) + row_number() over (partition by team_id order by due_at, id) as nth
        from candidate left join unnest(${[...held.keys()]}::uuid[], ${[...held.values()]}::integer[]) as held (team_id, n) using (team_id)),
      chosen as materialized (
        select array(select id from ranked where nth <= ${team} order by nth, due_at, id limit ${total * CHOSEN}) as ids),
      claimed as (
        update job set ${takeLease(this.#owner, this.#lease_s)}, attempts = attempts + 1
        where id = any (array(
          select id from job
          where id = any ((select ids from chosen)::uuid[]) and ${isDue} and ${isUnleased}
          order by array_position((select ids from chosen), id) limit ${total} for update skip locked))
        returning ${COLUMNS}, due_at)
      select (select count(*) from candidate) as looked_at, claimed.due_at,
        case when claimed.id is not null then ${AS_JSON} end as job
      from (select) as always left join claimed on true order by claimed.due_at, claimed.id`,
    )
    return { rows: found.flatMap(({ job }) => job ?? []), looked_at: found[0]!.looked_at }
  }
}

/** Claims the team's next job up to an instant of its clock, whenever it is due by the machine's. Writes job. */
export const claimNextOfTeam = (
  db: Db,
  owner: string,
  span: { team: string; until: Date; but: readonly string[]; lease_s: number },
): Promise<JobRow | undefined> =>
  db.queries.maybe(
    JobRow,
    sql`
    update job set ${takeLease(owner, span.lease_s)}, attempts = attempts + 1
    where id = any (array(
      select id from job
      where team_id = ${span.team} and run_at <= ${span.until} and failed_at is null and ${isUnleased} and id <> all (${span.but}::uuid[])
      order by run_at, id limit 1 for update skip locked))
    returning ${COLUMNS}`,
  )

const Waiting = T.Object({ waiting: T.Boolean() })

/** Whether the team has a job up to an instant of its clock that is not failed, but for some. */
export async function hasJobOfTeam(db: Db, span: { team: string; until: Date; but: readonly string[] }): Promise<boolean> {
  const { waiting } = await db.queries.one(
    Waiting,
    sql`
    select exists (
      select from job
      where team_id = ${span.team} and run_at <= ${span.until} and failed_at is null and id <> all (${span.but}::uuid[])) as waiting`,
  )
  return waiting
}

const JOB = raw('job')

type Owned = readonly Pick<JobRow, 'id' | 'fence'>[]
const Id = T.Object({ id: T.String() })

/** Extends the leases of jobs that are still the owner's. Writes job. @returns their ids */
export const renewJobs = async (db: Db, owner: string, jobs: Owned, lease_s = JOB_LEASE_S): Promise<string[]> =>
  (await db.relaxed.many(Id, renewLeases({ table: JOB, key: raw('id') }, owner, jobs, lease_s))).map(({ id }) => id)

/** Deletes jobs that are done, unless another owner has claimed them since. Writes job. A crash of the database may undo it. */
export const completeJobs = (db: Db, owner: string, jobs: Owned): Promise<number> =>
  db.relaxed.run(
    sql`delete from job using ${claimedRows(jobs)} where job.id = claimed.id and job.fence = claimed.fence and job.owner = ${owner}`,
  )

/** Gives back jobs that were claimed and not begun: the claim does not count as an attempt. Writes job. */
export const releaseJobs = (db: Db, owner: string, jobs: Owned): Promise<number> =>
  db.relaxed.run(
    sql`
    update job set ${endLease}, attempts = attempts - 1 from ${claimedRows(jobs)}
    where job.id = claimed.id and job.fence = claimed.fence and job.owner = ${owner}`,
  )

/** How long the next attempt waits: 2, 4, 8, … seconds, at most an hour. */
export const backoffSeconds = (attempts: number): number => Math.min(BACKOFF_S_MAX, 2 ** attempts)

/**
 * Ends an attempt that failed: the job is tried again later, or, after the last attempt, never, until somebody asks for it. Changes nothing
 * of a job that another owner has claimed since. Writes job.
 * @param error a class and a code, nothing of the data
 */
export const putOffJob = (
  db: Db,
  owner: string,
  job: Pick<JobRow, 'id' | 'fence' | 'attempts'>,
  { final, error }: { final: boolean; error: string },
): Promise<number> =>
  db.queries.run(
    sql`
    update job set ${endLease}, last_error = ${error},
      ${final ? sql`failed_at = ${dbNow}` : sql`due_at = ${dbNowPlus(backoffSeconds(job.attempts))}`}
    where id = ${job.id} and ${isOwned(owner, job.fence)}`,
  )

/** The guard of a transaction of a running job: see `Db.tx`. */
export const jobGuard = (owner: string, { id, fence }: Pick<JobRow, 'id' | 'fence'>): Sql =>
  leaseGuard(JOB, sql`id = ${id}`, { owner, fence })
