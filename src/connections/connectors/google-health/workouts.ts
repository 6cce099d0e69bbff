// Workouts of the Google Health API, and their streams, which come as TCX. Source: discovery document of v4, Exercise and exportExerciseTcx.
import { instantOfText, numberOrText, objectOrEmpty, rawValues, readText, readInteger, type Values } from '../reading.ts'
import { workoutOf } from '../vendor-records.ts'
import { StreamPoints } from '../../../wearables/streams/stream-points.ts'
import type { IncomingStream, StreamList } from '../../../wearables/streams/workout-streams.ts'
import type { IncomingSummary } from '../../../wearables/summaries/summaries.ts'
import { divideNullable, idIn, offsetOf, sourceOf } from './data-points.ts'

const sports: Readonly<Record<string, string>> = {
  BIKING: 'Cycling',
  OUTDOOR_BIKE: 'Cycling',
  STATIONARY_BIKE: 'Indoor Cycling',
  MOUNTAIN_BIKE: 'Mountain Biking',
  ELECTRIC_BIKE: 'E-Biking',
  TREADMILL: 'Indoor Running',
  TREADMILL_WALK: 'Indoor Walking',
  TRAIL_RUN: 'Trail Running',
  PICKELBALL: 'Pickleball',
  HIIT: 'HIIT',
  TRX: 'TRX',
  CROSSFIT: 'CrossFit',
  SWIMMING_POOL: 'Swimming',
  SWIMMING_OPEN_WATER: 'Open Water Swimming',
  WEIGHTS: 'Strength Training',
  WEIGHTLIFTING: 'Strength Training',
  WHEELCHAIR: 'Wheelchair Pushing',
  MEDITATE: 'Meditation',
  EXERCISE_TYPE_UNSPECIFIED: 'Other',
}

/** `CARDIO_WORKOUT` as `Cardio Workout`. */
function sportOf(value: unknown): string {
  const type = readText(value) ?? ''
  if (!/^[A-Z_]{1,60}$/.test(type)) return 'Other'
  if (Object.hasOwn(sports, type)) return sports[type]!
  return type.toLowerCase().replace(/(^|_)([a-z])/g, (_, gap: string, letter: string) => (gap && ' ') + letter.toUpperCase())
}

/** A workout; undefined without an id or times. */
export function exerciseOf(point: Values): IncomingSummary<'workouts'> | undefined {
  const values = objectOrEmpty(point.exercise)
  const time = objectOrEmpty(values.interval)
  const [key, start_ms, end_ms] = [idIn(point.name), instantOfText(time.startTime), instantOfText(time.endTime)]
  if (key === null || start_ms === null || end_ms === null || end_ms < start_ms) return undefined
  const metrics = objectOrEmpty(values.metricsSummary)
  const sport = sportOf(values.exerciseType)
  const active_s = /^(\d{1,7})(?:\.\d+)?s$/.exec(readText(values.activeDuration) ?? '')?.[1]
  const offset_s = offsetOf(time.startUtcOffset)
  return workoutOf({
    key,
    ...sourceOf(point),
    raw: rawValues(point),
    sport,
    start_ms,
    end_ms,
    offset_s,
    extraFields: {
      title: readText(values.displayName) ?? sport,
      average_hr: readInteger(numberOrText(metrics.averageHeartRateBeatsPerMinute)),
      distance: divideNullable(numberOrText(metrics.distanceMillimeters), 1000),
      calories: numberOrText(metrics.caloriesKcal),
      steps: readInteger(numberOrText(metrics.steps)),
      total_elevation_gain: divideNullable(numberOrText(metrics.elevationGainMillimeters), 1000),
      average_speed: divideNullable(numberOrText(metrics.averageSpeedMillimetersPerSecond), 1000),
      moving_time: active_s === undefined ? null : Number(active_s),
    },
  })
}

/** What an element of a track point fills. Extensions stand under prefixes that each writer chooses. */
const elements = {
  LatitudeDegrees: 'lat',
  LongitudeDegrees: 'lng',
  AltitudeMeters: 'altitude',
  DistanceMeters: 'distance',
  Cadence: 'cadence',
  RunCadence: 'cadence',
  Watts: 'power',
  Speed: 'velocity_smooth',
} as const satisfies Record<string, StreamList>

/** No track point is longer. */
const POINT_LENGTH_MAX = 5000
const VALUE = /<(?:\w{1,20}:)?(\w{1,40})>([^<>]{1,40})<\//g

/** The stream of a workout, from the track points of a TCX text as Google writes it; undefined without values. */
export function toStream(key: string, tcx: string): IncomingStream | undefined {
  const points = new StreamPoints()
  for (const part of tcx.split('<Trackpoint>').slice(1)) {
    const point = part.slice(0, POINT_LENGTH_MAX).split('</Trackpoint>', 1)[0]!
    const values = [...point.matchAll(VALUE)].map(([, name = '', value = '']) => [name, value.trim()] as const)
    const at_ms = instantOfText(values.find(([name]) => name === 'Time')?.[1])
    if (at_ms === null) continue
    for (const [name, value] of values) {
      // Within a point, `Value` is the element of the heart rate.
      if (name === 'Value') points.put('heartrate', at_ms, numberOrText(value))
      else if (Object.hasOwn(elements, name)) points.put(elements[name as keyof typeof elements], at_ms, numberOrText(value))
    }
  }
  return points.stream(key)
}
