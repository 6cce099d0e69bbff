// The table `job` as a queue: how a claim divides jobs among teams, and how a caller claims the jobs of one team. Jobs are
// queued in outbox.ts; job-runner.ts runs them, dead-letters.ts lists failed ones. All times are the database's.
import type { Db } from '../db/database.ts'
import { dbNow, isUnleased } from '../db/leases.ts'
import { Nullable, T, type Static } from '../schema/schema.ts'
import { sql, type Sql } from '../db/sql.ts'
import type { RetryableQueue } from './dead-letters.ts'
import { LeasedQueue } from './leased-queue.ts'
import type { LeaseOwner } from './leased-table.ts'
import type { ClaimLimits } from './queue-slots.ts'

const BACKOFF_S_MAX = 3600
/**
 * Number of the oldest due jobs read by each claim. If all belong to teams that have used their share, teams are read in turn.
 */
const WINDOW = 500
/** Factor by which more jobs are selected than claimed: other workers claim some of them at the same moment. */
const CHOSEN = 2
/** Number of teams that one claim reads in turn. */
const TEAMS = 200

export const JobRow = T.Object({
  id: T.String(),
  team_id: T.String(),
  name: T.String(),
  payload: T.String(),
  run_at: T.String(),
  due_at: T.String(),
  attempts: T.Integer(),
  fence: T.Integer(),
})
export type JobRow = Static<typeof JobRow>

export const jobs: RetryableQueue = {
  name: 'job',
  key: { team_id: 'uuid', id: 'uuid' },
  row: JobRow,
  lease_s: 60,
  isPending: sql`failed_at is null`,
  order: sql`due_at, id`,
  attempts: 'attempts',
  error: 'last_error',
  completion: 'delete',
  dead: {
    is: sql`failed_at is not null`,
    set: sql`failed_at = ${dbNow}`,
    unset: sql`failed_at = null`,
    failed_at: 'failed_at',
    listedColumns: { team_id: T.String(), name: T.String(), run_at: T.String() },
  },
}

/** The time until the next attempt: 2, 4, 8, … seconds, at most an hour. */
export const backoffSeconds = (attempts: number): number => Math.min(BACKOFF_S_MAX, 2 ** attempts)

/** The number of candidates, next to each claimed job; in a row without a job if none was claimed. */
const ClaimedJob = T.Object({ looked_at: T.Integer(), due_at: Nullable(T.String()), job: Nullable(JobRow) })
const TeamWithJobs = T.Object({ team_id: T.String() })
const Waiting = T.Object({ waiting: T.Boolean() })

/** Reading teams in turn begins after this id. */
const FIRST_TEAM = '00000000-0000-0000-0000-000000000000'

/** A condition: the job is none of a name of which the process runs as many as it may. */
const notOf = ({ fullKinds }: ClaimLimits): Sql => (fullKinds.length ? sql`and name <> all (${[...fullKinds]}::text[])` : sql``)

/** The jobs of a team up to an instant of its clock, except some. */
export interface JobsOfTeam {
  team: string
  end: Date
  exceptions: readonly string[]
}

/** The jobs of a cell as a queue with a share for each team. */
export class JobQueue extends LeasedQueue<JobRow> {
  #after = FIRST_TEAM

  constructor(db: Pick<Db, 'queries' | 'asyncCommit'>, owner: LeaseOwner = {}) {
    super(db, jobs, owner)
  }

