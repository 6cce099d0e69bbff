// Counts of a team's users, connections and orders.
import type { Tx } from '../platform/db.ts'
import { T, type Static } from '../platform/schema.ts'
import { sql } from '../platform/sql.ts'
import { countOrders } from './marks.ts'
import type { TeamMetrics } from './schema.ts'

const Counted = T.Object({ n: T.Integer() })

/** No data source can be connected yet, so those counts are zero. */
export async function teamMetrics(tx: Tx): Promise<Static<typeof TeamMetrics>> {
  const [{ n }, orders] = await Promise.all([
    tx.one(Counted, sql`select count(*) as n from "user" where team_id = ${tx.team} and deleted_at is null`),
    countOrders(tx),
  ])
  return {
    team_id: tx.team,
    number_of_connected_sources: 0,
    number_of_users: n,
    number_of_errored_connected_sources: 0,
    number_of_connected_sources_by_week: [],
    number_of_ordered_tests: orders,
  }
}
