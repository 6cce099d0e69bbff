// Unlinks a deleted team from lab accounts after the grace period.
import { eraseInOrder } from '../../platform/db/erasure.ts'
import { sql } from '../../platform/db/sql.ts'

export const eraseTeamAccounts = eraseInOrder(
  (team, max) =>
    sql`delete from lab_account_team where ctid = any (array(select ctid from lab_account_team where team_id = ${team} limit ${max}))`,
)
