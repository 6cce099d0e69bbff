// Parsing jobs: which report was uploaded for whom, how far its parsing is, and what it says. Owns the table
// parsing_job.
import { findUser, getUser } from '../../people/users/users.ts'
import type { TeamEraser } from '../../platform/db/erasure.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import type { PlainTx, Tenant, Tx } from '../../platform/db/transaction.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { assertFeature, hasFeature } from '../../platform/http/feature-flags.ts'
import { defineJob, emit, enqueue } from '../../platform/queue/outbox.ts'
import { unavailable } from '../../platform/runtime/problem.ts'
import { Nullable, type Static, T } from '../../platform/schema/schema.ts'
import { deleteFilesAfter, keepFiles } from '../../platform/stored-files/stored-files.ts'
import { isDoubtful } from '../reading/finding.ts'
import type { ReadReport, ReportFile } from '../reading/read-report.ts'
import type { ReportResult } from '../reading/result.ts'
import { humanReview } from './features.ts'
import type { FilesOfJob } from './report-files.ts'
import type { FailureReason, JobStatus, ParsingJob, ReportData } from './schema.ts'
import type { Upload } from './upload.ts'

/** Jobs of a sandbox team that have not failed. Source: lab-testing.md 25.1. */
const SANDBOX_JOBS_MAX = 300
/** For how long the files of a job are kept at most while it waits for a person, who compares them with what was read. */
const REVIEW_FILES_S = 90 * 86_400
/** A scanned page of small print takes 10 s, more on a machine with other work. Reports of other teams wait no longer than this for one. */
export const READ_S_PER_PAGE = 40
/** Maximum time of one report: 30 pages. */
export const READ_S_MAX = 1_260
/** Longer than its thread may take. */
const TIMEOUT_S = READ_S_MAX + 240

/** It is retried until it ends: a report that ends processes fails by its own count of attempts, and the next one of the team waits for it. */
export const parseReport = defineJob('lab_reports.parse', T.Object({ job_id: T.String() }), {
  timeout_s: TIMEOUT_S,
  attempts_max: Infinity,
})

const Row = T.Object({
  id: T.String(),
  user_id: T.String(),
  client_user_id: T.String(),
  status: T.Unsafe<JobStatus>({ type: 'string' }),
  failure_reason: Nullable(T.Unsafe<FailureReason>({ type: 'string' })),
  needs_human_review: T.Boolean(),
  is_reviewed: T.Boolean(),
  extracted: Nullable(T.Unsafe<ReadReport>({})),
  reviewed: Nullable(T.Unsafe<ReportData>({})),
})
type Row = Static<typeof Row>
const jobColumns = (tx: Tx): Sql => sql`
  j.id, j.user_id, (select u.client_user_id from "user" u where u.team_id = ${tx.team} and u.id = j.user_id) as client_user_id, j.status,
  j.failure_reason, j.needs_human_review, j.is_reviewed, j.extracted, j.reviewed`

function toWire({ id, status, failure_reason, needs_human_review, is_reviewed, extracted, reviewed }: Row): ParsingJob {
  const data = status === 'completed' ? (reviewed ?? (extracted && reportData(extracted))) : null
  return { id, job_id: id, status, failure_reason, data, needs_human_review, is_reviewed }
}

/**
 * What clients see of a report that no person has looked at: without places, findings, comments and what the API has no field for, which
 * reviews show. A row that may be misread is never certain, nor is any row of a report of which something is in no result.
 */
const reportData = ({ metadata, results, findings }: ReadReport): ReportData => ({
  metadata,
  results: results.map((result) =>
    findings?.length || isDoubtful(result) ? { ...resultData(result), loinc_match_status: 'needs_review' } : resultData(result),
  ),
})
export const resultData = ({
  place: _place,
  findings: _findings,
  comments: _comments,
  specimen: _specimen,
  method: _method,
  date: _date,
  unit_ucum: _unit_ucum,
  basis: _basis,
  ...result
}: ReportResult): ReportData['results'][number] => result

function emitJob(tx: Tx, type: `lab_report.parsing_job.${'created' | 'updated'}`, row: Row): void {
  emit(tx, {
    type,
    object_id: row.id,
    user_id: row.user_id,
    client_user_id: row.client_user_id,
    data: JSON.stringify(toWire(row)),
  })
}

/** Serializes, for a team, the count of its jobs and the choice of the next one. */
const lockJobs = (tx: Tx): Promise<number> =>
  tx.locking.run(sql`select pg_advisory_xact_lock(hashtextextended(${`parsing_job ${tx.team}`}, 0))`)

const Next = T.Object({ id: T.String() })

/** Queues the oldest job of the team that has not ended: a team has one in the queue, so that teams take turns. Writes job. */
async function queueNext(tx: Tx): Promise<void> {
  await lockJobs(tx)
  const next = await tx.maybe(
    Next,
    sql`
    select id from parsing_job
    where team_id = ${tx.team} and status in ('upload_pending', 'started') order by id limit 1`,
  )
  if (next) enqueue(tx, parseReport, { job_id: next.id })
}

