// Erasing the pipelines of a deleted team and what waited for them.
import { eraseInOrder } from '../../platform/db/erasure.ts'
import { sql } from '../../platform/db/sql.ts'

export const eraseTeamPipelines = eraseInOrder(
  (team, max) =>
    sql`delete from pipeline_delivery where id = any (array(select id from pipeline_delivery where team_id = ${team} limit ${max}))`,
  (team) => sql`delete from pipeline_lane where team_id = ${team}`,
  (team) => sql`delete from pipeline where team_id = ${team}`,
)
