// FIT files: sessions as workouts with their streams, the heart rates of their records, and levels of stress.
import { StreamPoints } from '../../../wearables/streams/stream-points.ts'
import type { StreamList } from '../../../wearables/streams/workout-streams.ts'
import { isPlausible, offsetAt, ReadError, storable, type ReadContext } from '../reading.ts'
import type { Batches } from '../batches.ts'
import { passOn, providerOf } from './activities.ts'
import { contentsOf, kind, type FitContents } from './fit-contents.ts'
import { legsOf, type Leg } from './fit-legs.ts'
import { assertChecksum, fitMessages, numberIn, textIn, wholeMessages, type FitMessage, numbersIn } from './fit-messages.ts'

/** The header has 12 or 14 bytes and says `.FIT`. */
export const isFit = (bytes: Buffer): boolean =>
  bytes.length >= 12 && (bytes[0] === 12 || bytes[0] === 14) && bytes.toString('latin1', 8, 12) === '.FIT'

const FILES_MAX = 1000
const SESSIONS_MAX = 1000
const CHECKSUM_BYTES = 2

/** A file may consist of several, one after another. Errors: ReadError `damaged`. */
function* splitChain(bytes: Buffer): Generator<{ file: Buffer; isCut: boolean }> {
  let count = 0
  for (let at = 0; at < bytes.length;) {
    const rest = bytes.subarray(at)
    if (!isFit(rest) || ++count > FILES_MAX) throw new ReadError('damaged')
    const said = rest.readUInt32LE(4)
    const size = rest[0]! + said + CHECKSUM_BYTES
    // A device that stops before the end of an activity leaves the size at 0.
    const isUnfinished = said === 0 && rest.length > size && !isFit(rest.subarray(size))
    if (size > rest.length || isUnfinished) return yield { file: wholeMessages(rest), isCut: true }
    yield { file: rest.subarray(0, size), isCut: false }
    at += size
  }
}

/** `trail_running` → `Trail Running`. */
const toTitle = (name: string): string =>
  name.replace(/(^|_)([a-z0-9])/g, (_, gap, first: string) => (gap ? ' ' : '') + first.toUpperCase())

/** Sports whose special kinds are named by what surrounds them: `trail`, `mountain`, `open_water`. */
const moving: Readonly<Record<string, RegExp>> = {
  running: /run/,
  cycling: /cycl|bik/,
  walking: /walk/,
  hiking: /hik/,
  swimming: /swim/,
}

type Profile = typeof import('fit-file-parser/profile')

function sportName({ getFitSportName, getFitSubSportName }: Profile, { sport, sub_sport }: Leg): string {
  const [general, special] = [getFitSportName(sport) ?? 'other', getFitSubSportName(sub_sport)]
  if (!special || special === 'generic') return toTitle(general)
  const isNamed = !Object.hasOwn(moving, general) || moving[general]!.test(special)
  return toTitle(isNamed ? special : `${special}_${general}`)
}

/**
 * Reads a file of activities, or of what a watch records through a day. Errors: ReadError `truncated` for a file that ends too early, whose
 * whole messages have been read; `damaged`, also if a checksum does not match.
 */
export async function readFit(bytes: Buffer, batches: Batches, context: ReadContext): Promise<void> {
  const profile = await import('fit-file-parser/profile')
  for (const { file, isCut } of splitChain(bytes)) {
    if (!isCut) assertChecksum(file)
    await readFile(profile, file, batches, context)
    if (isCut) throw new ReadError('truncated')
  }
}

/** What the types of files are called in `skipped`. */
const fileTypes: Readonly<Record<number, string>> = {
  1: 'device',
  2: 'settings',
  3: 'sport',
  4: 'activity',
  5: 'workout',
  6: 'course',
  7: 'schedules',
  9: 'weight',
  10: 'totals',
  11: 'goals',
  14: 'blood_pressure',
  15: 'monitoring_a',
  20: 'activity_summary',
  28: 'monitoring_daily',
  32: 'monitoring_b',
  34: 'segment',
  35: 'segment_list',
  40: 'exd_configuration',
}