const Waiting = T.Object({ waits: T.Boolean() })

/** Whether a job of the team has not ended; the jobs of the team are locked. */
const hasUnfinished = async (tx: Tx): Promise<boolean> =>
  (
    await tx.one(
      Waiting,
      sql`
      select exists (
        select from parsing_job where team_id = ${tx.team} and status in ('upload_pending', 'started')) as waits`,
    )
  ).waits

const Count = T.Object({ n: T.Integer() })

/** Checks what an upload must meet besides its files. Errors: 404 unknown user; 400 no human review for the team, or its sandbox is full. */
export async function assertMayUpload(
  tx: Tx,
  { user_id, needs_human_review }: Pick<Upload, 'user_id' | 'needs_human_review'>,
): Promise<void> {
  tx.concerns(user_id)
  await getUser(tx, user_id)
  if (needs_human_review) assertFeature(tx.tenant, humanReview)
  if (!tx.tenant.cell.startsWith('sandbox')) return
  await lockJobs(tx)
  const { n } = await tx.one(
    Count,
    sql`
    select count(*) as n from (
      select from parsing_job where team_id = ${tx.team} and failure_reason is null and status <> 'failed' limit ${SANDBOX_JOBS_MAX}) j`,
  )
  if (n >= SANDBOX_JOBS_MAX)
    throw badRequest(
      `Sandbox lab report parsing is limited to ${SANDBOX_JOBS_MAX} reports. Please upgrade your contract to continue.`,
    )
}

/**
 * Creates a job and queues the parsing of its files, unless another job of the team has not ended: its end queues the next. Writes
 * parsing_job, stored_file. Errors: those of `assertMayUpload`; 503 the files were stored so long ago that they have been deleted.
 * @param files have been stored, opened once, and have `pages` pages together
 */
export async function createJob(
  tx: Tx,
  files: FilesOfJob,
  upload: Pick<Upload, 'user_id' | 'needs_human_review'>,
  pages: number,
): Promise<ParsingJob> {
  await assertMayUpload(tx, upload)
  await lockJobs(tx)
  const waits = await hasUnfinished(tx)
  const { id, file_key, file_types } = files
  if ((await keepFiles(tx, id)) < file_types.length) throw unavailable('The file cannot be stored now; try again', 5)
  const row = await tx.one(
    Row,
    sql`
    with j as (
      insert into parsing_job (team_id, id, user_id, status, needs_human_review, file_key, file_types, pages, created_at, updated_at)
      values (${tx.team}, ${id}, ${upload.user_id}, 'upload_pending', ${upload.needs_human_review}, ${file_key},
              ${JSON.stringify(file_types)}::jsonb, ${pages}, ${tx.now}, ${tx.now})
      returning *)
    select ${jobColumns(tx)} from j`,
  )
  if (!waits) enqueue(tx, parseReport, { job_id: id })
  return toWire(row)
}

/** Shows a job. Errors: 404, also of a deleted user. */
export async function readJob(tx: Tx, id: string): Promise<ParsingJob> {
  const row = await tx.maybe(Row, sql`select ${jobColumns(tx)} from parsing_job j where j.team_id = ${tx.team} and j.id = ${id}`)
  if (!row) throw notFound('Parsing job not found')
  tx.concerns(row.user_id, id)
  if (!(await findUser(tx, row.user_id))) throw notFound('Parsing job not found')
  return toWire(row)
}

const Claimed = T.Object({
  attempts: T.Integer(),
  file_key: Nullable(T.String()),
  file_types: T.Unsafe<ReportFile['type'][]>({}),
  pages: T.Integer(),
  needs_human_review: T.Boolean(),
  was_pending: T.Boolean(),
})
export type ClaimedJob = Static<typeof Claimed>

/**
 * Begins, or begins again, the parsing of a job. Writes parsing_job; emits lab_report.parsing_job.created at the first time.
 * @returns undefined if the job has ended or was erased
 */
export async function claimJob(tx: Tx, id: string): Promise<ClaimedJob | undefined> {
  const claimed = await tx.maybe(
    Claimed,
    sql`
    with was as (
      select team_id, id, status from parsing_job
      where team_id = ${tx.team} and id = ${id} and status in ('upload_pending', 'started') for update)
    update parsing_job j set status = 'started', attempts = j.attempts + 1, updated_at = ${tx.now}
    from was where j.team_id = ${tx.team} and j.team_id = was.team_id and j.id = was.id
    returning j.attempts, j.file_key, j.file_types, j.pages, j.needs_human_review, was.status = 'upload_pending' as was_pending`,
  )
  if (claimed?.was_pending) {
    const row = await tx.one(Row, sql`select ${jobColumns(tx)} from parsing_job j where j.team_id = ${tx.team} and j.id = ${id}`)
    emitJob(tx, 'lab_report.parsing_job.created', row)
  }
  return claimed
}

