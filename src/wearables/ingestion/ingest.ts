// The one way in for samples: the user's bounds, units, identity, merge, events. Source: users-wearables.md 6, 7; events.md 4.2, 4.11.
import type { User } from '../../people/users/schema.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { sql } from '../../platform/db/sql.ts'
import { timeseriesOf, type SourceType, type TimeseriesName } from '../resources/timeseries.ts'
import { mergeSamples, type Sample, type SampleSource, type SeriesSamples } from '../timeseries/chunks.ts'
import { emitBatches, emitHistoryComplete } from './batch-events.ts'

const DAY_MS = 86_400_000

export interface IncomingSample extends Sample {
  source_type: SourceType
  app_id: string | null
}

export interface Ingested {
  accepted: number
  created: number
  updated: number
  /** Outside of the user's bounds of ingestion. */
  dropped: number
}

/** The instants that a user's data may have: the bounds are dates, so a day is added at either end for time zones. */
function isWithinBounds({ ingestion_start, ingestion_end }: User): (at_ms: number) => boolean {
  const from = ingestion_start === null ? -Infinity : Date.parse(ingestion_start) - DAY_MS
  const to = ingestion_end === null ? Infinity : Date.parse(ingestion_end) + 2 * DAY_MS
  return (at_ms) => at_ms >= from && at_ms < to
}

/**
 * Stores samples of one resource of a user. Writes series, chunk. Emits daily.data.{resource}.created for samples that were not there and
 * .updated for those that have another value; samples that are there already change nothing. Events about history go only to pipelines
 * that ask for them.
 */
export async function ingestSamples(
  tx: Tx,
  user: User,
  resource: TimeseriesName,
  { provider, samples, historical }: { provider: string; samples: IncomingSample[]; historical: boolean },
): Promise<Ingested> {
  const isWanted = isWithinBounds(user)
  const series = new Map<string, SeriesSamples>()
  let accepted = 0
  for (const { source_type, app_id, ...sample } of samples) {
    if (!isWanted(sample.at_ms)) continue
    accepted++
    const source: SampleSource = { provider, source_type, app_id }
    const key = JSON.stringify([source_type, app_id])
    const into = series.get(key) ?? { source, samples: [] }
    series.set(key, into)
    into.samples.push(sample)
  }
  const merged = await mergeSamples(tx, user.user_id, resource, [...series.values()])
  emitBatches(tx, user, resource, merged, { historical })
  const total = (kind: 'created' | 'updated') => merged.reduce((sum, one) => sum + one[kind].length, 0)
  return { accepted, created: total('created'), updated: total('updated'), dropped: samples.length - accepted }
}

/**
 * Records that the history of a resource is complete. Writes historical_pull. Emits historical.data.{resource}.created, unless the same
 * range was recorded before.
 */
export async function completeHistory(
  tx: Tx,
  user: User,
  resource: TimeseriesName,
  { provider, from_ms, to_ms }: { provider: string; from_ms: number; to_ms: number },
): Promise<void> {
  const [start, end] = [from_ms, to_ms].map((ms) => new Date(ms).toISOString())
  const recorded = await tx.run(sql`
    insert into historical_pull (team_id, user_id, provider, resource, range_start, range_end, ended_at)
    values (${tx.team}, ${user.user_id}, ${provider}, ${resource}, ${start}, ${end}, ${tx.now})
    on conflict (team_id, user_id, provider, resource) do update
    set range_start = excluded.range_start, range_end = excluded.range_end, ended_at = excluded.ended_at
    where (historical_pull.range_start, historical_pull.range_end) <> (excluded.range_start, excluded.range_end)`)
  const { event } = timeseriesOf(resource)
  if (recorded && event !== null) emitHistoryComplete(tx, user, event, { provider, from_ms, to_ms })
}

/** Forgets which histories of a connection are complete. Writes historical_pull. */
export const forgetHistory = (tx: Tx, user_id: string, provider?: string): Promise<number> =>
  tx.run(sql`
    delete from historical_pull
    where team_id = ${tx.team} and user_id = ${user_id} and provider = coalesce(${provider ?? null}, provider)`)
