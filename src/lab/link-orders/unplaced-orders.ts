// Orders under the account of a link that their laboratory does not have: refused, not writable, or due while the link was not live.
import type { PlainTx } from '../../platform/db/transaction.ts'
import { sql } from '../../platform/db/sql.ts'
import { assertOwnAccount } from '../accounts/link-operations.ts'
import { userNotDeleted } from '../../people/users/users.ts'
import { closedStatuses } from '../orders/lifecycle.ts'
import { UnplacedOrder, type UnplacedOrders } from './schema.ts'
import { T } from '../../platform/schema/schema.ts'

const ORDERS_MAX = 200

const Row = T.Object({ ...UnplacedOrder.properties, user_id: T.String() })

/** The orders of an organization's account, oldest first: at most 200. Names their users for the access log. Errors: 404 unknown account. */
export async function listUnplacedOrders(tx: PlainTx, org_id: string, account_id: string): Promise<UnplacedOrders> {
  await assertOwnAccount(tx, { org: org_id, account_id })
  const rows = await tx.many(
    Row,
    sql`
    select o.id as order_id, o.team_id, o.user_id, o.low_level_status as status, date_trunc('second', o.status_at) as failed_at,
           date_trunc('second', o.created_at) as created_at
    from lab_order o join team t on o.team_id = t.id and t.org_id = ${org_id}
    where o.lab_account_id = ${account_id} and o.status_detail = 'fulfillment_error'
      and o.low_level_status <> all (${[...closedStatuses, 'partial_results']}::text[])
      and ${userNotDeleted(sql`o.user_id`, sql`o.team_id`)}
    order by o.status_at, o.id limit ${ORDERS_MAX}`,
  )
  return {
    data: rows.map(({ user_id, ...order }) => {
      tx.concerns(user_id, order.order_id, order.team_id)
      return order
    }),
  }
}
