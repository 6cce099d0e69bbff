// Erasing what a deleted team has of the sandbox: simulations that wait, and who moved its clock.
import { inTurn } from '../../platform/db/erasure.ts'
import { sql } from '../../platform/db/sql.ts'

export const eraseTeamSimulations = inTurn(
  (team, max) =>
    sql`delete from simulation where order_id = any (array(select order_id from simulation where team_id = ${team} limit ${max}))`,
  (team) => sql`delete from clock_move where team_id = ${team}`,
)
