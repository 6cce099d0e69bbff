// Samples in chunks: one row for a series and an hour, with arrays of instants and values, so that a sample takes few bytes and a day of
// heart rates is 24 rows. Owns the tables series and chunk.
import type { Tx, PlainTx } from '../../platform/db/transaction.ts'
import { invalidField } from '../../platform/http/errors.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql, arrayLiteral, type Sql } from '../../platform/db/sql.ts'
import { DeletedData, ExpiredData, type Expiry } from '../resources/expiry.ts'
import { isCounted, resourceNameOf, type SourceType, type TimeseriesName, timeseriesNames } from '../resources/timeseries.ts'
import { type Sample, chunkColumns, chunkRow, type Chunk } from './chunk-rows.ts'
import { addToHours, hoursTouched, mergeHours, type Hour } from './merge-hours.ts'
import { HOUR_MS } from '../../platform/runtime/durations.ts'

export type { Sample }

/** Hours of each source in one call: each is a row that is read and written. */
const HOURS_MAX = 50_000

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
  createdSamples: Sample[]
  updatedSamples: Sample[]
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
 * Adds samples to series of one resource of a user. A sample at the instant of another one of its provider, type, workout and sport replaces
 * it, whichever app or device recorded that one, except that a sample without a device gives way to one of a device of its app. Of what is
 * counted, such as steps, each hour belongs to the first app and device that have something of it; what others count in it is not stored.
 * So the samples of one type can be added up. Blood pressures of two devices at one instant are two. Locks the series, in the order of their sources,
 * so that two writers cannot lose each other's samples; among them one that stands for all of a provider, type, workout and sport. Writes
 * series, chunk. Works in slices. Errors: 422 more than 50,000 hours, counted for each source; an hour with more than 500,000 samples.
 */
export async function mergeSamples(
  tx: Tx,
  user_id: string,
  resource: TimeseriesName,
  series: SeriesSamples[],
): Promise<MergedSamples[]> {
  if (!series.length) return []
  const kinOf = (source: SampleSource): SampleSource => ({ ...source, app_id: null, device_id: null })
  const ids = await lockSeries(
    tx,
    user_id,
    resource,
    series.flatMap(({ source }) => [source, kinOf(source)]),
  )
  const idOf = (source: SampleSource) => ids.get(sourceKey(source))!
  const hours = new Map<string, Hour>()
  const merged: MergedSamples[] = []
  for (const { source, samples } of series) {
    const one = { source, createdSamples: [] as Sample[], updatedSamples: [] as Sample[] }
    merged.push(one)
    const { app_id, device_id } = source
    await addToHours(hours, { series_id: idOf(source), kin_id: idOf(kinOf(source)), app_id, device_id }, samples, one)
  }
  if (hoursTouched(hours.values(), isCounted(resource)) > HOURS_MAX)
    throw invalidField(['body', 'data'], `has samples in more than ${HOURS_MAX} hours, counted for each of its sources`)
  await mergeHours(tx, user_id, hours, { isCounted: isCounted(resource), isByDevice: resource === 'blood_pressure' })
  return merged
}

const sourceKey = (row: Static<T.TObject<typeof sourceRow>>): string => JSON.stringify(sourceOf(row))

/** Returns the ids of series by `sourceKey`. */
async function lockSeries(
  tx: Tx,
  user_id: string,
  resource: TimeseriesName,
  sampleSources: SampleSource[],
): Promise<Map<string, number>> {
  const sources = [...new Map(sampleSources.map((source) => [sourceKey(source), source])).values()]
  const rows = await tx.locking.many(
    SeriesRow,
    sql`
    insert into series (team_id, user_id, resource, provider, source_type, app_id, device_id, workout_id, sport, changed_at)
    select ${tx.team}, ${user_id}, ${resource}, g.provider, g.source_type, g.app_id, g.device_id, g.workout_id, g.sport, ${tx.now}
    from jsonb_to_recordset(${JSON.stringify(sources)}::jsonb)
      as g (provider text, source_type text, app_id text, device_id uuid, workout_id uuid, sport text)
    order by g.provider, g.source_type, g.app_id, g.device_id, g.workout_id, g.sport
    on conflict on constraint series__source do update set changed_at = excluded.changed_at
    returning id, provider, source_type, app_id, device_id, workout_id, sport`,
  )
  return new Map(rows.map((row) => [sourceKey(row), row.id]))
}

const SeriesId = T.Object({ id: T.Integer(), resource: T.Unsafe<TimeseriesName>({ type: 'string' }) })
const Erased = T.Object({ rows: T.Integer(), from_ms: Nullable(T.Integer()), to_ms: Nullable(T.Integer()) })

