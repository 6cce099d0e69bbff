import { FailedJob } from '../../platform/queue/team-jobs.ts'
import { CellParams, Cursor, NextCursor, teamInEnvironment } from '../../tenancy/organizations/management-shapes.ts'
import { Fields, Int, Maybe, Nullable, OpenEnum, T, Text, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'

/** Jobs that one request retries at most. */
export const RETRIED_MAX = 1000

const JobName = Text({ minLength: 1, maxLength: 100, description: 'Only jobs of this name.' })

export const FailedJobParams = Fields(teamInEnvironment)
export const FailedJobQuery = Fields({
  state: Maybe(
    OpenEnum(['dead', 'retrying'], {
      default: 'dead',
      description: '`dead`: tried no more; `retrying`: the last attempt failed, and there will be another.',
    }),
  ),
  name: Maybe(JobName),
  limit: Maybe(Int({ minimum: 1, maximum: 250, default: 50 })),
  next_cursor: NextCursor,
})
export type FailedJobQuery = Static<typeof FailedJobQuery>

export const FailedJobPage = Fields(
  {
    data: T.Array(FailedJob),
    next_cursor: Cursor,
  },
  { title: 'FailedJobPage' },
)

export const RetryFailedJobs = Fields(
  {
    failed_job_ids: Maybe(
      T.Array(Uuid, { minItems: 1, maxItems: RETRIED_MAX, description: `Without ids: the oldest ${RETRIED_MAX} jobs.` }),
    ),
    name: Maybe(JobName),
  },
  { title: 'RetryFailedJobs' },
)
export type RetryFailedJobs = Static<typeof RetryFailedJobs>
export const RetriedJobs = Fields(
  { retried: T.Array(Uuid), not_found: T.Array(Uuid, { description: 'Not failed, of another name, or not of the team.' }) },
  { title: 'RetriedJobs' },
)

export { CellParams }

/** The number at which jobs and deliveries are no longer counted. */
export const COUNTED_MAX = 10_000

export const JobHealth = Fields(
  {
    name: T.String(),
    waiting: T.Integer({ description: 'Due, and not running.' }),
    oldest_waiting_s: T.Number(),
    scheduled: T.Integer({ description: 'Due later.' }),
    retrying: T.Integer(),
    failed: T.Integer(),
  },
  { title: 'JobHealth' },
)
export type JobHealth = Static<typeof JobHealth>

export const TeamJobCounts = Fields(
  { data: T.Array(JobHealth, { description: `The first ${COUNTED_MAX} jobs are counted.` }) },
  { title: 'TeamJobCounts' },
)

export const ServerHealth = Fields(
  {
    version: T.String({ description: 'Of the program.' }),
    schema: Fields({
      migration: T.Integer({ description: 'The newest migration of the cell.' }),
      known_migration: T.Integer({ description: 'The newest migration that the program knows.' }),
      applied_at: Timestamp,
    }),
    database: Fields({
      version: T.String({ description: 'Of PostgreSQL.' }),
      bytes: T.Integer({ description: 'Of the whole database, with all cells in it.' }),
      growth: T.Array(Fields({ date: T.String({ format: 'date' }), bytes: T.Integer() }, { title: 'DatabaseSize' }), {
        description: 'The size on each of the last 90 days, as far as a worker ran. Oldest first.',
      }),
      tables: T.Array(Fields({ name: T.String(), bytes: T.Integer() }, { title: 'TableSize' }), {
        description: 'The ten largest tables of the cell.',
      }),
    }),
    last_backup: Nullable(
      Fields(
        { completed_at: Timestamp, bytes: T.Integer() },
        {
          title: 'CompletedBackup',
          description: 'The last one by `bin/drawbridge backup`; null if there is none. Backups of other tools are not known.',
        },
      ),
    ),
    jobs: T.Array(JobHealth, {
      description: `Jobs of the organization's teams by name; the first ${COUNTED_MAX} of each team are counted.`,
    }),
    deliveries: Fields({
      pending: T.Integer({ description: `Of the organization's teams; counting stops at ${COUNTED_MAX}.` }),
      oldest_pending_s: T.Number(),
      outbox: T.Integer({ description: 'Groups of events that are not yet copied to their destinations.' }),
    }),
  },
  { title: 'ServerHealth' },
)
export type ServerHealth = Static<typeof ServerHealth>
