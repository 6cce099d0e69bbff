// Samples in chunks: one row for a series and an hour, with arrays of instants and values, so that a sample takes few bytes and a day of
// heart rates is 24 rows. Owns the tables series and chunk.
import type { Tx } from '../../platform/db/transaction.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { SourceType, TimeseriesName } from '../resources/timeseries.ts'
import { chunkKey, ChunkWriter, findChunks, HOUR_MS, sampleAt, type Chunk, type Sample } from './chunk-rows.ts'

export type { Sample }

/** What recorded the samples of a series, and during which workout. */
export interface SampleSource {
  provider: string
  source_type: SourceType
  app_id: string | null
  device_id: string | null
  workout_id: string | null
  /** Its slug. */
  sport: string | null
}

/** A sample and what recorded it. */
export interface FoundSample {
  source: SampleSource
  sample: Sample
}

export interface SeriesSamples {
  source: SampleSource
  samples: Sample[]
}

/** What of the samples of a series was new, and what replaced another value. */
export interface MergedSamples {
  source: SampleSource
  created: Sample[]
  updated: Sample[]
}

const nullableText = Nullable(T.String())
/** The columns of a series that tell what recorded it. */
export const sourceRow = {
  provider: T.String(),
  source_type: T.String(),
  app_id: nullableText,
  device_id: nullableText,
  workout_id: nullableText,
  sport: nullableText,
}
const SeriesRow = T.Object({ id: T.Integer(), ...sourceRow })
export const sourceOf = ({
  provider,
  source_type,
  app_id,
  device_id,
  workout_id,
  sport,
}: Static<T.TObject<typeof sourceRow>>) => ({
  provider,
  source_type: source_type as SourceType,
  app_id,
  device_id,
  workout_id,
  sport,
})
/**
 * Adds samples to series of one resource of a user. A sample at the instant of another one of its series replaces it. Locks the series, in
 * the order of their sources, so that two writers cannot lose each other's samples. Writes series, chunk.
 */
export async function mergeSamples(
  tx: Tx,
  user_id: string,
  resource: TimeseriesName,
  given: SeriesSamples[],
): Promise<MergedSamples[]> {
  if (!given.length) return []
  const sources = given.map(({ source }) => source)
  const rows = await tx.locking.many(
    SeriesRow,
    sql`
    insert into series (team_id, user_id, resource, provider, source_type, app_id, device_id, workout_id, sport, changed_at)
    select ${tx.team}, ${user_id}, ${resource}, g.provider, g.source_type, g.app_id, g.device_id, g.workout_id, g.sport, ${tx.now}
    from unnest(${sources.map(({ provider }) => provider)}::text[], ${sources.map(({ source_type }) => source_type)}::text[],
                ${sources.map(({ app_id }) => app_id)}::text[], ${sources.map(({ device_id }) => device_id)}::uuid[],
                ${sources.map(({ workout_id }) => workout_id)}::uuid[], ${sources.map(({ sport }) => sport)}::text[])
      as g (provider, source_type, app_id, device_id, workout_id, sport)
    order by g.provider, g.source_type, g.app_id, g.device_id, g.workout_id, g.sport
    on conflict on constraint series__source do update set changed_at = excluded.changed_at
    returning id, provider, source_type, app_id, device_id, workout_id, sport`,
  )
  const sourceKey = ({ provider, source_type, app_id, device_id, workout_id, sport }: SampleSource | (typeof rows)[number]) =>
    JSON.stringify([provider, source_type, app_id, device_id, workout_id, sport])
  const ids = new Map(rows.map((row) => [sourceKey(row), row.id]))
  const idOf = (source: SampleSource) => ids.get(sourceKey(source))!
  const hours = new Map<string, Hour>()
  const merged = given.map(({ source, samples }) => {
    const one = { source, created: [] as Sample[], updated: [] as Sample[] }
    addToHours(hours, idOf(source), samples, one)
    return one
  })
  const touched = [...hours.values()]
  const stored = await findChunks(tx, user_id, touched)
  const writer = new ChunkWriter()
  for (const hour of touched) mergeHour(stored.get(chunkKey(hour)), hour, writer)
  await writer.write(tx, user_id)
  return merged
}

/** The samples of a series and hour that came in. */
interface Hour {
  series_id: number
  hour_ms: number
  samples: Sample[]
  /** Each sample is later than the one before. */
  isAscending: boolean
  into: MergedSamples
}

function addToHours(hours: Map<string, Hour>, series_id: number, samples: Sample[], into: MergedSamples): void {
  let hour: Hour | undefined
  for (const sample of samples) {
    const { at_ms } = sample
    // Most samples are of the hour of the one before.
    if (!hour || at_ms < hour.hour_ms || at_ms >= hour.hour_ms + HOUR_MS) {
      const hour_ms = Math.floor(at_ms / HOUR_MS) * HOUR_MS
      const key = chunkKey({ series_id, hour_ms })
      hour = hours.get(key) ?? { series_id, hour_ms, samples: [], isAscending: true, into }
      hours.set(key, hour)
    }
    const before = hour.samples.at(-1)
    if (before && before.at_ms >= at_ms) hour.isAscending = false
    hour.samples.push(sample)
  }
}

/** The samples of an hour, oldest first. The last of several at one instant counts. */
function ascending({ samples, isAscending }: Hour): Sample[] {
  if (isAscending) return samples
  return [...new Map(samples.map((sample) => [sample.at_ms, sample])).values()].sort((a, b) => a.at_ms - b.at_ms)
}

/** Tells which samples are new or changed; if any are, the whole hour is written. */
function mergeHour(stored: Chunk | undefined, hour: Hour, writer: ChunkWriter): void {
  const { hour_ms, into } = hour
  const samples = ascending(hour)
  const before = into.created.length + into.updated.length
  const count = stored?.at.length ?? 0
  let i = 0
  for (const sample of samples) {
    const at = sample.at_ms - hour_ms
    while (i < count && stored!.at[i]! < at) i++
    if (i === count || stored!.at[i] !== at) into.created.push(sample)
    else if (!isSame(sampleAt(stored!, i), sample)) into.updated.push(sample)
  }
  if (into.created.length + into.updated.length === before) return
  i = 0
  for (const sample of samples) {
    const at = sample.at_ms - hour_ms
    for (; i < count && stored!.at[i]! < at; i++) writer.add(sampleAt(stored!, i), stored!.at[i]!)
    if (i < count && stored!.at[i] === at) i++
    writer.add(sample, at)
  }
  for (; i < count; i++) writer.add(sampleAt(stored!, i), stored!.at[i]!)
  writer.end(hour)
}

const isSame = (a: Sample, b: Sample): boolean =>
  a.value === b.value && a.second === b.second && a.length_ms === b.length_ms && a.zone_s === b.zone_s && a.type === b.type

const SeriesId = T.Object({ id: T.Integer() })

/** Erases all samples of a user, a series in each statement. Writes series, chunk. */
export async function eraseSamples(tx: Tx, user_id: string): Promise<void> {
  const all = await tx.many(SeriesId, sql`select id from series where team_id = ${tx.team} and user_id = ${user_id} order by id`)
  for (const { id } of all)
    await tx.run(sql`delete from chunk where team_id = ${tx.team} and user_id = ${user_id} and series_id = ${id}`)
  await tx.run(sql`delete from series where team_id = ${tx.team} and user_id = ${user_id}`)
}
