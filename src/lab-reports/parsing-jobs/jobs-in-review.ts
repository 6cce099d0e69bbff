// Parsing jobs that a person has to look at: the waiting ones, and one of them, locked while it is corrected or decided.
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { conflict, notFound } from '../../platform/http/errors.ts'
import { byCreation, Pages } from '../../platform/http/list-pages.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import type { StoredFile } from '../../platform/stored-files/stored-files.ts'
import { findUser, notDeleted } from '../../people/users/users.ts'
import type { ReadReport, ReportFile } from '../reading/read-report.ts'
import type { FilesOfJob, ReportFiles } from './report-files.ts'
import type { FailureReason, JobStatus } from './schema.ts'

const Waiting = T.Object({
  job_id: T.String(),
  user_id: T.String(),
  version: T.Integer(),
  page_count: T.Integer(),
  result_count: T.Integer(),
  created_at: T.String(),
})
export type WaitingJob = Static<typeof Waiting>

/** The jobs of the team that wait for a person, oldest first. Errors: 400 an invalid cursor. */
export async function listWaiting(
  tx: Tx,
  query: { limit?: number | undefined; next_cursor?: string | undefined },
): Promise<{ data: WaitingJob[]; next_cursor: string | null }> {
  const pages = new Pages(`lab reports in review ${tx.team}`, query, byCreation('j'), { order: 'asc' })
  const rows = await tx.many(
    Waiting,
    sql`
    select j.id as job_id, j.user_id, j.review_version as version, j.pages as page_count,
      jsonb_array_length(j.extracted -> 'results') as result_count, j.created_at
    from parsing_job j
    where j.team_id = ${tx.team} and j.status = 'pending_review' and ${notDeleted(tx, sql`j.user_id`)} and ${pages.afterCursor} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, ({ created_at, job_id }) => [created_at, job_id])
  return { data: page, next_cursor }
}

const Reviewed = T.Object({
  id: T.String(),
  user_id: T.String(),
  status: T.Unsafe<JobStatus>({ type: 'string' }),
  failure_reason: Nullable(T.Unsafe<FailureReason>({ type: 'string' })),
  is_reviewed: T.Boolean(),
  version: T.Integer(),
  page_count: T.Integer(),
  extracted: T.Unsafe<ReadReport>({}),
  decided_by: Nullable(T.String()),
  decided_at: Nullable(T.String()),
  created_at: T.String(),
  updated_at: T.String(),
})
const StoredFiles = T.Object({ has_files: T.Boolean() })
/** A job that waits for a person, or for which one has decided. */
export type ReviewedJob = Static<typeof Reviewed> & Static<typeof StoredFiles>

const NOT_FOUND = 'No report in review has this id'

/** Reads a job that waits for a person or waited for one. Errors: 404, also of a deleted user. */
export async function readReviewed(tx: Tx, id: string): Promise<ReviewedJob> {
  const job = await tx.maybe(
    Reviewed,
    sql`
    select j.id, j.user_id, j.status, j.failure_reason, j.is_reviewed, j.review_version as version, j.pages as page_count, j.extracted,
      j.decided_by, j.decided_at, j.created_at, j.updated_at
    from parsing_job j
    where j.team_id = ${tx.team} and j.id = ${id} and (j.status = 'pending_review' or j.is_reviewed) and j.extracted is not null`,
  )
  if (!job) throw notFound(NOT_FOUND)
  tx.concerns(job.user_id, id)
  if (!(await findUser(tx, job.user_id))) throw notFound(NOT_FOUND)
  const { has_files } = await tx.one(
    StoredFiles,
    sql`select exists (select from stored_file f where f.set_id = ${id} and f.name = 'file-0') as has_files`,
  )
  return { ...job, has_files }
}

/**
 * Locks a job that waits for a person until the transaction ends.
 * Errors: 404 as `readReviewed`; 409 it has been decided, or it is not at `version` any more, because another reviewer has corrected it.
 */
export async function lockWaiting(tx: Tx, id: string, version: number): Promise<ReviewedJob> {
  await tx.locking.run(sql`select id from parsing_job where team_id = ${tx.team} and id = ${id} for update`)
  const job = await readReviewed(tx, id)
  if (job.status !== 'pending_review') throw conflict('This report has been reviewed already')
  if (job.version !== version)
    throw conflict(`This report is at version ${job.version}: another reviewer has corrected it since. Read it again.`)
  return job
}

/** Counts a correction of a job that is locked. Writes parsing_job. */
export const raiseVersion = (tx: Tx, id: string): Promise<number> =>
  tx.run(sql`
    update parsing_job set review_version = review_version + 1, updated_at = ${tx.now} where team_id = ${tx.team} and id = ${id}`)

const Stored = T.Object({
  user_id: T.String(),
  file_key: Nullable(T.String()),
  file_types: T.Unsafe<ReportFile['type'][]>({}),
  pages: T.Integer(),
})

/** A page of a job in review, as the database knows it. */
export interface FoundPage {
  job: FilesOfJob
  /** Its picture, if that is stored. */
  picture: StoredFile | undefined
  /** The file that it is in, and the number of the page there, from 1. */
  files: StoredFile[]
  file: number
  page: number
}

/**
 * A page of a job that waits or waited for a person. Errors: 404 as `readReviewed`, there is no such page, or the files have been deleted.
 */
export async function findPage(tx: Tx, files: ReportFiles, id: string, page: number): Promise<FoundPage> {
  const stored = await tx.maybe(
    Stored,
    sql`
    select user_id, file_key, file_types, pages from parsing_job
    where team_id = ${tx.team} and id = ${id} and (status = 'pending_review' or is_reviewed) and extracted is not null`,
  )
  if (!stored) throw notFound(NOT_FOUND)
  tx.concerns(stored.user_id, id)
  if (!(await findUser(tx, stored.user_id))) throw notFound(NOT_FOUND)
  if (page > stored.pages) throw notFound('The report has no such page')
  const { file_key, file_types } = stored
  const isDocument = file_types[0] === 'application/pdf'
  const file = isDocument ? 0 : page - 1
  const found = await files.find(tx, { id, file_types }, file)
  if (file_key === null || !found.length) throw notFound('The files of this report have been deleted')
  const picture = await files.findPicture(tx, id, page)
  return { job: { id, file_key, file_types }, picture, files: found, file, page: isDocument ? page : 1 }
}
