// Rows of the table chunk: the samples of one series and hour as parallel lists, and many of them as one statement.
import type { Tx } from '../../platform/db/transaction.ts'
import { arrayLiteral, sql } from '../../platform/db/sql.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { floatArray, integerArray, NO_FLOAT, NO_INTEGER, readFloats, readIntegers } from './binary-arrays.ts'

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

const bytes = T.Unsafe<Buffer>({})
export const chunkRow = {
  series_id: T.Integer(),
  hour_ms: T.Integer(),
  at: bytes,
  values: bytes,
  seconds: Nullable(bytes),
  lengths: Nullable(bytes),
  zones: Nullable(bytes),
  types: Nullable(T.String()),
}
const ChunkRow = T.Object(chunkRow)

/** The columns of a chunk, for `readChunk`. Most chunks have one zone, which is sent once. */
export const chunkColumns = sql`
  c.series_id, (extract(epoch from c.hour) * 1000)::bigint as hour_ms, array_send(c.at) as at, array_send(c.values) as values,
  array_send(c.seconds) as seconds, array_send(c.lengths) as lengths,
  array_send(case when c.zones[1] = all (c.zones) then c.zones[1:1] else c.zones end) as zones, array_to_json(c.types)::text as types`

/** The samples of an hour, oldest first. A list that is null has no value. */
export interface Chunk {
  hour_ms: number
  /** Milliseconds after the beginning of the hour. */
  at: Int32Array
  values: Float64Array
  seconds: Float64Array | null
  lengths: Int32Array | null
  zones: Int32Array | null
  types: (string | null)[] | null
}

export function readChunk(row: Omit<Static<typeof ChunkRow>, 'series_id'>): Chunk {
  const at = readIntegers(row.at)
  const zones = row.zones && readIntegers(row.zones)
  return {
    hour_ms: row.hour_ms,
    at,
    values: readFloats(row.values),
    seconds: row.seconds && readFloats(row.seconds),
    lengths: row.lengths && readIntegers(row.lengths),
    zones: zones?.length === 1 ? new Int32Array(at.length).fill(zones[0]!) : zones,
    types: row.types === null ? null : (JSON.parse(row.types) as (string | null)[]),
  }
}

const integerOf = (list: Int32Array | null, i: number): number | null =>
  list === null || list[i] === NO_INTEGER ? null : list[i]!
const floatOf = (list: Float64Array | null, i: number): number | null =>
  list === null || Number.isNaN(list[i]) ? null : list[i]!

export const sampleAt = ({ hour_ms, at, values, seconds, lengths, zones, types }: Chunk, i: number): Sample => ({
  at_ms: hour_ms + at[i]!,
  value: values[i]!,
  second: floatOf(seconds, i),
  length_ms: integerOf(lengths, i),
  zone_s: integerOf(zones, i),
  type: types === null ? null : types[i]!,
})

interface ChunkPlace {
  series_id: number
  hour_ms: number
}

export interface FoundChunks {
  /** By `chunkKey`. */
  stored: Map<string, Chunk>
  /** By the `chunkKey` of a series without a device: the chunks of that hour that the same source has recorded by its devices. */
  ofDevices: Map<string, Chunk[]>
}

const FoundRow = T.Object({ ...chunkRow, unnamed_id: Nullable(T.Integer()) })

/**
 * Finds stored chunks of a user.
 * @param unnamed series without a device, of whose hours the chunks of its source's devices are read, too
 */
export async function findChunks(tx: Tx, user_id: string, places: ChunkPlace[], unnamed: number[]): Promise<FoundChunks> {
  const rows = await tx.many(
    FoundRow,
    sql`
    with g as (
      select * from unnest(${arrayLiteral(places.map(({ series_id }) => series_id))}::bigint[],
                           ${arrayLiteral(places.map(({ hour_ms }) => new Date(hour_ms)))}::timestamptz[]) as g (series_id, hour)),
    named as materialized (
      select d.id, n.id as unnamed_id from series n
      join series d on d.team_id = n.team_id and d.user_id = n.user_id and d.resource = n.resource and d.provider = n.provider
        and d.source_type = n.source_type and d.app_id is not distinct from n.app_id and d.workout_id is not distinct from n.workout_id
        and d.sport is not distinct from n.sport and d.device_id is not null
      where n.team_id = ${tx.team} and n.user_id = ${user_id} and n.id = any (${arrayLiteral(unnamed)}::bigint[]))
    select ${chunkColumns}, k.unnamed_id
    from (select series_id, hour, null::bigint as unnamed_id from g
          union all select named.id, g.hour, named.unnamed_id from named join g on g.series_id = named.unnamed_id) k
    join chunk c on c.series_id = k.series_id and c.hour = k.hour
    where c.team_id = ${tx.team} and c.user_id = ${user_id}`,
  )
  const found: FoundChunks = { stored: new Map(), ofDevices: new Map() }
  for (const { unnamed_id, ...row } of rows) {
    const chunk = readChunk(row)
    if (unnamed_id === null) found.stored.set(chunkKey(row), chunk)
    else {
      const key = chunkKey({ series_id: unnamed_id, hour_ms: row.hour_ms })
      found.ofDevices.set(key, [...(found.ofDevices.get(key) ?? []), chunk])
    }
  }
  return found
}

