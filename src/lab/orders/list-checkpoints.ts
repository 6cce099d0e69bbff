// Checkpoints along the list of a team's orders, which leaves out those of deleted users (platform/db/checkpoints.ts), and what is kept true
// when orders are erased.
import { Checkpoints, CHECKPOINT_STRIDE, lockTeam } from '../../platform/db/checkpoints.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { enqueue, defineHandler, defineJob } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { notDeleted } from '../../people/users/users.ts'

/** Orders from one checkpoint to the next. */
export const CHECKPOINT_INTERVAL = CHECKPOINT_STRIDE
/** Among the ids of order events, every so many one has the job queued. A prime: no rhythm of orders and events passes them all by. */
const CHECKPOINT_TRIGGER_EVERY = 499

export const createCheckpoints = defineJob('orders.mark', T.Object({}))

/** Whether the order that takes these ids for its events queues the job. */
export const shouldQueueCheckpoints = (event_ids: number[]): boolean =>
  event_ids.some((id) => id % CHECKPOINT_TRIGGER_EVERY === 0)

/** The team's orders but those of deleted users. */
export const orderList = new Checkpoints({
  table: 'lab_order',
  at: 'created_at',
  checkpoints: 'order_checkpoint',
  isShown: (tx) => notDeleted(tx, sql`t.user_id`),
})

/** How many orders the team has, without those of deleted users. */
export const countOrders = (tx: Tx): Promise<number> => orderList.total(tx)

/** Set the checkpoints that can be set; queues itself again while there is more than a run's worth. Writes order_checkpoint. */
export const createCheckpointsHandler = defineHandler(createCheckpoints, (context) =>
  context.tx(async (tx) => {
    if (await orderList.set(tx)) enqueue(tx, createCheckpoints, {})
  }),
)

/**
 * Forget the marks from an order on, because it is about to be erased: programs up to migration 41, which may run beside this one, count
 * by them. Writes order_mark.
 */
async function deleteCheckpointsFrom(tx: Tx, from: { created_at: string; id: string }): Promise<void> {
  await lockTeam(tx, tx.team)
  await tx.run(sql`
    delete from order_mark where team_id = ${tx.team} and (created_at, id) >= (${from.created_at}, ${from.id}::uuid)`)
}

const First = T.Object({ created_at: T.String(), id: T.String() })

/** Erase the orders of a deleted user, when the grace is over. Writes lab_order, order_mark. */
export async function eraseOrders(tx: Tx, user_id: string): Promise<void> {
  const first = await tx.maybe(
    First,
    sql`
      select created_at, id from lab_order where user_id = ${user_id} and team_id = ${tx.team} order by created_at, id limit 1`,
  )
  if (!first) return
  await deleteCheckpointsFrom(tx, first)
  await tx.run(sql`delete from lab_order where user_id = ${user_id} and team_id = ${tx.team}`)
}
