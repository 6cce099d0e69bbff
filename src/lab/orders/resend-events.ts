// Resending the latest event of orders. Source: lab-testing.md 22.
import { addSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, invalidField } from '../../platform/http/errors.ts'
import { reemitLatestEvents } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import { joinConditions, sql } from '../../platform/db/sql.ts'
import { notDeleted } from '../../people/users/users.ts'
import type { ResendEvents } from './schema.ts'

const WINDOW_S_MAX = 60 * 86_400
const ORDERS_MAX = 1000

const Found = T.Object({ id: T.String(), user_id: T.String() })

/**
 * Resends the latest event of each matching order with the same bytes and a new id. Emits the event type that the order emitted last.
 * `start_at`–`end_at` bounds the time of the latest event. Unknown ids and orders of deleted users are ignored.
 * Errors: 422 neither ids nor a start, or a window of more than 60 days or reversed; 400 more than 1,000 orders match.
 */
export async function resendEvents(tx: Tx, body: ResendEvents): Promise<{ order_ids: string[] }> {
  if (!body.order_ids && !body.start_at) throw invalidField(['body'], 'order_ids or start_at must be given')
  const end = body.end_at ? new Date(body.end_at) : tx.now
  const start = body.start_at ? new Date(body.start_at) : undefined
  if (start && end < start) throw invalidField(['body', 'end_at'], 'must not be before start_at')
  if (start && end > addSeconds(start, WINDOW_S_MAX))
    throw invalidField(['body', 'start_at'], 'the window must not be longer than 60 days')
  const rows = await tx.many(
    Found,
    sql`
    select id, user_id from lab_order
    where team_id = ${tx.team} and ${joinConditions([
      notDeleted(tx, sql`user_id`),
      ...(body.order_ids ? [sql`id = any (${body.order_ids}::uuid[])`] : []),
      ...(start ? [sql`status_at >= ${start}`] : []),
      ...(start || body.end_at ? [sql`status_at <= ${end}`] : []),
    ])}
    order by created_at, id limit ${ORDERS_MAX + 1}`,
  )
  if (rows.length > ORDERS_MAX) throw badRequest(`More than ${ORDERS_MAX} orders match; narrow the window`)
  for (const { id, user_id } of rows) tx.concerns(user_id, id)
  return {
    order_ids: await reemitLatestEvents(
      tx,
      rows.map((row) => row.id),
    ),
  }
}
