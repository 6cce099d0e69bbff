// All samples of some hours, without objects for them: a day of heart rates has 86,400.
import type { Tx } from '../../platform/db/transaction.ts'
import { arrayLiteral, sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import type { TimeseriesName } from '../resources/timeseries.ts'
import { chunkColumns, chunkRow, readChunk, type Chunk } from './chunk-rows.ts'
import { sourceOf, sourceRow, type SampleSource } from './chunks.ts'

const Row = T.Object({ ...chunkRow, ...sourceRow })

/** The samples of one series in one hour. */
export interface SourceChunk {
  series_id: number
  source: SampleSource
  chunk: Chunk
}

/** The chunks of a resource of a user and provider that begin at some instants, by series and time. */
export async function chunksOfHours(
  tx: Tx,
  { user_id, resource, provider }: { user_id: string; resource: TimeseriesName; provider: string },
  hours_ms: number[],
): Promise<SourceChunk[]> {
  const rows = await tx.many(
    Row,
    sql`
    select ${chunkColumns}, s.provider, s.source_type, s.app_id, s.device_id, s.workout_id, s.sport
    from series s join chunk c on c.team_id = s.team_id and c.user_id = s.user_id and c.series_id = s.id
    where s.team_id = ${tx.team} and s.user_id = ${user_id} and s.resource = ${resource} and s.provider = ${provider}
      and c.hour = any (${arrayLiteral(hours_ms.map((ms) => new Date(ms)))}::timestamptz[])
    order by c.series_id, c.hour`,
  )
  return rows.map((row) => ({ series_id: row.series_id, source: sourceOf(row), chunk: readChunk(row) }))
}
