// The time limit of partial results, for laboratories that leave out what they do not measure. Only the profile of a link sets one.
import type { DiagnosticReport } from '../links/diagnostic-report.ts'
import { addSeconds } from '../../platform/runtime/clock.ts'
import { DAY_S } from '../../platform/runtime/durations.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { defineJob, enqueueOnce } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'

export const completeResult = defineJob('results.complete', T.Object({ order_id: T.String(), days: T.Integer() }))

/** Schedules the completion of a partial result whose report has a time limit. Queues results.complete. */
export function scheduleCompletion(tx: Tx, order_id: string, { status, completes_after_days: days }: DiagnosticReport): void {
  if (days === undefined || status === 'final') return
  enqueueOnce(tx, completeResult, { order_id, days }, addSeconds(tx.now, days * DAY_S))
}
