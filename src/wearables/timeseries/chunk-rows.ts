// Rows of the table chunk: the samples of one series and hour as parallel lists, and many of them as one statement.
import type { Tx } from '../../platform/db/transaction.ts'
import { arrayLiteral, sql, textArrayLiteral, type Sql } from '../../platform/db/sql.ts'
import { yieldIfLong } from '../../platform/runtime/loop-work.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'

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
  /** For an incoming sample: its zone is that of the client, which may be on a trip; a stored zone stays. */
  isZoneAssumed?: true
}

const numbers = T.Unsafe<number[]>({})
const optionalNumbers = Nullable(T.Unsafe<(number | null)[]>({}))
export const chunkRow = {
  series_id: T.Integer(),
  hour_ms: T.Integer(),
  at: numbers,
  values: numbers,
  seconds: optionalNumbers,
  lengths: optionalNumbers,
  zones: optionalNumbers,
  types: Nullable(T.Unsafe<(string | null)[]>({})),
}
const ChunkRow = T.Object(chunkRow)

/**
 * The samples of a series in an hour, oldest first, as lists; `at` has milliseconds after the beginning of the hour. A list that is null
 * has no value.
 */
export type Chunk = Static<typeof ChunkRow>

/** The columns of a `Chunk`. */
export const chunkColumns = sql`
  c.series_id, (extract(epoch from c.hour) * 1000)::bigint as hour_ms, to_json(c.at) as at, to_json(c.values) as values,
  to_json(c.seconds) as seconds, to_json(c.lengths) as lengths, to_json(c.zones) as zones, to_json(c.types) as types`

export const sampleAt = ({ hour_ms, at, values, seconds, lengths, zones, types }: Chunk, i: number): Sample => ({
  at_ms: hour_ms + at[i]!,
  value: values[i]!,
  second: seconds?.[i] ?? null,
  length_ms: lengths?.[i] ?? null,
  zone_s: zones?.[i] ?? null,
  type: types?.[i] ?? null,
})

interface ChunkPlace {
  series_id: number
  hour_ms: number
}

/** The hours of a kin of series that are read, both included. */
export interface HourRange {
  /** The series that stands for the kin. */
  kin_id: number
  from_ms: number
  to_ms: number
}

/** A stored chunk, and what recorded it. */
export interface KinChunk {
  kin_id: number
  series_id: number
  app_id: string | null
  device_id: string | null
  chunk: Chunk
}

const FoundRow = T.Object({ ...chunkRow, kin_id: T.Integer(), app_id: Nullable(T.String()), device_id: Nullable(T.String()) })

/**
 * Finds the stored chunks of some hours of a user, those of all apps and devices of a kin: of one provider, type, workout and sport.
 */
export async function findChunks(tx: Tx, user_id: string, ranges: HourRange[]): Promise<KinChunk[]> {
  const rows = await tx.many(
    FoundRow,
    sql`
    with ${kinTables(tx, user_id, ranges)}
    select ${chunkColumns}, kin.kin_id, kin.app_id, kin.device_id
    from g join kin on kin.kin_id = g.kin_id
    join chunk c on c.series_id = kin.id and c.hour between g.from_hour and g.to_hour
    where c.team_id = ${tx.team} and c.user_id = ${user_id}`,
  )
  return rows.map(({ kin_id, app_id, device_id, ...chunk }) => ({ kin_id, series_id: chunk.series_id, app_id, device_id, chunk }))
}

const SizeRow = T.Object({ kin_id: T.Integer(), hour_ms: T.Integer(), samples: T.Integer() })

/** How many samples are stored in hours of kins, by `<kin> <hour>`. */
export async function storedSizes(tx: Tx, user_id: string, ranges: HourRange[]): Promise<Map<string, number>> {
  const rows = await tx.many(
    SizeRow,
    sql`
    with ${kinTables(tx, user_id, ranges)}
    select kin.kin_id, (extract(epoch from c.hour) * 1000)::bigint as hour_ms, sum(c.samples)::integer as samples
    from g join kin on kin.kin_id = g.kin_id
    join chunk c on c.series_id = kin.id and c.hour between g.from_hour and g.to_hour
    where c.team_id = ${tx.team} and c.user_id = ${user_id}
    group by kin.kin_id, c.hour`,
  )
  return new Map(rows.map(({ kin_id, hour_ms, samples }) => [`${kin_id} ${hour_ms}`, samples]))
}

