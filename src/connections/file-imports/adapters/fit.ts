// FIT files: sessions as workouts with their streams, the heart rates of their records, and levels of stress. fit-file-parser decodes them, within the limits of the thread.
import { StreamPoints } from '../../../wearables/streams/stream-points.ts'
import type { StreamList } from '../../../wearables/streams/workout-streams.ts'
import { isPlausible, ReadError, storable, type ReadContext } from '../reading.ts'
import type { Batches } from '../batches.ts'
import { passOn, providerOf } from './activities.ts'

/** The header has 12 or 14 bytes and says `.FIT`. */
export const isFit = (bytes: Buffer): boolean =>
  bytes.length >= 12 && (bytes[0] === 12 || bytes[0] === 14) && bytes.toString('latin1', 8, 12) === '.FIT'

const FILES_MAX = 1000
const SESSIONS_MAX = 1000
const CHECKSUM_BYTES = 2

/** A file may consist of several, one after another. Errors: ReadError `truncated`, `damaged`. */
function* chained(bytes: Buffer): Generator<Buffer> {
  let count = 0
  for (let at = 0; at < bytes.length;) {
    const rest = bytes.subarray(at)
    if (!isFit(rest) || ++count > FILES_MAX) throw new ReadError('damaged')
    const size = rest[0]! + rest.readUInt32LE(4) + CHECKSUM_BYTES
    if (size > rest.length) throw new ReadError('truncated')
    yield rest.subarray(0, size)
    at += size
  }
}

type Message = Record<string, unknown>

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined)

