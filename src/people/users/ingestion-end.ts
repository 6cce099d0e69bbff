// The end of ingestion of a user: after it, late data is accepted for 7 days; then the connections end. Source: users-wearables.md 4 C5, 6 I3.
import { addSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { defineJob, enqueue, enqueueOnce } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import type { User } from './schema.ts'

/** The last day itself, and 7 days in which late data is accepted. */
const AFTER_S = 8 * 86_400

/** Ends the connections of a user whose time of ingestion is over. A module above handles it. */
export const endIngestion = defineJob('users.end_ingestion', T.Object({ user_id: T.String() }))

/** Later ends do not come: no instant of a job has more than four digits of a year. */
const NEVER_MS = Date.UTC(9999, 0)

/** The users of a team often have one end: their connections end within an hour. */
const SPREAD_S = 3600
type Bounds = Pick<User, 'user_id' | 'ingestion_end'>

/** When the connections of a user end; undefined if they do not. The bounds are dates, which are in UTC here. */
function connectionsEndAt({ user_id, ingestion_end }: Bounds): Date | undefined {
  if (ingestion_end === null) return undefined
  const day = new Date(ingestion_end)
  return day.getTime() >= NEVER_MS ? undefined : addSeconds(day, AFTER_S + (Number.parseInt(user_id.slice(-8), 16) % SPREAD_S))
}

/** Whether the time of ingestion of a user is over, with the days in which late data is accepted. */
export function isIngestionOver(tx: Tx, user: Bounds): boolean {
  const at = connectionsEndAt(user)
  return at !== undefined && at <= tx.now
}

/** Queues users.end_ingestion for the end of a user's connections, if they end and it is not queued. */
export function planIngestionEnd(tx: Tx, user: Bounds): void {
  const at = connectionsEndAt(user)
  if (at === undefined) return
  const payload = { user_id: user.user_id }
  if (at > tx.now) enqueueOnce(tx, endIngestion, payload, at)
  else enqueue(tx, endIngestion, payload)
}