/** A try that failed at the storage of the files does not count. Writes parsing_job. */
export const returnAttempt = (tx: Tx, id: string): Promise<number> =>
  tx.run(sql`
    update parsing_job set attempts = attempts - 1 where team_id = ${tx.team} and id = ${id} and status = 'started'`)

export type Outcome = { report: ReadReport } | { failure: FailureReason }

/**
 * Ends the parsing of a job: it is completed, has failed, or waits for a person, because the upload asks for one or something of the report
 * is in no result. Writes parsing_job, stored_file; emits lab_report.parsing_job.updated. A job that has ended meanwhile stays as it is.
 * @param files_kept_s how long its files are kept; at most 90 days if it waits for a person
 */
export async function endJob(tx: Tx, id: string, outcome: Outcome, files_kept_s: number): Promise<void> {
  const report = 'report' in outcome ? JSON.stringify(outcome.report) : null
  const failure = 'failure' in outcome ? outcome.failure : null
  const row = await tx.maybe(
    Row,
    sql`
    with j as (
      update parsing_job
      set status = case when ${failure}::text is not null then 'failed'
                        when needs_human_review or ${'report' in outcome && asksForPerson(tx.tenant, outcome.report)} then 'pending_review'
                        else 'completed' end,
          failure_reason = ${failure}, extracted = ${report}::jsonb, updated_at = ${tx.now}
      where team_id = ${tx.team} and id = ${id} and status = 'started'
      returning *)
    select ${jobColumns(tx)} from j`,
  )
  if (!row) return
  await deleteJobFiles(tx, id, row.status === 'pending_review' ? REVIEW_FILES_S : files_kept_s)
  emitJob(tx, 'lab_report.parsing_job.updated', row)
  await queueNext(tx)
}

/** Whether a person has to look at a report, whatever its upload says. A team without human review gets it with every row in doubt. */
export const asksForPerson = (tenant: Pick<Tenant, 'disabled_features'>, { findings }: ReadReport): boolean =>
  Boolean(findings?.length) && hasFeature(tenant, humanReview)

async function deleteJobFiles(tx: Tx, id: string, seconds: number): Promise<void> {
  await deleteFilesAfter(tx, [id], seconds)
}

export type ReviewOutcome = { data: ReportData } | { failure: FailureReason }

/**
 * Ends the review of a job that waits for it and is locked: it is completed with the data that a person approved, or has failed. Writes
 * parsing_job, stored_file; emits lab_report.parsing_job.updated.
 * @param files_kept_s how long its files are kept from now on
 */
export async function endReview(
  tx: Tx,
  id: string,
  outcome: ReviewOutcome,
  { decided_by, files_kept_s }: { decided_by: string; files_kept_s: number },
): Promise<ParsingJob> {
  const data = 'data' in outcome ? JSON.stringify(outcome.data) : null
  const failure = 'failure' in outcome ? outcome.failure : null
  const row = await tx.one(
    Row,
    sql`
    with j as (
      update parsing_job
      set status = case when ${failure}::text is null then 'completed' else 'failed' end, failure_reason = ${failure},
          is_reviewed = true, reviewed = ${data}::jsonb, decided_by = ${decided_by}, decided_at = ${tx.now}, updated_at = ${tx.now}
      where team_id = ${tx.team} and id = ${id} and status = 'pending_review'
      returning *)
    select ${jobColumns(tx)} from j`,
  )
  await deleteJobFiles(tx, id, files_kept_s)
  emitJob(tx, 'lab_report.parsing_job.updated', row)
  return toWire(row)
}

const Erased = T.Object({ id: T.String() })

/** Erases the jobs of a user; their files are deleted at once. Writes parsing_job, stored_file. Queues the next job of the team. */
export async function eraseJobs(tx: Tx, user_id: string): Promise<void> {
  const erased = await tx.many(
    Erased,
    sql`
    with j as (delete from parsing_job where team_id = ${tx.team} and user_id = ${user_id} returning id)
    select id from j`,
  )
  await deleteErased(tx, erased)
  if (erased.length) await queueNext(tx)
}

/** Erases jobs of a team; their files are deleted at once. Writes parsing_job, stored_file. */
export const eraseJobsOfTeam: TeamEraser = async (tx, team_id, rows_max) => {
  const erased = await tx.many(
    Erased,
    sql`
    with j as (
      delete from parsing_job where team_id = ${team_id}
        and ctid = any (array(select ctid from parsing_job where team_id = ${team_id} limit ${rows_max}))
      returning id)
    select id from j`,
  )
  await deleteErased(tx, erased)
  return erased.length
}

const deleteErased = (tx: PlainTx, jobs: Static<typeof Erased>[]): Promise<void> =>
  deleteFilesAfter(
    tx,
    jobs.map(({ id }) => id),
    0,
  )