async function readFile(profile: Profile, file: Buffer, batches: Batches, context: ReadContext): Promise<void> {
  const contents = contentsOf(file)
  const { id } = contents
  const manufacturer = profile.getFitManufacturerName(id && numberIn(id, 1)) ?? undefined
  const writer: Writer = {
    provider: providerOf(manufacturer),
    app: [manufacturer, id && textIn(id, 8)].filter(Boolean).join(' '),
  }
  const hasStress = await readStress(contents, writer, batches, context)
  const legs = legsOf(contents)
  if (legs.length > SESSIONS_MAX) throw new ReadError('damaged')
  const type = id && numberIn(id, 0)
  if (!legs.length && !hasStress) batches.skip('unsupported', `fit_${fileTypes[type ?? -1] ?? 'file'}`)
  const { activities: recorded, undatedCount: undated, outsideCount: outside } = recordedIn(file, contents, legs)
  if (undated) batches.skip('invalid_time', 'heartrate', undated)
  if (outside && (legs.length || hasStress)) batches.skip('no_session', 'record', outside)
  for (const [i, leg] of legs.entries()) {
    if (!leg) batches.skip('invalid_time', 'workouts')
    else await passOn({ ...writer, ...buildActivity(profile, leg, contents), ...recorded[i]! }, batches, context)
  }
}

interface Writer {
  provider: string
  /** The device that wrote the file. */
  app: string
}

/** The fields of a record that a list of a stream comes from: of two, the first one that is there. */
const streamFields: readonly (readonly [
  list: StreamList,
  ...sources: (readonly [field: number, scale?: number, offset?: number])[],
])[] = [
  ['cadence', [4]],
  ['power', [7]],
  ['velocity_smooth', [73, 1000], [6, 1000]],
  ['altitude', [78, 5, 500], [2, 5, 500]],
  ['distance', [5, 100]],
  // Half circles have 2³¹ parts.
  ['lat', [0, 2 ** 31 / 180]],
  ['lng', [1, 2 ** 31 / 180]],
  ['temperature', [13]],
  ['resistance', [10]],
]

interface Recorded {
  points: StreamPoints
  rates: [at_ms: number, bpm: number][]
}

/**
 * What records and stored heart rates say in the course of each leg. Several sessions of one file follow each other.
 * @returns also how many records have a heart rate and a time that is not an instant, and how many lie in no leg
 */
function recordedIn(
  file: Buffer,
  contents: FitContents,
  legs: (Leg | undefined)[],
): { activities: Recorded[]; undatedCount: number; outsideCount: number } {
  let [undated, outside] = [0, 0]
  const { times } = contents
  const all = legs.map((leg) => ({ leg, points: new StreamPoints(), rates: [] as Recorded['rates'], seconds: new Set<number>() }))
  const at = (at_ms: number) => all.filter(({ leg }) => leg && at_ms >= leg.start_ms && at_ms <= leg.end_ms)
  for (const record of fitMessages(file, new Set([kind.record]))) {
    const [at_ms, bpm] = [times.instantIn(record), numberIn(record, 3)]
    if (at_ms === undefined) {
      if (bpm !== undefined) undated++
      continue
    }
    const inside = at(at_ms)
    if (!inside.length) outside++
    for (const { points, rates, seconds } of inside) {
      if (bpm !== undefined) {
        rates.push([at_ms, bpm])
        points.put('heartrate', at_ms, bpm)
        seconds.add(Math.floor(at_ms / 1000))
      }
      for (const [list, ...sources] of streamFields) {
        const values = sources.map(([field, scale, offset]) => numberIn(record, field, scale, offset))
        points.put(
          list,
          at_ms,
          values.find((value) => value !== undefined),
        )
      }
    }
  }
  if (contents.hasHeartRateMessages) {
    const stored = new StoredRates(times)
    for (const message of fitMessages(file, new Set([kind.heart_rate])))
      for (const [at_ms, bpm] of stored.read(message))
        for (const { points, rates, seconds } of at(at_ms)) {
          // What a record has counts.
          if (seconds.has(Math.floor(at_ms / 1000))) continue
          rates.push([at_ms, bpm])
          points.put('heartrate', at_ms, bpm)
        }
  }
  for (const { at_ms, isRunning } of contents.timer) if (isRunning) for (const { points } of at(at_ms)) points.breakBefore(at_ms)
  return { activities: all, undatedCount: undated, outsideCount: outside }
}

