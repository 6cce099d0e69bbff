// The samples of days of a fictional person as they are known at an instant.
import type { IncomingSample } from '../../wearables/ingestion/ingest.ts'
import { typeWithDetails } from '../../wearables/resources/sample-details.ts'
import { sportOf } from '../../wearables/resources/sports.ts'
import { timeseriesOf, type TimeseriesName } from '../../wearables/resources/timeseries.ts'
import { zoneOffset } from '../../wearables/resources/zones.ts'
import { planSteps, STROKES_A_MINUTE, planWorkouts, type Workout } from './day-plan.ts'
import { devices, ofWorkouts, type DemoProvider } from './demo-devices.ts'
import { isKnown, LAG_MS } from './known.ts'
import { createMeasurements } from './measurements.ts'
import { planNight } from './night.ts'
import { localInstant, weekdayOf, type Day, type Person } from './person.ts'
import { randomNear, randomBetween, randomOf, roundTo } from './random.ts'
import { glucoseLevels, heartRates, heartRateVariability, type Measured } from './vitals.ts'
import { HOUR_MS, MINUTE_MS } from '../../platform/runtime/durations.ts'

/** On some days a glucose sensor shows too high values for two hours, which it corrects five hours later. */
function calibrationError(person: Person, day: Day, known_ms: number): (measurement: Measured) => Measured {
  const random = randomOf(person.seed, 'calibration', day)
  const from_ms = localInstant(person.zone, day, Math.round(randomBetween(random, 7, 17)) * 60)
  const to_ms = from_ms + 2 * HOUR_MS
  if (random() >= 0.3 || known_ms >= to_ms + 5 * HOUR_MS) return (measurement) => measurement
  return ({ at_ms, value }) => ({ at_ms, value: at_ms >= from_ms && at_ms < to_ms ? roundTo(value + 0.6, 1) : value })
}

const KCAL_A_STEP = 0.0005
/** Energy of a workout, for each minute and kilogram. */
const KCAL_A_MINUTE = 0.11

/** The energy of a workout up to an instant. */
export const workoutEnergy = ({ weight_kg }: Person, { start_ms, stop_ms }: Workout, until_ms: number): number =>
  roundTo((Math.max(0, Math.min(stop_ms, until_ms) - start_ms) / MINUTE_MS) * KCAL_A_MINUTE * weight_kg, 1)

/** The hours of movement, the last of which grows. Their energies add up to that of the day, workouts included. */
export function movement(person: Person, day: Day, known_ms: number) {
  const known = isKnown(person, day, known_ms)
  const workouts = planWorkouts(person, day)
  return planSteps(person, day).flatMap(({ at_ms, steps, meters, walkedSteps }) => {
    if (!known(at_ms)) return []
    const share = Math.min(1, (known_ms - LAG_MS - at_ms) / HOUR_MS)
    const until_ms = at_ms + share * HOUR_MS
    const training = workouts.reduce(
      (sum, workout) => sum + workoutEnergy(person, workout, until_ms) - workoutEnergy(person, workout, at_ms),
      0,
    )
    const kcal = roundTo(Math.floor(walkedSteps * share) * KCAL_A_STEP * person.weight_kg + training, 1)
    return [{ at_ms, steps: Math.floor(steps * share), meters: Math.floor(meters * share), kcal }]
  })
}

export const bodyWeight = (person: Person, day: Day): number =>
  roundTo(person.weight_kg + 0.8 * Math.sin(day / 23) + randomNear(randomOf(person.seed, 'weight', day), 0, 0.25), 1)

/**
 * The samples of a day that are known at an instant.
 * @param workout_id of the workout of the day, whose samples are left out without it
 */
