// What happens to the connections of a user whose time of ingestion is over: they are paused, and ended at their providers.
// Source: users-wearables.md 4 C5, 6 I3.
import { lockUser } from '../../people/users/connected-sources.ts'
import { endIngestion, isIngestionOver, planIngestionEnd } from '../../people/users/ingestion-end.ts'
import { findUser } from '../../people/users/users.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { defineHandler } from '../../platform/queue/outbox.ts'
import { sql } from '../../platform/db/sql.ts'
import { connectedProviders, connectionEnded } from './connections.ts'

/**
 * Pauses all connections of a user whose time of ingestion is over; their data stays. A job for an end that was moved meanwhile is queued
 * for the new one. Writes connection. Runs the hooks of `connectionEnded`, which end grants at the providers. Emits nothing.
 */
async function pauseAfterIngestion(tx: Tx, user_id: string): Promise<void> {
  if (!(await lockUser(tx, user_id))) return
  const user = (await findUser(tx, user_id))!
  if (!isIngestionOver(tx, user)) return planIngestionEnd(tx, user)
  await tx.run(sql`
    update connection set status = 'paused', error_type = null, error_message = null, errored_at = null, updated_at = ${tx.now}
    where team_id = ${tx.team} and user_id = ${user_id} and status <> 'paused'`)
  // A connection that was paused before has a grant as well.
  if ((await connectedProviders(tx, user_id)).length) await tx.notify(connectionEnded, user_id, null)
}

export const endIngestionHandler = defineHandler(endIngestion, (context, { user_id }) =>
  context.tx((tx) => pauseAfterIngestion(tx, user_id)),
)
