// Counts of a team's users, connections and orders.
import type { Tx } from '../../platform/db/transaction.ts'
import type { Static } from '../../platform/schema/schema.ts'
import { countUsers } from '../../people/users/users.ts'
import { countOrders } from './list-checkpoints.ts'
import type { TeamMetrics } from './schema.ts'

/** Data source connections do not exist yet, so their counts are zero. */
export async function teamMetrics(tx: Tx): Promise<Static<typeof TeamMetrics>> {
  const [users, orders] = await Promise.all([countUsers(tx), countOrders(tx)])
  return {
    team_id: tx.team,
    number_of_connected_sources: 0,
    number_of_users: users,
    number_of_errored_connected_sources: 0,
    number_of_connected_sources_by_week: [],
    number_of_ordered_tests: orders,
  }
}
