// A sandbox team's visits take place automatically at their scheduled time. Source: lab-testing.md 17.3; the automatic visit is a choice of
// this project.
import type { Tx } from '../../../platform/db/transaction.ts'
import { enqueue, defineJob } from '../../../platform/queue/outbox.ts'
import { T } from '../../../platform/schema/schema.ts'

export const simulateVisit = defineJob(
  'phlebotomy.simulate_visit',
  T.Object({ order_id: T.String(), appointment_id: T.String() }),
)

/** Schedules the start of a visit; a job whose time no longer matches does nothing. Queues phlebotomy.simulate_visit. */
export const playAt = (
  tx: Tx,
  { order_id, appointment_id }: { order_id: string; appointment_id: string },
  start_ms: number,
): void => enqueue(tx, simulateVisit, { order_id, appointment_id }, new Date(start_ms))
