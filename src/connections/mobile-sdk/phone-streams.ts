// From the components of a workout's stream to its stream, and to the timeseries of distances and strokes. Source: users-wearables.md 11,
// 16.6.
import { invalidField } from '../../platform/http/errors.ts'
import { eachInSlices, flatMapInSlices } from '../../platform/runtime/loop-work.ts'
import type { IncomingSample } from '../../wearables/ingestion/ingest.ts'
import { sportOf } from '../../wearables/resources/sports.ts'
import { STREAM_MAX } from '../../wearables/streams/stream-points.ts'
import type { IncomingStream, StreamList } from '../../wearables/streams/workout-streams.ts'
import { readRecorder, type PostZones } from './phone-samples.ts'
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
async function readPoints(part: SentBulk, workout: SentWorkout, location: (string | number)[]): Promise<Point[]> {
  const { value, start_offset, end_offset } = part
  if (start_offset.length !== value.length || end_offset.length !== value.length)
    throw invalidField([...location, 'value'], 'must be as long as start_offset and end_offset')
  const anchor = Date.parse(part.anchor)
  const [earliest, latest] = [Date.parse(workout.start_date) - BESIDE_MS, Date.parse(workout.end_date) + BESIDE_MS]
  return flatMapInSlices(value, (second, i) => {
    const [from_ms, to_ms] = [anchor + start_offset[i]! * 1000, anchor + end_offset[i]! * 1000]
    if (!(from_ms >= earliest && to_ms <= latest && to_ms >= from_ms && to_ms - from_ms <= LENGTH_MS_MAX))
      throw invalidField([...location, 'start_offset', i], 'must lie within the workout')
    return { from_ms, to_ms, value: second }
  })
}

interface Read {
  name: string
  part: SentBulk
  points: Point[]
}

async function readStreams(components: Components, workout: SentWorkout, location: (string | number)[]): Promise<Read[]> {
  const all: Read[] = []
  for (const [name, parts] of Object.entries(components)) {
    if (!isDistance(name) && name !== STROKES && !Object.hasOwn(listOf, name)) continue
    for (const part of ofOneSource(parts, workout))
      all.push({ name, part, points: await readPoints(part, workout, [...location, name, parts.indexOf(part)]) })
  }
  return all
}

const second = (ms: number): number => Math.floor(ms / 1000)

/** The stream of a workout, made in slices; undefined if the phone sent none. Errors: 422 more than 100,000 seconds; those of `pointsOf`. */
export async function buildStream(workout: SentWorkout, location: (string | number)[]): Promise<IncomingStream | undefined> {
  if (!workout.stream) return undefined
  const all = await readStreams(workout.stream.components, workout, location)
  const values = new Map<StreamList, Map<number, number>>()
  const put = (list: StreamList, time: number, value: number) => {
    const into = values.get(list) ?? new Map<number, number>()
    values.set(list, into.set(time, value))
  }
  for (const { name, points } of all)
    if (Object.hasOwn(listOf, name))
      await eachInSlices(points, ({ from_ms, value }) => put(listOf[name]!, second(from_ms), value))
  // Distances are sent by interval and read as what has been covered.
  const intervals = all.filter(({ name }) => isDistance(name)).flatMap(({ points }) => points)
  let covered = 0
  await eachInSlices(
    intervals.toSorted((a, b) => a.to_ms - b.to_ms),
    ({ to_ms, value }) => put('distance', second(to_ms), (covered += value)),
  )
  const seconds = new Set<number>()
  for (const list of values.values()) await eachInSlices(list.keys(), (second) => seconds.add(second))
  if (seconds.size > STREAM_MAX) throw invalidField(location, `has more than ${STREAM_MAX} seconds`)
  const time = [...seconds].toSorted((a, b) => a - b)
  const lists: IncomingStream['lists'] = {}
  for (const [list, known] of values)
    lists[list] = await flatMapInSlices(time, (second) => {
      const value = known.get(second)
      return value === undefined ? null : list === 'heartrate' ? Math.round(value) : value
    })
  return { key: workout.id, time, lists }
}

export interface WorkoutSamples {
  workout_distance: IncomingSample[]
  workout_swimming_stroke: IncomingSample[]
}

/** The distances and strokes of a workout as samples of it, made in slices. Errors: those of `pointsOf`. */
export async function workoutSamples(
  workout: SentWorkout,
  workout_id: string,
  zones: PostZones,
  location: (string | number)[],
): Promise<WorkoutSamples> {
  const samples: WorkoutSamples = { workout_distance: [], workout_swimming_stroke: [] }
  if (!workout.stream) return samples
  const { slug } = sportOf(workout.sport)
  for (const { name, part, points } of await readStreams(workout.stream.components, workout, location)) {
    if (!isDistance(name) && name !== STROKES) continue
    const source = { second: null, type: null, ...readRecorder(part), workout_id, sport: slug }
    // A part without a zone of its own was recorded where the workout was.
    const place = part.metadata?.HKTimeZone === undefined ? workout : part
    const into = name === STROKES ? samples.workout_swimming_stroke : samples.workout_distance
    await eachInSlices(points, ({ from_ms, to_ms, value }) => {
      const at_ms = second(from_ms) * 1000
      into.push({ ...source, at_ms, value, length_ms: second(to_ms) * 1000 - at_ms, zone_s: zones.offsetAt(place, at_ms) })
    })
  }
  return samples
}