/** The chunk without its samples at some places in the hour; itself if it has none there. */
export function withoutSamples(chunk: Chunk, places: ReadonlySet<number>): Chunk {
  const kept = [...chunk.at.keys()].filter((i) => !places.has(chunk.at[i]!))
  if (kept.length === chunk.at.length) return chunk
  const integers = (list: Int32Array) => Int32Array.from(kept, (i) => list[i]!)
  const floats = (list: Float64Array) => Float64Array.from(kept, (i) => list[i]!)
  const { hour_ms, at, values, seconds, lengths, zones, types } = chunk
  return {
    hour_ms,
    at: integers(at),
    values: floats(values),
    seconds: seconds && floats(seconds),
    lengths: lengths && integers(lengths),
    zones: zones && integers(zones),
    types: types && kept.map((i) => types[i]!),
  }
}

export const chunkKey = ({ series_id, hour_ms }: ChunkPlace): string => `${series_id} ${hour_ms}`

/** Chunks to be written, with the samples of all of them in lists: a statement takes no lists of lists. */
export class ChunkWriter {
  readonly #chunks: (ChunkPlace & { first: number; last: number; types: string | null })[] = []
  readonly #at: number[] = []
  readonly #values: number[] = []
  readonly #seconds: number[] = []
  readonly #lengths: number[] = []
  readonly #zones: number[] = []
  readonly #has = { seconds: [] as boolean[], lengths: [] as boolean[], zones: [] as boolean[] }
  #types: (string | null)[] = []
  readonly #emptied: ChunkPlace[] = []

  /** Adds a sample to the chunk that `end` adds. */
  add({ value, second, length_ms, zone_s, type }: Omit<Sample, 'at_ms'>, at: number): void {
    this.#at.push(at)
    this.#values.push(value)
    this.#seconds.push(second ?? NO_FLOAT)
    this.#lengths.push(length_ms ?? NO_INTEGER)
    this.#zones.push(zone_s ?? NO_INTEGER)
    this.#types.push(type)
  }

  /** Adds the chunk of the samples that were added since the last one, which must have been ascending. Without samples it is deleted. */
  end({ series_id, hour_ms }: ChunkPlace): void {
    const first = this.#chunks.at(-1)?.last ?? 0
    const last = this.#at.length
    if (first === last) {
      this.#emptied.push({ series_id, hour_ms })
      return
    }
    const hasSome = (list: number[], none: number) => {
      for (let i = first; i < last; i++) if (!Object.is(list[i], none)) return true
      return false
    }
    this.#has.seconds.push(hasSome(this.#seconds, NO_FLOAT))
    this.#has.lengths.push(hasSome(this.#lengths, NO_INTEGER))
    this.#has.zones.push(hasSome(this.#zones, NO_INTEGER))
    const types = this.#types.every((type) => type === null) ? null : JSON.stringify(this.#types)
    this.#chunks.push({ series_id, hour_ms, first, last, types })
    this.#types = []
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
    const of = (value: (chunk: (typeof chunks)[number]) => number | Date) => arrayLiteral(chunks.map(value))
    const { seconds, lengths, zones } = this.#has
    const none = <V>(has: boolean[], list: V[]): V[] => (has.includes(true) ? list : [])
    await tx.run(sql`
      insert into chunk (team_id, user_id, series_id, hour, samples, at, values, seconds, lengths, zones, types)
      select ${tx.team}, ${user_id}, g.series_id, g.hour, 1 + g.last - g.first,
             (${integerArray(this.#at)}::integer[])[g.first:g.last], (${floatArray(this.#values)}::double precision[])[g.first:g.last],
             case when g.has_seconds then
               array_replace((${floatArray(none(seconds, this.#seconds))}::double precision[])[g.first:g.last], 'NaN', null) end,
             case when g.has_lengths then
               array_replace((${integerArray(none(lengths, this.#lengths))}::integer[])[g.first:g.last], ${NO_INTEGER}, null) end,
             case when g.has_zones then
               array_replace((${integerArray(none(zones, this.#zones))}::integer[])[g.first:g.last], ${NO_INTEGER}, null) end,
             case when g.types is not null then array(select jsonb_array_elements_text(g.types::jsonb)) end
      from unnest(${of(({ series_id }) => series_id)}::bigint[], ${of(({ hour_ms }) => new Date(hour_ms))}::timestamptz[],
                  ${of(({ first }) => first + 1)}::integer[], ${of(({ last }) => last)}::integer[],
                  ${arrayLiteral(seconds)}::boolean[], ${arrayLiteral(lengths)}::boolean[], ${arrayLiteral(zones)}::boolean[],
                  ${chunks.map(({ types }) => types)}::text[])
        as g (series_id, hour, first, last, has_seconds, has_lengths, has_zones, types)
      on conflict (team_id, user_id, series_id, hour) do update
      set samples = excluded.samples, at = excluded.at, values = excluded.values, seconds = excluded.seconds, lengths = excluded.lengths,
          zones = excluded.zones, types = excluded.types`)
  }
}
