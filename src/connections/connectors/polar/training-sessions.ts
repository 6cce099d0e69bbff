// Training sessions of Polar AccessLink, Dynamic API v4: workouts with their sports, and their streams from samples and routes.
import {
  idOf,
  readInstant,
  instantOfText,
  readList,
  localTime,
  readNumber,
  objectOrEmpty,
  rawValues,
  readText,
  readInteger,
  wordsOf,
  type Values,
} from '../reading.ts'
import { toDevice, instantIn, offsetAt, workoutOf, type SampleBatches } from '../vendor-records.ts'
import { typeWithDetails } from '../../../wearables/resources/sample-details.ts'
import { mapOf, StreamPoints } from '../../../wearables/streams/stream-points.ts'
import type { IncomingStream, StreamList } from '../../../wearables/streams/workout-streams.ts'
import type { IncomingSummary } from '../../../wearables/summaries/summaries.ts'
import { listRecords, offsetIn } from './polar-records.ts'

/** The names of sports by Polar's numbers. */
export type Sports = ReadonlyMap<string, string>

/** Sports whose name at Polar is not the one of other vendors; their other names are taken as they are. */
const sportNames: Readonly<Record<string, string>> = {
  'Cross-Country Skiing': 'Nordic Skiing',
  'Downhill Skiing': 'Alpine Skiing',
  'Other Indoor': 'Other',
  'Other Outdoor': 'Other',
  'Pool Swimming': 'Swimming',
  'Road Biking': 'Road Cycling',
  'Road Running': 'Running',
  'Treadmill Running': 'Indoor Running',
  Jogging: 'Running',
  Skiing: 'Nordic Skiing',
}
/** The catalog is empty for some accounts: the sports whose numbers clients have met. */
const knownSports: Sports = new Map([['2', 'Cycling']])

/** `TRAIL_RUNNING` and `Trail running` as `Trail Running`. */
const toTitleCase = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/(^|[\s-])([a-z])/g, (match) => match.toUpperCase())

/** The catalog of sports. A sport has its English name, else the key of its name. */
export function sportsIn(catalog: Values): Sports {
  const sports = new Map(knownSports)
  for (const sport of listRecords(catalog, 'sports')) {
    const id = idOf(objectOrEmpty(sport.id).id ?? objectOrEmpty(sport.identifier).id ?? sport.id)
    const localized = objectOrEmpty(objectOrEmpty(sport.localizedNames).en)
    const name = toTitleCase(readText(localized.longName) ?? readText(sport.name) ?? '').slice(0, 100)
    if (id !== null && /[a-z]/i.test(name)) sports.set(id, Object.hasOwn(sportNames, name) ? sportNames[name]! : name)
  }
  return sports
}

/** An instant of a session. Without an offset it is local: by the session's own offset, else by the zone. */
function readTimes(session: Values, zone: string | null) {
  const minutes = readNumber(session.timezoneOffsetMinutes)
  const said_s = minutes !== null && Math.abs(minutes) <= 18 * 60 ? minutes * 60 : null
  const at = (value: unknown): number | null => {
    const local = localTime(value)
    if (local === null) return instantOfText(value)
    return said_s === null ? instantIn(zone, local) : local - said_s * 1000
  }
  return { said_s, at }
}

const positive = (value: number | null): number | null => (value !== null && value > 0 ? value : null)

const deviceIn = (session: Values) =>
  toDevice('watch', { manufacturer: 'Polar', model: objectOrEmpty(session.product).modelName, device_id: session.deviceId })

/** The workout of a session, and what is known of its way. @param stream its stream, if it has one */
export function workoutIn(
  session: Values,
  { zone, sports, stream }: { zone: string | null; sports: Sports; stream: IncomingStream | undefined },
): IncomingSummary<'workouts'> | undefined {
  const key = idOf(objectOrEmpty(session.identifier).id)
  const { said_s, at } = readTimes(session, zone)
  const [start_ms, duration_ms] = [at(session.startTime), readNumber(session.durationMillis)]
  if (key === null || start_ms === null) return undefined
  // A duration that Polar does not mean leaves no end to go by.
  const isUnreadable = duration_ms === null && session.durationMillis !== undefined && session.durationMillis !== null
  if (isUnreadable && at(session.stopTime) === null) return undefined
  const end_ms = at(session.stopTime) ?? readInstant(start_ms + (duration_ms ?? 0))
  if (end_ms === null || end_ms < start_ms) return undefined
  const sport = sports.get(idOf(objectOrEmpty(session.sport).id) ?? '') ?? 'Other'
  const ascents = readList(session.exercises).flatMap(({ ascentMeters }) => readNumber(ascentMeters) ?? [])
  return workoutOf({
    key,
    source_type: 'watch',
    device: deviceIn(session),
    raw: rawValues(session, 'exercises'),
    sport,
    start_ms,
    end_ms,
    offset_s: said_s ?? offsetIn(session.startTime) ?? offsetAt(zone, start_ms),
    extraFields: {
      title: readText(session.name) ?? sport,
      average_hr: positive(readInteger(session.hrAvg)),
      max_hr: positive(readInteger(session.hrMax)),
      distance: readNumber(session.distanceMeters),
      calories: readNumber(session.calories),
      moving_time: duration_ms === null ? null : Math.round(duration_ms / 1000),
      ...(ascents.length && { total_elevation_gain: ascents.reduce((sum, ascent) => sum + ascent, 0) }),
      ...(stream && { map: mapOf(stream) }),
    },
  })
}