/**
 * Erases the samples of a user, of one provider or of all, a series in each statement. Writes series, chunk.
 * @returns what was erased of each series
 */
export async function eraseSamples(tx: Tx, user_id: string, provider?: string): Promise<DeletedData[]> {
  const ofProvider = provider === undefined ? sql`` : sql`and provider = ${provider}`
  // A transaction that stores samples of these series waits until they are erased, and then creates new series.
  const all = await tx.locking.many(
    SeriesId,
    sql`
    select id, resource from series where team_id = ${tx.team} and user_id = ${user_id} ${ofProvider} order by id for update`,
  )
  const deleted: DeletedData[] = []
  for (const { id, resource } of all) {
    const { rows, from_ms, to_ms } = await tx.locking.one(
      Erased,
      sql`
      with d as (delete from chunk where team_id = ${tx.team} and user_id = ${user_id} and series_id = ${id} returning hour)
      select count(*) as rows, (extract(epoch from min(hour)) * 1000)::bigint as from_ms,
        (extract(epoch from max(hour)) * 1000)::bigint as to_ms from d`,
    )
    if (from_ms !== null && to_ms !== null) deleted.push({ user_id, resource: resourceNameOf(resource), from_ms, to_ms, rows })
  }
  await tx.run(sql`delete from series where team_id = ${tx.team} and user_id = ${user_id} ${ofProvider}`)
  return deleted
}

/** Deletes chunks whose hour ended before the retention of their resource and provider. Writes chunk. */
export const deleteExpiredSamples = (tx: PlainTx, expiry: Expiry): Promise<DeletedData[]> =>
  tx.many(
    DeletedData,
    sql`
    with ${cutoffsOf(expiry)},
    deleted as (delete from chunk where team_id = ${expiry.team_id} and ctid = any (array(
      select c.ctid ${expiredChunks(expiry)}
      limit ${expiry.rows_max} for update of c skip locked)) returning user_id, series_id, hour)
    select d.user_id, k.resource, (extract(epoch from min(d.hour)) * 1000)::bigint as from_ms,
      (extract(epoch from max(d.hour)) * 1000)::bigint as to_ms, count(*) as rows
    from deleted d join cutoffs k on k.user_id = d.user_id and k.id = d.series_id
    group by d.user_id, k.resource`,
  )

/** Counts chunks that `deleteExpiredSamples` would delete, up to `rows_max` of them. */
export const countExpiredSamples = (tx: PlainTx, expiry: Expiry): Promise<ExpiredData[]> =>
  tx.many(
    ExpiredData,
    sql`
    with ${cutoffsOf(expiry)}
    select resource, (extract(epoch from min(hour)) * 1000)::bigint as from_ms,
      (extract(epoch from max(hour)) * 1000)::bigint as to_ms, count(*) as rows
    from (select k.resource, c.hour ${expiredChunks(expiry)} limit ${expiry.rows_max}) expired group by resource`,
  )

/** The instant before which the chunks of each series have expired. */
function cutoffsOf({ team_id, user_ids, now, days }: Expiry): Sql {
  const kept = days(sql`n.resource`, sql`s.provider`)
  return sql`
    names as materialized (
      select * from unnest(${timeseriesNames}::text[], ${timeseriesNames.map(resourceNameOf)}::text[]) as n (name, resource)),
    cutoffs as materialized (
      select s.user_id, s.id, n.resource, ${now} - interval '1 hour' - d.days * interval '1 day' as cutoff
      from series s join names n on n.name = s.resource, lateral (select ${kept} as days) d
      where s.team_id = ${team_id} and s.user_id = any (${user_ids}::uuid[]) and d.days is not null)`
}

const expiredChunks = ({ team_id }: Expiry): Sql => sql`
      from cutoffs k
      join chunk c on c.team_id = ${team_id} and c.user_id = k.user_id and c.series_id = k.id and c.hour < k.cutoff`

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
  return rows.map((row) => ({ series_id: row.series_id, source: sourceOf(row), chunk: row }))
}

const Series = T.Object({ id: T.Integer(), source_type: T.String(), app_id: Nullable(T.String()) })
const Found = T.Object({ series_id: T.Integer(), at_ms: T.Integer(), length_ms: Nullable(T.Integer()) })

interface RecordedSample {
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
  const series = new Map(all.filter(({ app_id }) => isChosen(app_id)).map((series) => [series.id, series]))
  if (!series.size) return []
  const instants = [...new Set(instants_ms)]
  const hours = instants.map((ms) => Math.floor(ms / HOUR_MS) * HOUR_MS)
  const asDates = (instants_ms: number[]) => instants_ms.map((ms) => new Date(ms))
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
