// Erasing what a deleted team had set for its providers in a cell.
import { inTurn } from '../../platform/db/erasure.ts'
import { sql } from '../../platform/db/sql.ts'

export const eraseTeamConnections = inTurn(
  (team, max) =>
    sql`delete from custom_credential where id = any (array(select id from custom_credential where team_id = ${team} limit ${max}))`,
  (team) => sql`delete from data_pull_preference where team_id = ${team}`,
)
