// How many connections a team has, and since when.
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { T, type Static } from '../../platform/schema/schema.ts'

const WEEKS_SHOWN = 53

const Counts = T.Object({
  connected_count: T.Integer(),
  errored_count: T.Integer(),
  weeks: T.Array(T.Object({ date: T.String(), value: T.Integer(), all: T.Integer() })),
})

/**
 * Counts the connections of the team: all, those in error, and by week of their creation. Weeks begin on Monday in UTC; `value` is the
 * number created in the week, `all` the number by the end of it. At most the last 53 weeks with a new connection are shown.
 */
export const countConnections = (tx: Tx): Promise<Static<typeof Counts>> =>
  tx.one(
    Counts,
    sql`
    with weeks as (
      select date_trunc('week', created_at at time zone 'UTC') as week, count(*) as created,
             sum(count(*)) over (order by date_trunc('week', created_at at time zone 'UTC')) as total
      from connection where team_id = ${tx.team} group by week order by week desc limit ${WEEKS_SHOWN})
    select count(*) as connected_count, count(*) filter (where status = 'error') as errored_count,
           coalesce((
             select json_agg(json_build_object('date', to_char(week, 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"'), 'value', created, 'all', total)
                             order by week)
             from weeks), '[]') as weeks
    from connection where team_id = ${tx.team}`,
  )
