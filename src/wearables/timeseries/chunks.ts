// Samples in chunks: one row for a series and an hour, with arrays of instants and values, so that a sample takes few bytes and a day of
// heart rates is 24 rows. Owns the tables series and chunk.
import type { Tx } from '../../platform/db/transaction.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { SourceType, TimeseriesName } from '../resources/timeseries.ts'

export const HOUR_MS = 3_600_000

export interface Sample {
  at_ms: number
  value: number
  /** The diastolic blood pressure. */
  second: number | null
  /** Duration of an interval. */
  length_ms: number | null
  /** Seconds east of UTC. */
  zone_s: number | null
  type: string | null
}

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
const ChunkRow = T.Object({
  series_id: T.Integer(),
  hour_ms: T.Integer(),
  at: T.String(),
  values: T.String(),
  seconds: Nullable(T.String()),
  lengths: Nullable(T.String()),
  zones: Nullable(T.String()),
  types: Nullable(T.String()),
})

/** The columns of a chunk, for `samplesOf`. Arrays come as JSON, which is parsed faster than PostgreSQL's notation. */
export const chunkColumns = sql`
  c.series_id, (extract(epoch from c.hour) * 1000)::bigint as hour_ms, array_to_json(c.at)::text as at,
  array_to_json(c.values)::text as values, array_to_json(c.seconds)::text as seconds, array_to_json(c.lengths)::text as lengths,
  array_to_json(c.zones)::text as zones, array_to_json(c.types)::text as types`
export const chunkRow = ChunkRow.properties

export function samplesOf(row: Omit<Static<typeof ChunkRow>, 'series_id'>): Sample[] {
  const list = <V>(text: string | null): V[] | undefined => (text === null ? undefined : (JSON.parse(text) as V[]))
  const [at, values] = [list<number>(row.at)!, list<number>(row.values)!]
  const [seconds, lengths, zones] = [
    list<number | null>(row.seconds),
    list<number | null>(row.lengths),
    list<number | null>(row.zones),
  ]
  const types = list<string | null>(row.types)
  return at.map((ms, i) => ({
    at_ms: row.hour_ms + ms,
    value: values[i]!,
    second: seconds?.[i] ?? null,
    length_ms: lengths?.[i] ?? null,
    zone_s: zones?.[i] ?? null,
    type: types?.[i] ?? null,
  }))
}

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
  const hours = new Map<string, { series_id: number; hour_ms: number; samples: Map<number, Sample> }>()
  const merged = given.map(({ source, samples }) => {
    const series_id = idOf(source)
    for (const sample of samples) {
      const hour_ms = Math.floor(sample.at_ms / HOUR_MS) * HOUR_MS
      const key = `${series_id} ${hour_ms}`
      const hour = hours.get(key) ?? { series_id, hour_ms, samples: new Map<number, Sample>() }
      // The last of several at one instant counts.
      hour.samples.set(sample.at_ms, sample)
      hours.set(key, hour)
    }
    return { source, series_id, created: [] as Sample[], updated: [] as Sample[] }
  })
  const touched = [...hours.values()]
  const stored = await tx.many(
    ChunkRow,
    sql`
    select ${chunkColumns} from chunk c
    join unnest(${touched.map(({ series_id }) => series_id)}::bigint[],
                ${touched.map(({ hour_ms }) => new Date(hour_ms).toISOString())}::timestamptz[]) as g (series_id, hour)
      on g.series_id = c.series_id and g.hour = c.hour
    where c.team_id = ${tx.team} and c.user_id = ${user_id}`,
  )
  const before = new Map(stored.map((row) => [`${row.series_id} ${row.hour_ms}`, samplesOf(row)]))
  const bySeries = new Map(merged.map((one) => [one.series_id, one]))
  const changed: ReturnType<typeof encode>[] = []
  for (const { series_id, hour_ms, samples } of touched) {
    const into = bySeries.get(series_id)!
    const all = new Map(before.get(`${series_id} ${hour_ms}`)?.map((sample) => [sample.at_ms, sample]))
    let isChanged = false
    for (const sample of samples.values()) {
      const old = all.get(sample.at_ms)
      if (old && isSame(old, sample)) continue
      isChanged = true
      all.set(sample.at_ms, sample)
      ;(old ? into.updated : into.created).push(sample)
    }
    if (isChanged)
      changed.push(
        encode(
          series_id,
          hour_ms,
          [...all.values()].sort((a, b) => a.at_ms - b.at_ms),
        ),
      )
  }
  if (changed.length) await writeChunks(tx, user_id, changed)
  return merged
}

