// Erasing the simulations of a deleted team that wait.
import { eraseInOrder } from '../../platform/db/erasure.ts'
import { sql } from '../../platform/db/sql.ts'

export const eraseTeamSimulations = eraseInOrder(
  (team, max) =>
    sql`delete from simulation where order_id = any (array(select order_id from simulation where team_id = ${team} limit ${max}))`,
)
