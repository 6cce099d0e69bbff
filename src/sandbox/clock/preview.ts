// What advancing the clock of a sandbox team will do, without doing it.
import type { Tx } from '../../platform/db/transaction.ts'
import { invalidField } from '../../platform/http/errors.ts'
import { COUNTED_JOBS_MAX, countDueJobs, nextJobAt } from '../../platform/queue/team-jobs.ts'
import { addSeconds, iso } from '../../platform/runtime/clock.ts'
import { assertSandbox, LEAP_MAX_MS } from './team-clock.ts'
import type { ClockPreview, ClockPreviewQuery } from './schema.ts'
import { workKindOf } from './work-kinds.ts'

/**
 * The jobs that become due until an instant, or after some seconds; without either until the next one. Jobs that these jobs will queue are
 * not among them. Changes nothing.
 * Errors: 404 not a sandbox team; 422 both `seconds` and `to`, backwards, or more than ten years.
 */
export async function previewClock(tx: Tx, query: ClockPreviewQuery): Promise<ClockPreview> {
  assertSandbox(tx.tenant)
  if (query.seconds !== undefined && query.to !== undefined)
    throw invalidField(['query'], 'only one of seconds and to may be given')
  const next_at = await nextJobAt(tx)
  const end = query.seconds === undefined ? new Date(query.to ?? next_at ?? tx.now) : addSeconds(tx.now, query.seconds)
  if (end < tx.now) throw invalidField(['query', 'to'], 'the clock can only move forward')
  if (end.getTime() - tx.now.getTime() > LEAP_MAX_MS)
    throw invalidField(['query', 'to'], 'the clock can be advanced by at most ten years at a time')
  const due = await countDueJobs(tx, end)
  const total = due.reduce((sum, { n }) => sum + n, 0)
  return {
    now: iso(tx.now),
    to: iso(end),
    next_at,
    total,
    is_complete: total < COUNTED_JOBS_MAX,
    data: due.map((jobs) => ({
      kind: workKindOf(jobs),
      job: jobs.name,
      count: jobs.n,
      first_at: jobs.first_at,
      last_at: jobs.last_at,
    })),
  }
}
