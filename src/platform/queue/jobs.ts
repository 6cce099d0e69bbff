// The table `job` as a queue: how a claim divides jobs among teams, and how a caller claims the jobs of one team. Jobs are
// queued in outbox.ts; job-runner.ts runs them, dead-letters.ts lists failed ones. All times are the database's.
import type { Db } from '../db/database.ts'
import { dbNow, isUnleased } from '../db/leases.ts'
import { T, type Static } from '../schema/schema.ts'
import { sql, type Sql } from '../db/sql.ts'
import type { RetryableQueue } from './dead-letters.ts'
import { Candidate, CHOSEN, LeasedQueue } from './leased-queue.ts'
import type { LeaseOwner } from './leased-table.ts'
import type { ClaimLimits } from './queue-slots.ts'

const BACKOFF_S_MAX = 3600
/**
 * Number of the oldest due jobs read by each claim. If all belong to teams that have used their share, teams are read in turn.
 */
const WINDOW = 500
/** Number of jobs that are read at a time when teams are read in turn, and how often a claim reads so many. */
const READ_IN_TURN = 1000
const READS_MAX = 20

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

const JobInTurn = T.Object({ ...Candidate.properties, is_claimable: T.Boolean() })
type JobInTurn = Static<typeof JobInTurn>
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
    const oldest = await this.db.asyncCommit.many(
      Candidate,
      sql`select team_id, id from job where ${this.isClaimable} ${notOf(limits)} order by due_at, id limit ${WINDOW}`,
    )
    const rows = await this.#claimFairly(oldest, limits)
    const missing = limits.total - rows.length
    if (missing === 0 || oldest.length < WINDOW) return { rows, isMore: oldest.length > rows.length }
    const claimedRows = new Map(limits.claimedRows)
    for (const { team_id } of rows) claimedRows.set(team_id, (claimedRows.get(team_id) ?? 0) + 1)
    const left = { ...limits, total: missing, claimedRows }
    return { rows: [...rows, ...(await this.#claimFairly(await this.#readInTurn(left), left))], isMore: true }
  }

  /** Claims the team's next job up to an instant of its clock, regardless of its machine time. Writes job. */
  async claimNextOf(jobs: JobsOfTeam): Promise<JobRow | undefined> {
    const [row] = await this.claimFrom(
      sql`select ctid from job where ${isOfTeam(jobs)} and ${isUnleased} order by run_at, id limit 1 for update skip locked`,
      { team: jobs.team, set: this.claimSets },
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
      sql`select exists (select 1 from job where ${this.isClaimable} and name = ${name} and team_id <> ${team_id}) as waiting`,
    )
    return waiting
  }

  /**
   * Due jobs of the next teams, oldest first in each, so that the backlog of one team hides no other: a read that ends within the jobs of a
   * team is followed by one that begins after this team.
   */
  async #readInTurn(limits: ClaimLimits): Promise<Candidate[]> {
    const found: JobInTurn[] = []
    for (let reads = 0; reads < READS_MAX && rank(found, limits).length < limits.total; reads++) {
      const read = await this.db.asyncCommit.many(
        JobInTurn,
        sql`
        select team_id, id, ${this.isClaimable} ${notOf(limits)} as is_claimable from job
        where failed_at is null and team_id > ${this.#after} order by team_id, due_at, id limit ${READ_IN_TURN}`,
      )
      found.push(...read.filter(({ is_claimable }) => is_claimable))
      this.#after = read.length === READ_IN_TURN ? read.at(-1)!.team_id : FIRST_TEAM
      if (this.#after === FIRST_TEAM) break
    }
    return found
  }

  /** Claims the jobs that are the first of their teams, then the second, and so on. @param candidates oldest first within each team */
  async #claimFairly(candidates: readonly Candidate[], limits: ClaimLimits): Promise<JobRow[]> {
    const rows = await this.claimAmong(rank(candidates, limits).slice(0, limits.total * CHOSEN), limits.total)
    return rows.sort((a, b) => (a.due_at + a.id < b.due_at + b.id ? -1 : 1))
  }
}

/**
 * The candidates within the shares of their teams: the first of each team, then the second, and so on, with those that the process has. Of
 * several teams, the one whose last turn was the earliest is the first.
 */
function rank<C extends Candidate>(candidates: readonly C[], { groupMax, claimedRows }: ClaimLimits): C[] {
  const counts = new Map(claimedRows)
  const turns = new Map([...claimedRows.keys()].map((team_id, turn) => [team_id, turn]))
  const turnOf = ({ candidate }: { candidate: C }): number => turns.get(candidate.team_id) ?? -1
  const ranked = candidates.map((candidate) => {
    const nth = (counts.get(candidate.team_id) ?? 0) + 1
    counts.set(candidate.team_id, nth)
    return { candidate, nth }
  })
  return ranked
    .filter(({ candidate, nth }) => nth <= groupMax(candidate.team_id))
    .sort((a, b) => a.nth - b.nth || turnOf(a) - turnOf(b))
    .map(({ candidate }) => candidate)
}

const isOfTeam = ({ team, end, exceptions }: JobsOfTeam): Sql =>
  sql`team_id = ${team} and run_at <= ${end} and failed_at is null and id <> all (${[...exceptions]}::uuid[])`
