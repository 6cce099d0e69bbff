// Rows of the table chunk: the samples of one series and hour as parallel lists, and many of them as one statement.
import type { Tx } from '../../platform/db/transaction.ts'
import { arrayLiteral, sql, type Sql } from '../../platform/db/sql.ts'
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
  /** Of one that comes in: its zone is that of the client, which may be on a trip; a zone that is stored stays. */
  isZoneAssumed?: true
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
    with ${kinsOf(tx, user_id, ranges)}
    select ${chunkColumns}, kin.kin_id, kin.app_id, kin.device_id
    from g join kin on kin.kin_id = g.kin_id
    join chunk c on c.series_id = kin.id and c.hour between g.from_hour and g.to_hour
    where c.team_id = ${tx.team} and c.user_id = ${user_id}`,
  )
  return rows.map(({ kin_id, app_id, device_id, ...row }) => ({
    kin_id,
    series_id: row.series_id,
    app_id,
    device_id,
    chunk: readChunk(row),
  }))
}

const SizeRow = T.Object({ kin_id: T.Integer(), hour_ms: T.Integer(), samples: T.Integer() })

/** How many samples are stored in hours of kins, by `<kin> <hour>`. */
export async function storedSizes(tx: Tx, user_id: string, ranges: HourRange[]): Promise<Map<string, number>> {
  const rows = await tx.many(
    SizeRow,
    sql`
    with ${kinsOf(tx, user_id, ranges)}
    select kin.kin_id, (extract(epoch from c.hour) * 1000)::bigint as hour_ms, sum(c.samples)::integer as samples
    from g join kin on kin.kin_id = g.kin_id
    join chunk c on c.series_id = kin.id and c.hour between g.from_hour and g.to_hour
    where c.team_id = ${tx.team} and c.user_id = ${user_id}
    group by kin.kin_id, c.hour`,
  )
  return new Map(rows.map(({ kin_id, hour_ms, samples }) => [`${kin_id} ${hour_ms}`, samples]))
}

/** The tables `g` of ranges and `kin` of the series in them. */
const kinsOf = (tx: Tx, user_id: string, ranges: HourRange[]): Sql => sql`
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

const HEADER = 20
const SIZE = 4
const INTEGER = { type: 23, bytes: 4 }
const FLOAT = { type: 701, bytes: 8 }
/** A null in a list of integers, which no stored number is. */
const NO_INTEGER = -(2 ** 31)
/** A null in a list of floating-point numbers. JSON has no such number. */
const NO_FLOAT = Number.NaN

function array({ type, bytes }: typeof INTEGER, length: number): { buffer: Buffer; view: DataView } {
  const buffer = Buffer.allocUnsafe(HEADER + length * (SIZE + bytes))
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
  const header = [1, 0, type, length, 1]
  for (const [i, number] of header.entries()) view.setInt32(i * 4, number)
  return { buffer, view }
}

/** The value of an `integer[]` parameter, without nulls. */
function integerArray(numbers: readonly number[]): Buffer {
  const { buffer, view } = array(INTEGER, numbers.length)
  for (let i = 0, at = HEADER; i < numbers.length; i++, at += SIZE + INTEGER.bytes) {
    view.setInt32(at, INTEGER.bytes)
    view.setInt32(at + SIZE, numbers[i]!)
  }
  return buffer
}

/** The value of a `double precision[]` parameter, without nulls. */
function floatArray(numbers: readonly number[]): Buffer {
  const { buffer, view } = array(FLOAT, numbers.length)
  for (let i = 0, at = HEADER; i < numbers.length; i++, at += SIZE + FLOAT.bytes) {
    view.setInt32(at, FLOAT.bytes)
    view.setFloat64(at + SIZE, numbers[i]!)
  }
  return buffer
}

/** Reads what `array_send` of an `integer[]` gives; nulls are `NO_INTEGER`. */
function readIntegers(bytes: Buffer): Int32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const numbers = new Int32Array(lengthOf(view))
  for (let i = 0, at = HEADER; i < numbers.length; i++, at += SIZE)
    if (view.getInt32(at) < 0) numbers[i] = NO_INTEGER
    else {
      numbers[i] = view.getInt32(at + SIZE)
      at += INTEGER.bytes
    }
  return numbers
}

/** Reads what `array_send` of a `double precision[]` gives; nulls are `NO_FLOAT`. */
function readFloats(bytes: Buffer): Float64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const numbers = new Float64Array(lengthOf(view))
  for (let i = 0, at = HEADER; i < numbers.length; i++, at += SIZE)
    if (view.getInt32(at) < 0) numbers[i] = NO_FLOAT
    else {
      numbers[i] = view.getFloat64(at + SIZE)
      at += FLOAT.bytes
    }
  return numbers
}

/** An empty array has no dimension. */
const lengthOf = (view: DataView): number => (view.getInt32(0) === 0 ? 0 : view.getInt32(12))
