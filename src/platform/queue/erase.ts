// Erasing what was told to a deleted team, and what was to be done for it.
import { eraseInOrder } from '../db/erasure.ts'
import { sql } from '../db/sql.ts'

export const eraseTeamQueues = eraseInOrder(
  (team, max) =>
    sql`delete from announcement where ctid = any (array(select ctid from announcement where team_id = ${team} limit ${max}))`,
  (team) => sql`delete from followed_team where team_id = ${team}`,
  (team, max) => sql`delete from event where ctid = any (array(select ctid from event where team_id = ${team} limit ${max}))`,
  (team, max) => sql`delete from job where ctid = any (array(select ctid from job where team_id = ${team} limit ${max}))`,
)
