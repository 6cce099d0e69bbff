// Erasing a deleted team's own credentials for providers in a cell.
import { eraseInOrder } from '../../platform/db/erasure.ts'
import { sql } from '../../platform/db/sql.ts'

export const eraseTeamCredentials = eraseInOrder(
  (team, max) =>
    sql`delete from custom_credential where id = any (array(select id from custom_credential where team_id = ${team} limit ${max}))`,
)