const isSame = (a: Sample, b: Sample): boolean =>
  a.value === b.value && a.second === b.second && a.length_ms === b.length_ms && a.zone_s === b.zone_s && a.type === b.type

const literal = (list: (number | null)[]): string => `{${list.map((one) => one ?? 'NULL').join()}}`
const literalUnlessEmpty = (list: (number | null)[]): string | null => (list.every((one) => one === null) ? null : literal(list))

/** A chunk as text, since a statement takes no lists of lists. */
function encode(series_id: number, hour_ms: number, samples: Sample[]) {
  const types = samples.map(({ type }) => type)
  return {
    series_id,
    hour: new Date(hour_ms).toISOString(),
    samples: samples.length,
    at: literal(samples.map(({ at_ms }) => at_ms - hour_ms)),
    values: literal(samples.map(({ value }) => value)),
    seconds: literalUnlessEmpty(samples.map(({ second }) => second)),
    lengths: literalUnlessEmpty(samples.map(({ length_ms }) => length_ms)),
    zones: literalUnlessEmpty(samples.map(({ zone_s }) => zone_s)),
    types: types.every((type) => type === null) ? null : JSON.stringify(types),
  }
}

const writeChunks = (tx: Tx, user_id: string, chunks: ReturnType<typeof encode>[]): Promise<number> =>
  tx.run(sql`
    insert into chunk (team_id, user_id, series_id, hour, samples, at, values, seconds, lengths, zones, types)
    select ${tx.team}, ${user_id}, g.series_id, g.hour, g.samples, g.at::integer[], g.values::double precision[],
           g.seconds::double precision[], g.lengths::integer[], g.zones::integer[],
           case when g.types is not null then array(select jsonb_array_elements_text(g.types::jsonb)) end
    from unnest(${chunks.map(({ series_id }) => series_id)}::bigint[], ${chunks.map(({ hour }) => hour)}::timestamptz[],
                ${chunks.map(({ samples }) => samples)}::integer[], ${chunks.map(({ at }) => at)}::text[],
                ${chunks.map(({ values }) => values)}::text[], ${chunks.map(({ seconds }) => seconds)}::text[],
                ${chunks.map(({ lengths }) => lengths)}::text[], ${chunks.map(({ zones }) => zones)}::text[],
                ${chunks.map(({ types }) => types)}::text[])
      as g (series_id, hour, samples, at, values, seconds, lengths, zones, types)
    on conflict (team_id, user_id, series_id, hour) do update
    set samples = excluded.samples, at = excluded.at, values = excluded.values, seconds = excluded.seconds, lengths = excluded.lengths,
        zones = excluded.zones, types = excluded.types`)

const SeriesId = T.Object({ id: T.Integer() })

/** Erases all samples of a user, a series in each statement. Writes series, chunk. */
export async function eraseSamples(tx: Tx, user_id: string): Promise<void> {
  const all = await tx.many(SeriesId, sql`select id from series where team_id = ${tx.team} and user_id = ${user_id} order by id`)
  for (const { id } of all)
    await tx.run(sql`delete from chunk where team_id = ${tx.team} and user_id = ${user_id} and series_id = ${id}`)
  await tx.run(sql`delete from series where team_id = ${tx.team} and user_id = ${user_id}`)
}
