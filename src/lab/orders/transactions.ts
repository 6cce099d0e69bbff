// Order transactions: groups of related orders. Derived from the orders; a transaction has no row of its own.
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { notDeleted } from '../../people/users/users.ts'
import { transactionStatus } from './locked-order.ts'
import type { Order, TransactionReply } from './schema.ts'

const Row = T.Object({ document: T.String(), low_level_status: T.String() })

/** Reads a transaction and its orders, oldest first. Errors: 404 none of the team's orders belongs to it, or only orders of deleted users do. */
export async function getTransaction(tx: Tx, id: string): Promise<Static<typeof TransactionReply>> {
  const rows = await tx.many(
    Row,
    sql`
    select document, low_level_status from lab_order where transaction_id = ${id} and team_id = ${tx.team} and ${notDeleted(tx, sql`user_id`)}
    order by created_at, id limit 100`,
  )
  if (rows.length === 0) throw notFound('Order transaction not found')
  return {
    id,
    team_id: tx.team,
    status: transactionStatus(rows.map((row) => row.low_level_status)),
    orders: rows.map(({ document, low_level_status }) => {
      const order = JSON.parse(document) as Order
      tx.concerns(order.user_id, order.id)
      const own = order.order_transaction.orders.find((entry) => entry.id === order.id)!
      const at = order.last_event.created_at
      return {
        id: order.id,
        origin: order.origin,
        parent_id: own.parent_id,
        last_status: low_level_status,
        last_status_created_at: at,
        low_level_status,
        low_level_status_created_at: at,
        created_at: order.created_at,
        updated_at: order.updated_at,
      }
    }),
  }
}