/** The lists of a stream by what the type of a series of samples contains. */
const series: readonly (readonly [type: RegExp, list: StreamList])[] = [
  [/HEART_RATE/, 'heartrate'],
  [/SPEED/, 'velocity_smooth'],
  [/ALTITUDE/, 'altitude'],
  [/DISTANCE/, 'distance'],
  [/CADENCE/, 'cadence'],
  [/POWER/, 'power'],
  [/TEMPERATURE/, 'temperature'],
]
const KMH_PER_MS = 3.6

/**
 * What speeds are divided by to be in m/s. Polar does not say their unit: km/h, unless m/s comes closer to the distance that was covered in
 * the time.
 */
function speedDivisor(values: unknown[], { distanceMeters, durationMillis }: Values): number {
  const [meters, ms] = [positive(readNumber(distanceMeters)), positive(readNumber(durationMillis))]
  const speeds = values.flatMap((value) => readNumber(value) ?? [])
  if (meters === null || ms === null || !speeds.length) return KMH_PER_MS
  const mean = speeds.reduce((sum, value) => sum + value, 0) / speeds.length
  const expected = meters / (ms / 1000)
  return Math.abs(mean - expected) < Math.abs(mean / KMH_PER_MS - expected) ? 1 : KMH_PER_MS
}

/** The stream of a session with features: the samples and the way of its exercises. Undefined without values. */
export function streamIn(session: Values, zone: string | null): IncomingStream | undefined {
  const key = idOf(objectOrEmpty(session.identifier).id)
  if (key === null) return undefined
  const points = new StreamPoints()
  for (const exercise of readList(session.exercises)) {
    const { at } = readTimes({ timezoneOffsetMinutes: session.timezoneOffsetMinutes, ...exercise }, zone)
    const start_ms = at(exercise.startTime) ?? at(session.startTime)
    if (start_ms === null) continue
    for (const { type, intervalMillis, values } of readList(objectOrEmpty(exercise.samples).samples)) {
      const into = series.find(([pattern]) => pattern.test(readText(type) ?? ''))?.[1]
      const every_ms = readNumber(intervalMillis)
      if (into === undefined || every_ms === null || every_ms <= 0 || !Array.isArray(values)) continue
      const divisor = into === 'velocity_smooth' ? speedDivisor(values, exercise) : 1
      for (const [i, value] of values.entries()) {
        const read = readNumber(value)
        if (read !== null) points.put(into, start_ms + i * every_ms, read / divisor)
      }
    }
    for (const { latitude, longitude, altitude, elapsedMillis } of readList(
      objectOrEmpty(objectOrEmpty(exercise.routes).route).wayPoints,
    )) {
      const at_ms = start_ms + (readNumber(elapsedMillis) ?? NaN)
      points.put('lat', at_ms, readNumber(latitude))
      points.put('lng', at_ms, readNumber(longitude))
      points.put('altitude', at_ms, readNumber(altitude))
    }
  }
  return points.stream(key)
}

/** What the user has written about a session, as a note on its exercise. */
export function addNote(batches: SampleBatches, session: Values, { document }: IncomingSummary<'workouts'>): void {
  const content = wordsOf(session.note)
  if (content === '') return
  const { time_start, time_end, timezone_offset } = document as {
    time_start: string
    time_end: string
    timezone_offset: number | null
  }
  const [at_ms, end_ms] = [Date.parse(time_start), Date.parse(time_end)]
  const type = typeWithDetails('note', null, { content, tags: ['exercise'] })
  batches.add('note', { at_ms, end_ms, value: 0, offset_s: timezone_offset, type, source_type: 'app' })
}