  /**
   * Claims jobs that are due: each team's oldest first, then each team's second, and so on, as far as the limits allow. Writes job.
   * A crash of the database may undo a claim.
   * @returns the jobs, oldest first, and whether there are more that are due
   */
  async claimByTeam(limits: ClaimLimits): Promise<{ rows: JobRow[]; isMore: boolean }> {
    const found = await this.#claimAmong(
      limits,
      sql`select ctid as place, id, team_id, due_at from job where ${this.isClaimable} ${notOf(limits)} order by due_at, id limit ${WINDOW}`,
    )
    const missing = limits.total - found.rows.length
    if (missing === 0 || found.looked_at < WINDOW) return { rows: found.rows, isMore: found.looked_at > found.rows.length }
    const claimedRows = new Map(limits.claimedRows)
    for (const { team_id } of found.rows) claimedRows.set(team_id, (claimedRows.get(team_id) ?? 0) + 1)
    const others = await this.#claimAmong({ ...limits, total: missing, claimedRows }, await this.#teamsInTurn(limits))
    return { rows: [...found.rows, ...others.rows], isMore: true }
  }

  /** Claims the team's next job up to an instant of its clock, regardless of its machine time. Writes job. */
  async claimNextOf(jobs: JobsOfTeam): Promise<JobRow | undefined> {
    const [row] = await this.claimFrom(
      sql`select ctid from job where ${isOfTeam(jobs)} and ${isUnleased} order by run_at, id limit 1 for update skip locked`,
      this.claimSets,
    )
    return row
  }

  /** Whether the team has a job up to an instant of its clock that is not failed. */
  async hasJobOf(jobs: JobsOfTeam): Promise<boolean> {
    const { waiting } = await this.db.queries.one(
      Waiting,
      sql`select exists (select from job where ${isOfTeam(jobs)}) as waiting`,
    )
    return waiting
  }

  /** Whether a job of the same name is due that belongs to another team. */
  async hasDueJobOfOthers({ name, team_id }: JobRow): Promise<boolean> {
    const { waiting } = await this.db.queries.one(
      Waiting,
      sql`select exists (select from job where ${this.isClaimable} and name = ${name} and team_id <> ${team_id}) as waiting`,
    )
    return waiting
  }

  /** The oldest due jobs of the next 200 teams that have any jobs, so that the backlog of one team hides no other. */
  async #teamsInTurn(limits: ClaimLimits): Promise<Sql> {
    const next = (last: Sql) =>
      sql`select j.team_id from job j where j.failed_at is null and j.team_id > ${last} order by j.team_id limit 1`
    const teams = await this.db.asyncCommit.many(
      TeamWithJobs,
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
        select ctid as place, id, team_id, due_at from job
        where job.team_id = asked.team_id and ${this.isClaimable} ${notOf(limits)}
        order by due_at, id limit ${limits.groupMax('')}) due`
  }

  /**
   * The steps are arranged so that a plan made while the table was small is not slow when it is large: only few places are joined
   * with all rows.
   */
  async #claimAmong(
    { total, groupMax, claimedRows }: ClaimLimits,
    candidates: Sql,
  ): Promise<{ rows: JobRow[]; looked_at: number }> {
    const places = sql`
      select ctid from job
      where ctid = any ((select places from chosen)::tid[]) and ${this.isClaimable}
      order by array_position((select places from chosen), ctid) limit ${total} for update skip locked`
    const found = await this.db.asyncCommit.many(
      ClaimedJob,
      sql`
      with candidate as materialized (${candidates}),
      ranked as (
        select candidate.*, coalesce(had.n, 0) + row_number() over (partition by team_id order by due_at, id) as nth
        from candidate left join unnest(${[...claimedRows.keys()]}::uuid[], ${[...claimedRows.values()]}::integer[]) as had (team_id, n) using (team_id)),
      chosen as materialized (
        select array(select place from ranked where nth <= ${groupMax('')} order by nth, due_at, id limit ${total * CHOSEN}) as places),
      claimed as (${this.claimStatement(places, { set: this.claimSets })})
      select (select count(*) from candidate) as looked_at, claimed.due_at,
        case when claimed.id is not null then to_json(claimed) end as job
      from (select) as always left join claimed on true order by claimed.due_at, claimed.id`,
    )
    return { rows: found.flatMap(({ job }) => job ?? []), looked_at: found[0]!.looked_at }
  }
}

const isOfTeam = ({ team, end, exceptions }: JobsOfTeam): Sql =>
  sql`team_id = ${team} and run_at <= ${end} and failed_at is null and id <> all (${[...exceptions]}::uuid[])`
