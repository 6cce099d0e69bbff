// Training sessions of Polar AccessLink, Dynamic API v4: workouts with their sports, and their streams from samples and routes.
import {
  idOf,
  instant,
  instantOfText,
  list,
  localTime,
  number,
  objectOrEmpty,
  rawOf,
  text,
  whole,
  wordsOf,
  type Values,
} from '../reading.ts'
import { deviceOf, instantIn, offsetAt, workoutOf, type SampleBatches } from '../records.ts'
import { typeWithDetails } from '../../../wearables/resources/sample-details.ts'
import { mapOf, StreamPoints } from '../../../wearables/streams/stream-points.ts'
import type { IncomingStream, StreamList } from '../../../wearables/streams/workout-streams.ts'
import type { IncomingSummary } from '../../../wearables/summaries/summaries.ts'
import { listed, offsetIn } from './records.ts'

/** The names of sports by Polar's numbers. */
export type Sports = ReadonlyMap<string, string>

/** Sports whose name at Polar is not the one of other vendors; their other names are taken as they are. */
const names: Readonly<Record<string, string>> = {
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
const known: Sports = new Map([['2', 'Cycling']])

/** `TRAIL_RUNNING` and `Trail running` as `Trail Running`. */
const titled = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/(^|[\s-])([a-z])/g, (found) => found.toUpperCase())

/** The catalog of sports. A sport has its English name, else the key of its name. */
export function sportsIn(sent: Values): Sports {
  const sports = new Map(known)
  for (const sport of listed(sent, 'sports')) {
    const id = idOf(objectOrEmpty(sport.id).id ?? objectOrEmpty(sport.identifier).id ?? sport.id)
    const localized = objectOrEmpty(objectOrEmpty(sport.localizedNames).en)
    const name = titled(text(localized.longName) ?? text(sport.name) ?? '').slice(0, 100)
    if (id !== null && /[a-z]/i.test(name)) sports.set(id, Object.hasOwn(names, name) ? names[name]! : name)
  }
  return sports
}

/** An instant of a session. Without an offset it is local: by the session's own offset, else by the zone. */
function instantsOf(sent: Values, zone: string | null) {
  const minutes = number(sent.timezoneOffsetMinutes)
  const said_s = minutes !== null && Math.abs(minutes) <= 18 * 60 ? minutes * 60 : null
  const at = (value: unknown): number | null => {
    const local = localTime(value)
    if (local === null) return instantOfText(value)
    return said_s === null ? instantIn(zone, local) : local - said_s * 1000
  }
  return { said_s, at }
}

const positive = (value: number | null): number | null => (value !== null && value > 0 ? value : null)

const deviceIn = (sent: Values) =>
  deviceOf('watch', { manufacturer: 'Polar', model: objectOrEmpty(sent.product).modelName, device_id: sent.deviceId })

/** The workout of a session, and what is known of its way. @param stream its stream, if it has one */
export function workoutIn(
  sent: Values,
  { zone, sports, stream }: { zone: string | null; sports: Sports; stream: IncomingStream | undefined },
): IncomingSummary<'workouts'> | undefined {
  const key = idOf(objectOrEmpty(sent.identifier).id)
  const { said_s, at } = instantsOf(sent, zone)
  const [start_ms, duration_ms] = [at(sent.startTime), number(sent.durationMillis)]
  if (key === null || start_ms === null) return undefined
  // A duration that Polar does not mean leaves no end to go by.
  const isUnreadable = duration_ms === null && sent.durationMillis !== undefined && sent.durationMillis !== null
  if (isUnreadable && at(sent.stopTime) === null) return undefined
  const end_ms = at(sent.stopTime) ?? instant(start_ms + (duration_ms ?? 0))
  if (end_ms === null || end_ms < start_ms) return undefined
  const sport = sports.get(idOf(objectOrEmpty(sent.sport).id) ?? '') ?? 'Other'
  const ascents = list(sent.exercises).flatMap(({ ascentMeters }) => number(ascentMeters) ?? [])
  return workoutOf({
    key,
    source_type: 'watch',
    device: deviceIn(sent),
    raw: rawOf(sent, 'exercises'),
    sport,
    start_ms,
    end_ms,
    offset_s: said_s ?? offsetIn(sent.startTime) ?? offsetAt(zone, start_ms),
    more: {
      title: text(sent.name) ?? sport,
      average_hr: positive(whole(sent.hrAvg)),
      max_hr: positive(whole(sent.hrMax)),
      distance: number(sent.distanceMeters),
      calories: number(sent.calories),
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
  const [meters, ms] = [positive(number(distanceMeters)), positive(number(durationMillis))]
  const speeds = values.flatMap((value) => number(value) ?? [])
  if (meters === null || ms === null || !speeds.length) return KMH_PER_MS
  const mean = speeds.reduce((sum, value) => sum + value, 0) / speeds.length
  const expected = meters / (ms / 1000)
  return Math.abs(mean - expected) < Math.abs(mean / KMH_PER_MS - expected) ? 1 : KMH_PER_MS
}

/** The stream of a session with features: the samples and the way of its exercises. Undefined without values. */
export function streamIn(sent: Values, zone: string | null): IncomingStream | undefined {
  const key = idOf(objectOrEmpty(sent.identifier).id)
  if (key === null) return undefined
  const points = new StreamPoints()
  for (const exercise of list(sent.exercises)) {
    const { at } = instantsOf({ timezoneOffsetMinutes: sent.timezoneOffsetMinutes, ...exercise }, zone)
    const start_ms = at(exercise.startTime) ?? at(sent.startTime)
    if (start_ms === null) continue
    for (const { type, intervalMillis, values } of list(objectOrEmpty(exercise.samples).samples)) {
      const into = series.find(([pattern]) => pattern.test(text(type) ?? ''))?.[1]
      const every_ms = number(intervalMillis)
      if (into === undefined || every_ms === null || every_ms <= 0 || !Array.isArray(values)) continue
      const divisor = into === 'velocity_smooth' ? speedDivisor(values, exercise) : 1
      for (const [i, value] of values.entries()) {
        const read = number(value)
        if (read !== null) points.put(into, start_ms + i * every_ms, read / divisor)
      }
    }
    for (const { latitude, longitude, altitude, elapsedMillis } of list(
      objectOrEmpty(objectOrEmpty(exercise.routes).route).wayPoints,
    )) {
      const at_ms = start_ms + (number(elapsedMillis) ?? NaN)
      points.put('lat', at_ms, number(latitude))
      points.put('lng', at_ms, number(longitude))
      points.put('altitude', at_ms, number(altitude))
    }
  }
  return points.stream(key)
}

/** What the user has written about a session, as a note on its exercise. */
export function addNote(batches: SampleBatches, sent: Values, { document }: IncomingSummary<'workouts'>): void {
  const content = wordsOf(sent.note)
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
