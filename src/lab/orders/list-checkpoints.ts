// Checkpoints along a team's list of orders without those of deleted users (platform/db/checkpoints.ts).
import { Checkpoints, CHECKPOINT_STRIDE } from '../../platform/db/checkpoints.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { enqueue, defineHandler, defineJob } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { notDeleted } from '../../people/users/users.ts'

/** Number of orders between two checkpoints. */
export const CHECKPOINT_INTERVAL = CHECKPOINT_STRIDE
/**
 * An order event whose id is a multiple of this number queues the job. A prime, so that no regular pattern of orders and events misses all
 * multiples.
 */
const CHECKPOINT_TRIGGER_EVERY = 499

export const createCheckpoints = defineJob('orders.create_checkpoints', T.Object({}))

/** Whether an order with these event ids queues the job. */
export const shouldQueueCheckpoints = (event_ids: number[]): boolean =>
  event_ids.some((id) => id % CHECKPOINT_TRIGGER_EVERY === 0)

/** An order as lists show it, and its user for the access log. */
export const ListedOrder = T.Object({ document: T.String(), user_id: T.String() })

/** The team's orders without those of deleted users. */
export const orderList = new Checkpoints({
  table: 'lab_order',
  at: 'created_at',
  checkpoints: 'order_checkpoint',
  row: ListedOrder,
  columns: sql`t.document, t.user_id`,
  isShown: (tx) => notDeleted(tx, sql`t.user_id`),
  // An index alone counts all orders; finding those of deleted users by comparing each with its user would read its row.
  countShown: (tx, condition) => sql`
    ((select count(*) from lab_order t where t.team_id = ${tx.team} and ${condition}) -
     (select count(*) from lab_order t join "user" gone on gone.id = t.user_id
      where t.team_id = ${tx.team} and gone.team_id = ${tx.team} and gone.deleted_at is not null and ${condition}))`,
})

/** Number of the team's orders, without those of deleted users. */
export const countOrders = (tx: Tx): Promise<number> => orderList.total(tx)

/** Creates the checkpoints that are due; queues itself again if more than one run's worth is left. Writes order_checkpoint. */
export const createCheckpointsHandler = defineHandler(createCheckpoints, (context) =>
  context.tx(async (tx) => {
    if (await orderList.set(tx)) enqueue(tx, createCheckpoints, {})
  }),
)

const Erased = T.Object({ id: T.String() })

/** Erases the orders of a deleted user after the grace period. Writes lab_order, order_checkpoint. */
export async function eraseOrders(tx: Tx, user_id: string): Promise<void> {
  const erased = await tx.many(
    Erased,
    sql`delete from lab_order where user_id = ${user_id} and team_id = ${tx.team} returning id`,
  )
  if (erased.length)
    await orderList.erase(
      tx,
      erased.map(({ id }) => id),
    )
}
