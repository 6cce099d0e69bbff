// Deleting samples whose retention has ended.
import type { PlainTx } from '../../platform/db/transaction.ts'
import { sql } from '../../platform/db/sql.ts'
import { DeletedData, type Expiry } from '../resources/expiry.ts'
import { resourceNameOf, timeseriesNames } from '../resources/timeseries.ts'

/** Deletes chunks whose hour ended before the retention of their resource and provider. Writes chunk. */
export const deleteExpiredSamples = (tx: PlainTx, { team_id, user_ids, now, days, rows_max }: Expiry): Promise<DeletedData[]> => {
  const kept = days(sql`n.resource`, sql`s.provider`)
  return tx.many(
    DeletedData,
    sql`
    with names as materialized (
      select * from unnest(${timeseriesNames}::text[], ${timeseriesNames.map(resourceNameOf)}::text[]) as n (name, resource)),
    cutoffs as materialized (
      select s.user_id, s.id, n.resource, ${now} - interval '1 hour' - d.days * interval '1 day' as cutoff
      from series s join names n on n.name = s.resource, lateral (select ${kept} as days) d
      where s.team_id = ${team_id} and s.user_id = any (${user_ids}::uuid[]) and d.days is not null),
    deleted as (delete from chunk where ctid = any (array(
      select c.ctid from cutoffs k
      join chunk c on c.team_id = ${team_id} and c.user_id = k.user_id and c.series_id = k.id and c.hour < k.cutoff
      limit ${rows_max} for update of c skip locked)) returning user_id, series_id, hour)
    select d.user_id, k.resource, (extract(epoch from min(d.hour)) * 1000)::bigint as from_ms,
      (extract(epoch from max(d.hour)) * 1000)::bigint as to_ms, count(*) as rows
    from deleted d join cutoffs k on k.user_id = d.user_id and k.id = d.series_id
    group by d.user_id, k.resource`,
  )
}
