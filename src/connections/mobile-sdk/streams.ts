// From the components of a workout's stream to its stream, and to the timeseries of distances and strokes. Source: users-wearables.md 11,
// 16.6.
import { invalidField } from '../../platform/http/errors.ts'
import type { IncomingSample } from '../../wearables/ingestion/ingest.ts'
import { sportOf } from '../../wearables/resources/sports.ts'
import { STREAM_MAX } from '../../wearables/streams/stream-points.ts'
import type { IncomingStream, StreamList } from '../../wearables/streams/workout-streams.ts'
import { deviceOf } from './devices.ts'
import { sourceTypeOf, type PostZones } from './samples.ts'
import type { SentBulk, SentWorkout } from './summary-schema.ts'

/** The list of a stream that a component fills; other components are left out. */
const listOf: Record<string, StreamList> = {
  heart_rate: 'heartrate',
  heartrate: 'heartrate',
  cadence: 'cadence',
  cycling_cadence: 'cadence',
  running_cadence: 'cadence',
  power: 'power',
  cycling_power: 'power',
  running_power: 'power',
  speed: 'velocity_smooth',
  cycling_speed: 'velocity_smooth',
  running_speed: 'velocity_smooth',
  altitude: 'altitude',
  latitude: 'lat',
  longitude: 'lng',
  temperature: 'temperature',
  resistance: 'resistance',
}
const isDistance = (name: string): boolean => name === 'distance' || name.startsWith('distance_')
const STROKES = 'swimming_stroke_count'

/** How long an interval of a stream may last. */
const LENGTH_MS_MAX = 86_400_000
/** How far samples may lie before or after their workout. */
const BESIDE_MS = 3_600_000

type Components = NonNullable<SentWorkout['stream']>['components']

interface Point {
  from_ms: number
  to_ms: number
  value: number
}

const sourceKey = ({ source_bundle, product_type }: Pick<SentBulk, 'source_bundle' | 'product_type'>): string =>
  JSON.stringify([source_bundle, product_type])

/**
 * The parts of a component that one source recorded: that of the workout, else the one with most values. Several devices record one
 * distance, so that theirs must not be added up.
 */
function ofOneSource(parts: SentBulk[], workout: SentWorkout): SentBulk[] {
  const counts = new Map<string, number>()
  for (const part of parts) counts.set(sourceKey(part), (counts.get(sourceKey(part)) ?? 0) + part.value.length)
  const own = sourceKey(workout)
  const chosen = counts.has(own) ? own : [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0]
  return parts.filter((part) => sourceKey(part) === chosen)
}

/** The values of a part. Errors: 422 lists of different lengths, instants that are not near the workout. */
function pointsOf(part: SentBulk, workout: SentWorkout, at: (string | number)[]): Point[] {
  const { value, start_offset, end_offset } = part
  if (start_offset.length !== value.length || end_offset.length !== value.length)
    throw invalidField([...at, 'value'], 'must be as long as start_offset and end_offset')
  const anchor = Date.parse(part.anchor)
  const [earliest, latest] = [Date.parse(workout.start_date) - BESIDE_MS, Date.parse(workout.end_date) + BESIDE_MS]
  return value.map((one, i) => {
    const [from_ms, to_ms] = [anchor + start_offset[i]! * 1000, anchor + end_offset[i]! * 1000]
    if (!(from_ms >= earliest && to_ms <= latest && to_ms >= from_ms && to_ms - from_ms <= LENGTH_MS_MAX))
      throw invalidField([...at, 'start_offset', i], 'must lie within the workout')
    return { from_ms, to_ms, value: one }
  })
}

interface Read {
  name: string
  part: SentBulk
  points: Point[]
}

function read(components: Components, workout: SentWorkout, at: (string | number)[]): Read[] {
  return Object.entries(components).flatMap(([name, parts]) => {
    if (!isDistance(name) && name !== STROKES && !Object.hasOwn(listOf, name)) return []
    return ofOneSource(parts, workout).map((part) => ({
      name,
      part,
      points: pointsOf(part, workout, [...at, name, parts.indexOf(part)]),
    }))
  })
}

const second = (ms: number): number => Math.floor(ms / 1000)

/** The stream of a workout; undefined if the phone sent none. Errors: 422 more than 100,000 seconds; those of `pointsOf`. */
export function streamOf(workout: SentWorkout, at: (string | number)[]): IncomingStream | undefined {
  if (!workout.stream) return undefined
  const all = read(workout.stream.components, workout, at)
  const values = new Map<StreamList, Map<number, number>>()
  const put = (list: StreamList, time: number, value: number) => {
    const into = values.get(list) ?? new Map<number, number>()
    values.set(list, into.set(time, value))
  }
  for (const { name, points } of all)
    if (Object.hasOwn(listOf, name)) for (const { from_ms, value } of points) put(listOf[name]!, second(from_ms), value)
  // Distances are sent by interval and read as what has been covered.
  const intervals = all.filter(({ name }) => isDistance(name)).flatMap(({ points }) => points)
  let covered = 0
  for (const { to_ms, value } of intervals.toSorted((a, b) => a.to_ms - b.to_ms))
    put('distance', second(to_ms), (covered += value))
  const time = [...new Set([...values.values()].flatMap((list) => [...list.keys()]))].toSorted((a, b) => a - b)
  if (time.length > STREAM_MAX) throw invalidField(at, `has more than ${STREAM_MAX} seconds`)
  const lists: IncomingStream['lists'] = {}
  for (const [list, known] of values)
    lists[list] = time.map((one) => {
      const value = known.get(one)
      return value === undefined ? null : list === 'heartrate' ? Math.round(value) : value
    })
  return { key: workout.id, time, lists }
}

export interface WorkoutSamples {
  workout_distance: IncomingSample[]
  workout_swimming_stroke: IncomingSample[]
}

/** The distances and strokes of a workout as samples of it. Errors: those of `pointsOf`. */
export function workoutSamples(
  workout: SentWorkout,
  workout_id: string,
  zones: PostZones,
  at: (string | number)[],
): WorkoutSamples {
  const samples: WorkoutSamples = { workout_distance: [], workout_swimming_stroke: [] }
  if (!workout.stream) return samples
  const { slug } = sportOf(workout.sport)
  for (const { name, part, points } of read(workout.stream.components, workout, at)) {
    if (!isDistance(name) && name !== STROKES) continue
    const source_type = sourceTypeOf(part)
    const source = {
      second: null,
      type: null,
      source_type,
      app_id: part.source_bundle ?? null,
      device: deviceOf(part.metadata, source_type),
      workout_id,
      sport: slug,
    }
    // A part without a zone of its own was recorded where the workout was.
    const place = part.metadata?.HKTimeZone === undefined ? workout : part
    const into = name === STROKES ? samples.workout_swimming_stroke : samples.workout_distance
    for (const { from_ms, to_ms, value } of points) {
      const at_ms = second(from_ms) * 1000
      into.push({ ...source, at_ms, value, length_ms: second(to_ms) * 1000 - at_ms, zone_s: zones.offsetOf(place, at_ms) })
    }
  }
  return samples
}