/** The tables `g` of ranges and `kin` of the series in them. */
const kinTables = (tx: Tx, user_id: string, ranges: HourRange[]): Sql => sql`
    g as materialized (
      select * from unnest(${arrayLiteral(ranges.map(({ kin_id }) => kin_id))}::bigint[],
                           ${arrayLiteral(ranges.map(({ from_ms }) => new Date(from_ms)))}::timestamptz[],
                           ${arrayLiteral(ranges.map(({ to_ms }) => new Date(to_ms)))}::timestamptz[]) as g (kin_id, from_hour, to_hour)),
    kin as materialized (
      select s.id, k.id as kin_id, s.app_id, s.device_id from series k
      join series s on s.team_id = k.team_id and s.user_id = k.user_id and s.resource = k.resource and s.provider = k.provider
        and s.source_type = k.source_type and s.workout_id is not distinct from k.workout_id and s.sport is not distinct from k.sport
      where k.team_id = ${tx.team} and k.user_id = ${user_id} and k.id in (select kin_id from g))`

export const chunkKey = ({ series_id, hour_ms }: ChunkPlace): string => `${series_id} ${hour_ms}`

/** Chunks to be written. The lists of each are texts: a statement takes no lists of lists. */
export class ChunkWriter {
  readonly #chunks: (ChunkPlace & { samples: number; lists: (string | null)[] })[] = []
  readonly #emptied: ChunkPlace[] = []

  /** Adds the chunk of an hour with its samples, oldest first. Without samples the chunk is deleted. In slices. */
  async put({ series_id, hour_ms }: ChunkPlace, samples: readonly Sample[]): Promise<void> {
    if (samples.length === 0) return void this.#emptied.push({ series_id, hour_ms })
    const lists: (string | null)[] = []
    for (const column of columnValues) lists.push(await toLiteral(samples, (sample) => column(sample, hour_ms)))
    this.#chunks.push({ series_id, hour_ms, samples: samples.length, lists })
  }

  /** Writes chunk, in one statement, and one more if chunks have lost all their samples. */
  async write(tx: Tx, user_id: string): Promise<void> {
    const chunks = this.#chunks
    const emptied = this.#emptied
    if (emptied.length)
      await tx.run(sql`
        delete from chunk c
        using unnest(${arrayLiteral(emptied.map(({ series_id }) => series_id))}::bigint[],
                     ${arrayLiteral(emptied.map(({ hour_ms }) => new Date(hour_ms)))}::timestamptz[]) as g (series_id, hour)
        where c.team_id = ${tx.team} and c.user_id = ${user_id} and c.series_id = g.series_id and c.hour = g.hour`)
    if (!chunks.length) return
    const [at, values, seconds, lengths, zones, types] = columnValues.map((_, i) => chunks.map(({ lists }) => lists[i]!))
    await tx.run(sql`
      insert into chunk (team_id, user_id, series_id, hour, samples, at, values, seconds, lengths, zones, types)
      select ${tx.team}, ${user_id}, g.series_id, g.hour, g.samples, g.at::integer[], g.values::double precision[],
             g.seconds::double precision[], g.lengths::integer[], g.zones::integer[], g.types::text[]
      from unnest(${arrayLiteral(chunks.map(({ series_id }) => series_id))}::bigint[],
                  ${arrayLiteral(chunks.map(({ hour_ms }) => new Date(hour_ms)))}::timestamptz[],
                  ${arrayLiteral(chunks.map(({ samples }) => samples))}::integer[], ${at}::text[], ${values}::text[], ${seconds}::text[],
                  ${lengths}::text[], ${zones}::text[], ${types}::text[])
        as g (series_id, hour, samples, at, values, seconds, lengths, zones, types)
      on conflict (team_id, user_id, series_id, hour) do update
      set samples = excluded.samples, at = excluded.at, values = excluded.values, seconds = excluded.seconds, lengths = excluded.lengths,
          zones = excluded.zones, types = excluded.types`)
  }
}

/** The values of a sample, in the order of the columns of a chunk. */
const columnValues: readonly ((sample: Sample, hour_ms: number) => number | string | null)[] = [
  ({ at_ms }, hour_ms) => at_ms - hour_ms,
  ({ value }) => value,
  ({ second }) => second,
  ({ length_ms }) => length_ms,
  ({ zone_s }) => zone_s,
  ({ type }) => type,
]

/** Samples whose values become text at once. */
const SLICE = 5000

/** An array literal of the values of samples; null if there is none. In slices. */
async function toLiteral(
  samples: readonly Sample[],
  toValue: (sample: Sample) => number | string | null,
): Promise<string | null> {
  const texts: string[] = []
  let hasValues = false
  for (let from = 0; from < samples.length; from += SLICE) {
    const values = samples.slice(from, from + SLICE).map(toValue)
    hasValues ||= values.some((value) => value !== null)
    const literal = values.some((value) => typeof value === 'string')
      ? textArrayLiteral(values as (string | null)[])
      : JSON.stringify(values)
    texts.push(literal.slice(1, -1))
    const turn = yieldIfLong()
    if (turn) await turn
  }
  return hasValues ? `{${texts.join()}}` : null
}