/** An instant; the parser gives dates, or texts of them. */
function instantOf(value: unknown): number | undefined {
  const ms = value instanceof Date ? value.getTime() : typeof value === 'string' ? Date.parse(value) : NaN
  return Number.isFinite(ms) ? ms : undefined
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** `trail_running` → `Trail Running`. */
const titled = (name: string): string =>
  name.replace(/(^|_)([a-z0-9])/g, (_, gap, first: string) => (gap ? ' ' : '') + first.toUpperCase())

/** Sports whose special kinds are named by what surrounds them: `trail`, `mountain`, `open_water`. */
const moving: Readonly<Record<string, RegExp>> = {
  running: /run/,
  cycling: /cycl|bik/,
  walking: /walk/,
  hiking: /hik/,
  swimming: /swim/,
}

function sportOf({ sport, sub_sport }: Message): string {
  const [general, special] = [textOf(sport) ?? 'other', textOf(sub_sport)]
  if (!special || special === 'generic') return titled(general)
  const isNamed = !Object.hasOwn(moving, general) || moving[general]!.test(special)
  return titled(isNamed ? special : `${special}_${general}`)
}

/** Reads a file of activities, or of what a watch records through a day. Errors: ReadError `truncated`, `damaged`, also if a checksum does not match. */
export async function readFit(bytes: Buffer, batches: Batches, context: ReadContext): Promise<void> {
  const { default: FitParser } = await import('fit-file-parser')
  for (const file of chained(bytes)) {
    const parser = new FitParser({ force: false, mode: 'list', speedUnit: 'm/s', lengthUnit: 'm' })
    // The parser reads a buffer from its beginning on, wherever in a larger one it stands.
    const decoded = (await parser.parseAsync(Buffer.from(file)).catch(() => {
      throw new ReadError('damaged')
    })) as unknown as Record<string, unknown>
    await readSessions(decoded, batches, context)
  }
}

const listOf = (value: unknown): Message[] => (Array.isArray(value) ? (value as Message[]) : [])

/** Seconds east of UTC: the file says once what the watch shows. */
function zoneOf(decoded: Record<string, unknown>): number | null {
  const saying = (listOf(decoded.activities)[0] ?? decoded.activity ?? listOf(decoded.monitor_info)[0] ?? {}) as Message
  const [at, local] = [instantOf(saying.timestamp), instantOf(saying.local_timestamp)]
  if (at === undefined || local === undefined) return null
  const zone_s = Math.round((local - at) / 900_000) * 900
  return Math.abs(zone_s) <= 15 * 3600 ? zone_s : null
}

/** The fields of a record that a list of a stream comes from: of two, the first one that is there. */
const fields: readonly (readonly [list: StreamList, ...names: string[]])[] = [
  ['heartrate', 'heart_rate'],
  ['cadence', 'cadence'],
  ['power', 'power'],
  ['velocity_smooth', 'enhanced_speed', 'speed'],
  ['altitude', 'enhanced_altitude', 'altitude'],
  ['distance', 'distance'],
  ['lat', 'position_lat'],
  ['lng', 'position_long'],
  ['temperature', 'temperature'],
  ['resistance', 'resistance'],
]

/** What the records between two instants say. */
function pointsOf(records: Message[], start_ms: number, end_ms: number): StreamPoints {
  const points = new StreamPoints()
  for (const record of records) {
    const at_ms = instantOf(record.timestamp)
    if (at_ms === undefined || at_ms < start_ms || at_ms > end_ms) continue
    for (const [list, ...names] of fields)
      points.put(list, at_ms, numberOf(names.map((name) => record[name]).find((one) => one != null)))
  }
  return points
}

/** Levels of stress, in percent. Watches write negative ones for what they could not measure. */
async function readStress(decoded: Record<string, unknown>, batches: Batches, context: ReadContext): Promise<boolean> {
  const levels = listOf(decoded.stress).flatMap(({ stress_level_time, stress_level_value }): [number, number][] => {
    const [at, value] = [instantOf(stress_level_time), numberOf(stress_level_value)]
    return at === undefined || value === undefined || value < 0 || value > 100 ? [] : [[Math.floor(at / 1000) * 1000, value]]
  })
  if (!levels.length) return false
  const { manufacturer, app } = writerOf(decoded)
  const provider = providerOf(manufacturer)
  if (batches.provider !== provider) await batches.flush()
  batches.provider = provider
  const source = { source_type: 'unknown' as const, app_id: storable(app, 300), zone_s: zoneOf(decoded) }
  for (const [at_ms, value] of levels) {
    if (!isPlausible(at_ms, at_ms, context, 0)) batches.skip('invalid_time', 'stress_level')
    else batches.sample('stress_level', { ...source, at_ms, value, second: null, length_ms: null, type: null })
  }
  await batches.drain()
  return true
}

/** The device that wrote a file. */
function writerOf(decoded: Record<string, unknown>): { manufacturer: string | undefined; app: string } {
  const [id = {}] = listOf(decoded.file_ids)
  const manufacturer = textOf(id.manufacturer)
  const product = textOf(id.product_name) ?? textOf(id.product) ?? textOf(id.garmin_product)
  return { manufacturer, app: [manufacturer, product].filter(Boolean).join(' ') }
}

async function readSessions(decoded: Record<string, unknown>, batches: Batches, context: ReadContext): Promise<void> {
  const { manufacturer, app } = writerOf(decoded)
  const sessions = listOf(decoded.sessions)
  const hasStress = await readStress(decoded, batches, context)
  if (!sessions.length && !hasStress) batches.skip('unsupported', `fit_${textOf(listOf(decoded.file_ids)[0]?.type) ?? 'file'}`)
  if (sessions.length > SESSIONS_MAX) throw new ReadError('damaged')
  const rates = listOf(decoded.records).flatMap(({ timestamp, heart_rate }): [number, number][] => {
    const [at, bpm] = [instantOf(timestamp), numberOf(heart_rate)]
    return at === undefined || bpm === undefined ? [] : [[at, bpm]]
  })
  const zone_s = zoneOf(decoded)
  const records = listOf(decoded.records)
  for (const session of sessions) {
    const start_ms = instantOf(session.start_time)
    const elapsed_s = numberOf(session.total_elapsed_time) ?? numberOf(session.total_timer_time)
    if (start_ms === undefined || elapsed_s === undefined) {
      batches.skip('invalid_time', 'workouts')
      continue
    }
    const end_ms = start_ms + elapsed_s * 1000
    await passOn(
      {
        provider: providerOf(manufacturer),
        app,
        sport: sportOf(session),
        start_ms,
        end_ms,
        zone_s,
        moving_s: numberOf(session.total_timer_time),
        distance_m: numberOf(session.total_distance),
        calories: numberOf(session.total_calories),
        ascent_m: numberOf(session.total_ascent),
        mean_bpm: numberOf(session.avg_heart_rate),
        max_bpm: numberOf(session.max_heart_rate),
        more: {
          average_speed: numberOf(session.enhanced_avg_speed) ?? numberOf(session.avg_speed) ?? null,
          max_speed: numberOf(session.enhanced_max_speed) ?? numberOf(session.max_speed) ?? null,
          average_watts: numberOf(session.avg_power) ?? null,
          max_watts: numberOf(session.max_power) ?? null,
        },
        points: pointsOf(records, start_ms, end_ms),
        // Several sessions of one file follow each other.
        rates: rates.filter(([at]) => at >= start_ms && at <= end_ms),
      },
      batches,
      context,
    )
  }
}