export function createSamples(
  person: Person,
  provider: DemoProvider,
  day: Day,
  known_ms: number,
  workout_id?: string,
): Map<TimeseriesName, IncomingSample[]> {
  const { source_type, app_id, timeseries } = devices[provider]
  const known = isKnown(person, day, known_ms)
  const sampled = (measurements: Measured[], length_ms: number | null = null): IncomingSample[] =>
    measurements.map(({ at_ms, value }) => ({
      at_ms,
      value,
      second: null,
      length_ms,
      zone_s: zoneOffset(person.zone, at_ms),
      type: null,
      source_type,
      app_id,
    }))
  const ofHours = (value: (hour: { steps: number; meters: number; kcal: number }) => number) =>
    sampled(
      movement(person, day, known_ms)
        .map((hour) => ({ at_ms: hour.at_ms, value: value(hour) }))
        .filter(({ value }) => value > 0),
      HOUR_MS,
    )
  const instants = (measurements: Measured[]) => sampled(measurements.filter(({ at_ms }) => known(at_ms)))
  const weighed_ms = planNight(person, day).stop_ms + 5 * MINUTE_MS
  const make: Partial<Record<TimeseriesName, () => IncomingSample[]>> = {
    heartrate: () => instants(heartRates(person, day)),
    hrv: () => instants(heartRateVariability(person, day)),
    glucose: () =>
      instants(glucoseLevels(person, day).map(calibrationError(person, day, known_ms))).map((sample) => ({
        ...sample,
        type: 'automatic',
      })),
    steps: () => ofHours(({ steps }) => steps),
    distance: () => ofHours(({ meters }) => meters),
    calories_active: () => ofHours(({ kcal }) => kcal),
    body_weight: () => (weekdayOf(day) ? [] : instants([{ at_ms: weighed_ms, value: bodyWeight(person, day) }])),
  }
  const measured = (name: TimeseriesName): IncomingSample[] => {
    const { isInterval } = timeseriesOf(name)
    return createMeasurements(person, name, day)
      .filter(({ at_ms, length_ms = 0 }) => known(at_ms + length_ms))
      .map(({ at_ms, value, length_ms = isInterval ? 0 : null, second = null, type = null, source_type: other }) => ({
        at_ms,
        value,
        second,
        length_ms,
        zone_s: zoneOffset(person.zone, at_ms),
        type,
        source_type: other ?? source_type,
        app_id,
      }))
  }
  const ofWorkout = (name: (typeof ofWorkouts)[number]): IncomingSample[] => {
    // They come with their workout, which names them.
    if (workout_id === undefined || !planWorkouts(person, day).every(({ stop_ms }) => known(stop_ms))) return []
    return workoutSamples(person, name, day).map((sample) => ({ ...sample, source_type, app_id, workout_id }))
  }
  const samples = (name: TimeseriesName) => make[name]?.() ?? (isOfWorkouts(name) ? ofWorkout(name) : measured(name))
  return new Map(timeseries.map((name) => [name, samples(name)]))
}

const isOfWorkouts = (name: TimeseriesName): name is (typeof ofWorkouts)[number] =>
  (ofWorkouts as readonly TimeseriesName[]).includes(name)

/** The distances and strokes of a workout minute by minute, and its duration. */
function workoutSamples(
  person: Person,
  name: (typeof ofWorkouts)[number],
  day: Day,
): Omit<IncomingSample, 'source_type' | 'app_id'>[] {
  return planWorkouts(person, day).flatMap(({ start_ms, stop_ms, sport, meters_a_minute, intensity }) => {
    const { slug } = sportOf(sport)
    const one = (at_ms: number, value: number, length_ms: number, type: string | null = null) => ({
      at_ms,
      value,
      second: null,
      length_ms,
      zone_s: zoneOffset(person.zone, at_ms),
      type,
      sport: slug,
    })
    const length_ms = stop_ms - start_ms
    const level = intensity > 0.65 ? 'high' : intensity > 0.4 ? 'medium' : 'low'
    if (name === 'workout_duration')
      return [one(start_ms, length_ms / MINUTE_MS, length_ms, typeWithDetails(name, null, { intensity: level }))]
    const value = name === 'workout_distance' ? meters_a_minute : sport === 'Swimming' ? STROKES_A_MINUTE : 0
    return value ? Array.from({ length: length_ms / MINUTE_MS }, (_, i) => one(start_ms + i * MINUTE_MS, value, MINUTE_MS)) : []
  })
}