function buildActivity(profile: Profile, leg: Leg, { times }: FitContents) {
  const { session, start_ms, end_ms, moving_s, distance_m, calories } = leg
  return {
    sport: sportName(profile, leg),
    start_ms,
    end_ms,
    zone_s: times.zone_s,
    moving_s,
    distance_m,
    calories,
    ascent_m: numberIn(session, 22),
    mean_bpm: numberIn(session, 16),
    max_bpm: numberIn(session, 17),
    otherFields: {
      average_speed: numberIn(session, 124, 1000) ?? numberIn(session, 14, 1000) ?? null,
      max_speed: numberIn(session, 125, 1000) ?? numberIn(session, 15, 1000) ?? null,
      average_watts: numberIn(session, 20) ?? null,
      max_watts: numberIn(session, 21) ?? null,
    },
  }
}

/** Levels of stress, in percent. Watches write negative ones for what they could not measure. */
async function readStress(
  { stress, times }: FitContents,
  writer: Writer,
  batches: Batches,
  context: ReadContext,
): Promise<boolean> {
  const measured = stress.flatMap((message: FitMessage): [at_ms: number | undefined, value: number][] => {
    const [at_ms, value] = [times.instantIn(message, 1), numberIn(message, 0)]
    return value === undefined || value < 0 || value > 100 ? [] : [[at_ms, value]]
  })
  if (!measured.length) return false
  if (batches.provider !== writer.provider) await batches.flush()
  batches.provider = writer.provider
  const source = { source_type: 'unknown' as const, app_id: storable(writer.app, 300) }
  for (const [at_ms, value] of measured) {
    if (at_ms === undefined || !isPlausible(at_ms, at_ms, context, 0)) batches.skip('invalid_time', 'stress_level')
    else {
      const zone_s = times.zone_s ?? offsetAt(context, at_ms)
      batches.sample('stress_level', { ...source, at_ms, zone_s, value, second: null, length_ms: null, type: null })
    }
  }
  await batches.drain()
  return true
}

// Heart rates of a FIT file: those of its records, and those of a strap, which hands them over at the end, in messages of
// their own. Source: the FIT cookbook, "HR messages".

/** The strap counts in 1,024 parts of a second, in 32 bits. */
const PARTS = 1024
const COUNT = 2 ** 32
const LOW_BITS = 12
const LOW_COUNT = 1 << LOW_BITS

/** Reads messages of heart rates, one after another: each goes on from the time of the one before. */
class StoredRates {
  readonly #times: FitContents['times']
  /** An instant, and what the strap counted at it. */
  #anchor: { at_ms: number; count: number } | undefined
  #count = 0

  constructor(times: FitContents['times']) {
    this.#times = times
  }

  /** The heart rates of a message, with their instants; none before a message has said when the strap counted what. */
  read(message: FitMessage): [at_ms: number, bpm: number][] {
    const rates = numbersIn(message, 6)
    const counts = numbersIn(message, 9)
    const at_ms = this.#times.instantIn(message)
    if (at_ms !== undefined && counts[0] !== undefined) {
      this.#anchor = { at_ms: at_ms + (numberIn(message, 0, 32_768) ?? 0) * 1000, count: counts[0] }
      this.#count = counts[0]
    }
    const anchor = this.#anchor
    if (!anchor) return []
    const events = counts.length
      ? counts.map((count) => this.#whole(count))
      : lowBits(numbersIn(message, 10)).map((bits) => this.#from(bits))
    return events.flatMap((count, i): [number, number][] => {
      const bpm = rates[i]
      return count === undefined || bpm === undefined ? [] : [[anchor.at_ms + ((count - anchor.count) / PARTS) * 1000, bpm]]
    })
  }

  /** A count of 32 bits, which begins again at 0. */
  #whole(count: number | undefined): number | undefined {
    if (count === undefined) return undefined
    const past = Math.floor(this.#count / COUNT) * COUNT
    return (this.#count = past + count < this.#count ? past + COUNT + count : past + count)
  }

  /** A count of which the last twelve bits are stored: the next one that ends so. */
  #from(bits: number): number {
    const step = (bits - (this.#count % LOW_COUNT) + LOW_COUNT) % LOW_COUNT
    return (this.#count += step)
  }
}

/** Numbers of twelve bits, two in three bytes, the lower bits first. The byte that says "none" elsewhere is part of one here. */
function lowBits(bytes: (number | undefined)[]): number[] {
  const numbers: number[] = []
  const at = (i: number): number => bytes[i] ?? 0xff
  for (let i = 0; i + 2 < bytes.length; i += 3)
    numbers.push(at(i) | ((at(i + 1) & 0x0f) << 8), (at(i + 1) >> 4) | (at(i + 2) << 4))
  return numbers
}
