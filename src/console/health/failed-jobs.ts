// Dead letters of a team: jobs that failed, and retrying them.
import { Pages, uuidKey } from '../../platform/http/list-pages.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { listFailedJobs, retryFailedJobs, type JobSelection } from '../../platform/queue/team-jobs.ts'
import { RETRIED_MAX, type FailedJobQuery } from './schema.ts'

/** A page of the jobs of the team that failed, newest first. Errors: 400 a cursor of another list. */
export async function pageFailedJobs(tx: Tx, query: FailedJobQuery) {
  const state = query.state === 'retrying' ? 'retrying' : 'dead'
  const { name } = query
  const pages = new Pages(`failed jobs ${tx.team} ${state} ${name ?? ''}`, query, [uuidKey(sql`id`)])
  const rows = await listFailedJobs(tx, { state, name }, sql`${pages.afterCursor} ${pages.order}`)
  const { page, next_cursor } = pages.cut(rows, ({ id }) => [id])
  return { data: page, next_cursor }
}

/** Retries jobs that are tried no more: those with these ids, or the oldest 1,000; of one kind or of all. Writes job. */
export async function retryJobs(tx: Tx, selection: JobSelection) {
  const retried = await retryFailedJobs(tx, selection, RETRIED_MAX)
  const done = new Set(retried)
  return { retried, not_found: (selection.ids ?? []).filter((id) => !done.has(id)) }
}
