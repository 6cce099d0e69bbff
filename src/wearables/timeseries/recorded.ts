// Samples that are stored already under other apps of the same provider, for data that reaches the server by two ways.
import type { Tx } from '../../platform/db/transaction.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { TimeseriesName } from '../resources/timeseries.ts'
import { HOUR_MS } from '../../platform/runtime/durations.ts'

const Series = T.Object({ id: T.Integer(), source_type: T.String(), app_id: Nullable(T.String()) })
const Found = T.Object({ series_id: T.Integer(), at_ms: T.Integer(), length_ms: Nullable(T.Integer()) })

export interface RecordedSample {
  at_ms: number
  /** Duration of an interval. */
  length_ms: number | null
  source_type: string
}

/**
 * The samples of a resource of a user at some instants, of the series of a provider that are chosen, without their values. Reads no samples
 * if no series is chosen. The database selects them: a process would have to hold all samples of their hours.
 */
export async function recordedSamples(
  tx: Tx,
  { user_id, resource, provider }: { user_id: string; resource: TimeseriesName; provider: string },
  isChosen: (app_id: string | null) => boolean,
  instants_ms: number[],
): Promise<RecordedSample[]> {
  const all = await tx.many(
    Series,
    sql`
    select id, source_type, app_id from series
    where team_id = ${tx.team} and user_id = ${user_id} and resource = ${resource} and provider = ${provider} order by id`,
  )
  const series = new Map(all.filter(({ app_id }) => isChosen(app_id)).map((one) => [one.id, one]))
  if (!series.size) return []
  const instants = [...new Set(instants_ms)]
  const hours = instants.map((ms) => Math.floor(ms / HOUR_MS) * HOUR_MS)
  const asDates = (all: number[]) => all.map((ms) => new Date(ms))
  const found = await tx.many(
    Found,
    sql`
    select c.series_id, g.at_ms, c.lengths[array_position(c.at, g.ms)] as length_ms
    from chunk c join unnest(${asDates(hours)}::timestamptz[], ${instants.map((ms, i) => ms - hours[i]!)}::integer[], ${instants}::bigint[])
      as g (hour, ms, at_ms) on g.hour = c.hour
    where c.team_id = ${tx.team} and c.user_id = ${user_id} and c.series_id = any (${[...series.keys()]}::bigint[])
      and c.hour = any (${asDates([...new Set(hours)])}::timestamptz[]) and array_position(c.at, g.ms) is not null`,
  )
  return found.map(({ series_id, ...sample }) => ({ ...sample, source_type: series.get(series_id)!.source_type }))
}
