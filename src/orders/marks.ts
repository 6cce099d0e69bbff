// Marks along the list of a team's orders: "so many orders come before this one". A page far down the list, and the total, start
// from the nearest mark instead of counting from the top: 1,000,000 orders cost what 1,000 do.
//
// A mark is exact because nothing is ever inserted before it. Orders sort by the team's time of creation, which only moves forward,
// and a mark is set only where every order up to it was written more than two minutes ago by the machine's clock, longer than any
// transaction may last. Erasing a user removes the marks behind the first erased order; they are set again by the next run.
import { plusSeconds, uuidOfAge } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import { enqueue, handle, job } from '../platform/outbox.ts'
import { T } from '../platform/schema.ts'
import { sql } from '../platform/sql.ts'

/** Orders from one mark to the next. */
export const MARK_STRIDE = 500
/** Among the ids of order events, every so many one has the job queued. A prime: no rhythm of orders and events passes them all by. */
const TURN = 499
const SETTLED_S = 120
const MARKS_MAX = 200

export const markOrders = job('orders.mark', T.Object({}))

/** Whether the order that takes these ids for its events queues the job. */
export const isMarkTurn = (event_ids: number[]): boolean => event_ids.some((id) => id % TURN === 0)

const Mark = T.Object({ rank: T.Integer(), created_at: T.String(), id: T.String() })
export interface Mark {
  rank: number
  created_at: string
  id: string
}

/** The last mark at or before a rank; undefined when there is none. */
export const markBefore = (tx: Tx, rank: number): Promise<Mark | undefined> =>
  tx.maybe(
    Mark,
    sql`
    select rank, created_at, id from order_mark where team_id = ${tx.team} and rank <= ${rank} order by rank desc limit 1`,
  )

/** The last mark of all. */
export const lastMark = (tx: Tx): Promise<Mark | undefined> =>
  tx.maybe(Mark, sql`select rank, created_at, id from order_mark where team_id = ${tx.team} order by rank desc limit 1`)

const Counted = T.Object({ n: T.Integer() })

/** How many orders the team has. */
export async function countOrders(tx: Tx): Promise<number> {
  const mark = await lastMark(tx)
  const { n } = await tx.one(
    Counted,
    mark
      ? sql`select count(*) as n from lab_order where team_id = ${tx.team} and (created_at, id) >= (${mark.created_at}, ${mark.id}::uuid)`
      : sql`select count(*) as n from lab_order where team_id = ${tx.team}`,
  )
  return (mark?.rank ?? 0) + n
}

/** Marks of a team are set or forgotten by one transaction at a time. The row of the team is the lock; writers of orders pass it. */
const lockMarks = (tx: Tx): Promise<number> => tx.locking.run(sql`select id from team where id = ${tx.team} for no key update`)

/** Set the marks that can be set; queues itself again while there is more than a run's worth. Writes order_mark. */
export const markHandler = handle(markOrders, (context) =>
  context.tx(async (tx) => {
    await lockMarks(tx)
    const last = await lastMark(tx)
    // The team's time never goes back, so what is younger by it is younger by the machine's as well, and need not be looked at: under
    // load this runs several times a second.
    const from = last ? sql`and (created_at, id) >= (${last.created_at}, ${last.id}::uuid)` : sql``
    const set = await tx.run(sql`
      insert into order_mark (team_id, rank, created_at, id)
      select ${tx.team}, ${last?.rank ?? 0} + place - 1, created_at, id
      from (
        select created_at, id, row_number() over (order by created_at, id) as place
        from (
          select created_at, id from lab_order
          where team_id = ${tx.team} ${from} and created_at <= ${plusSeconds(tx.now, -SETTLED_S)}
          order by created_at, id limit ${MARKS_MAX * MARK_STRIDE + 1}) orders
      ) placed
      where place > 1 and (place - 1) % ${MARK_STRIDE} = 0 and id < ${uuidOfAge(SETTLED_S)}::uuid`)
    if (set === MARKS_MAX) enqueue(tx, markOrders, {})
  }),
)

/** Forget the marks from an order on, because it is about to be erased. Writes order_mark. */
export async function forgetMarks(tx: Tx, from: { created_at: string; id: string }): Promise<void> {
  await lockMarks(tx)
  await tx.run(sql`
    delete from order_mark where team_id = ${tx.team} and (created_at, id) >= (${from.created_at}, ${from.id}::uuid)`)
}
