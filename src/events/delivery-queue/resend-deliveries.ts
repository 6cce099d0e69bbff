// Deliveries that a user sends again: due at once, with a new round of attempts.
import type { Tx } from '../../platform/db/transaction.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'

/** Several deliveries go in the order of their messages. */
export const requeued: Sql = sql`
  state = 'pending', due_at = ${dbNow}, queue_position = null, leased_until = null, attempts = 0, trigger = 'manual'`

/**
 * Sends a message to an endpoint again. An event that was never queued for the endpoint is queued. A message that does not exist is ignored.
 * Writes delivery.
 */
export async function resendDelivery(tx: Tx, webhook_id: string, message_id: string): Promise<void> {
  const changed = await tx.run(sql`
    update delivery set ${requeued}
    where team_id = ${tx.team} and webhook_id = ${webhook_id} and message_id = ${message_id}`)
  if (!changed)
    await tx.run(sql`
      insert into delivery (team_id, webhook_id, message_id, state, due_at, trigger, created_at)
      select e.team_id, w.id, e.id, 'pending', ${dbNow}, 'manual', ${dbNow}
      from event e join (select id from webhook where id = ${webhook_id} and team_id = ${tx.team} for key share) w on true
      where e.team_id = ${tx.team} and e.id = ${message_id}`)
  tx.notifyDelivery()
}

/**
 * Sends events to an endpoint again. Writes delivery.
 * @param queued events that have a delivery to the endpoint
 * @param missing events that have none
 */
export async function replayDeliveries(
  tx: Tx,
  webhook_id: string,
  { queued, missing }: { queued: string[]; missing: string[] },
): Promise<void> {
  if (missing.length)
    await tx.run(sql`
      insert into delivery (team_id, webhook_id, message_id, state, due_at, trigger, created_at)
      select ${tx.team}, w.id, given.id, 'pending', ${dbNow}, 'manual', ${dbNow}
      from unnest(${missing}::uuid[]) with ordinality as given (id, n)
      join (select id from webhook where id = ${webhook_id} and team_id = ${tx.team} for key share) w on true order by n
      on conflict (webhook_id, message_id) do nothing`)
  if (queued.length)
    await tx.run(
      sql`update delivery set ${requeued} where team_id = ${tx.team} and webhook_id = ${webhook_id} and message_id = any (${queued}::uuid[])`,
    )
  if (missing.length || queued.length) tx.notifyDelivery()
}
