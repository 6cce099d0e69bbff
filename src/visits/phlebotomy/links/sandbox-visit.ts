// Visits of a sandbox team take place by themselves: at the time that was fixed, whoever has fixed it. Source: lab-testing.md 17.3; that
// nobody has to be employed for it is a choice of this project.
import type { Tx } from '../../../platform/db/transaction.ts'
import { enqueue, defineJob } from '../../../platform/queue/outbox.ts'
import { T } from '../../../platform/schema/schema.ts'

export const playVisit = defineJob('phlebotomy.play', T.Object({ order_id: T.String(), appointment_id: T.String() }))

/** See to it that a visit is begun at its time; one for an earlier time does nothing. Queues phlebotomy.play. */
export const playAt = (
  tx: Tx,
  { order_id, appointment_id }: { order_id: string; appointment_id: string },
  start_ms: number,
): void => enqueue(tx, playVisit, { order_id, appointment_id }, new Date(start_ms))
