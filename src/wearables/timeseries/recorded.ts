// Samples that are stored already under other apps of the same provider, for data that reaches the server by two ways.
import type { Tx } from '../../platform/db/transaction.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { TimeseriesName } from '../resources/timeseries.ts'
import { chunkColumns, chunkRow, HOUR_MS, samplesOf, type Sample } from './chunks.ts'

const Series = T.Object({ id: T.Integer(), source_type: T.String(), app_id: Nullable(T.String()) })
const Chunk = T.Object(chunkRow)

export interface RecordedSample extends Sample {
  source_type: string
}

/**
 * The samples of a resource of a user in the hours of some instants, of the series of a provider that are chosen. Reads no samples if no
 * series is.
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
  const hours = [...new Set(instants_ms.map((ms) => Math.floor(ms / HOUR_MS)))].map((hour) => new Date(hour * HOUR_MS))
  const chunks = await tx.many(
    Chunk,
    sql`
    select ${chunkColumns} from chunk c
    where c.team_id = ${tx.team} and c.user_id = ${user_id} and c.series_id = any (${[...series.keys()]}::bigint[])
      and c.hour = any (${hours}::timestamptz[])`,
  )
  return chunks.flatMap((chunk) => {
    const { source_type } = series.get(chunk.series_id)!
    return samplesOf(chunk).map((sample) => ({ ...sample, source_type }))
  })
}
