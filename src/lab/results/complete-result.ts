// Completes partial results whose time limit has passed.
import type { DiagnosticReport } from '../links/diagnostic-report.ts'
import { findAndLockOrder, saveOrder } from '../orders/change-order.ts'
import { addSeconds } from '../../platform/runtime/clock.ts'
import { DAY_S } from '../../platform/runtime/durations.ts'
import { defineHandler, enqueueOnce } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { completeResult } from './completion-limit.ts'
import { receiveReport } from './results.ts'

const Row = T.Object({ report: T.String() })

/**
 * Completes an order with a partial result if no report has come for so many days: what was not reported is missing. The order of a deleted
 * user waits. Writes and emits as `receiveReport`. Queues results.complete again for a deleted user.
 */
export const completionHandler = defineHandler(completeResult, (context, { order_id, days }) =>
  context.tx(async (tx) => {
    const lockedOrder = await findAndLockOrder(tx, order_id)
    if (!lockedOrder) return
    const row = await tx.maybe(
      Row,
      sql`
      select report from lab_result
      where order_id = ${order_id} and team_id = ${tx.team} and updated_at <= ${addSeconds(tx.now, -days * DAY_S)}`,
    )
    const report = row && (JSON.parse(row.report) as DiagnosticReport)
    if (!report || report.status === 'final') return
    if (lockedOrder.isHidden) return enqueueOnce(tx, completeResult, { order_id, days }, addSeconds(tx.now, DAY_S))
    const nothingNew = { results: [], missing: [], withdrawn_results: [], confirmed_results: [] }
    await receiveReport(tx, lockedOrder, { ...report, ...nothingNew, scope: 'incremental', completes_order: true })
    await saveOrder(tx, lockedOrder)
  }),
)
