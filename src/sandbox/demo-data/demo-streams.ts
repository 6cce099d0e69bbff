// The streams of the workouts of a fictional person: a point every ten seconds, along a circle in a public park.
import { mapOf, type WorkoutMap } from '../../wearables/streams/stream-points.ts'
import type { IncomingStream } from '../../wearables/streams/workout-streams.ts'
import { planWorkouts, type Workout } from './day-plan.ts'
import { isKnown } from './known.ts'
import { workoutKey, type Day, type Person } from './person.ts'
import { roundTo } from './random.ts'
import { heartRates } from './vitals.ts'
import { MINUTE_MS } from '../../platform/runtime/durations.ts'

const STEP_S = 10
const RADIUS_M = 400
const METERS_A_DEGREE = 111_195
/** The middle of the circle: a lawn in Central Park, and one in the Tiergarten for zones of Europe. */
const centers = { america: [40.7813, -73.9665], europe: [52.5145, 13.3501] } as const
const outdoors = new Set(['Running', 'Cycling', 'Walking'])

/** The streams of the workouts of a day that are known at an instant. Their heart rates are those of the samples, connected by lines. */
export function createStreams(person: Person, day: Day, known_ms: number): IncomingStream[] {
  const known = isKnown(person, day, known_ms)
  return planWorkouts(person, day).flatMap((workout) =>
    known(workout.stop_ms) ? [{ key: workoutKey(day), ...createPoints(person, day, workout) }] : [],
  )
}

/** The way of a workout on a map; null for one indoors. */
export const createRoute = (person: Person, day: Day, workout: Workout): WorkoutMap | null =>
  mapOf(createPoints(person, day, workout))

function createPoints(person: Person, day: Day, workout: Workout): Omit<IncomingStream, 'key'> {
  const { start_ms, stop_ms, sport, steps_a_minute, meters_a_minute } = workout
  const first_s = Math.ceil(start_ms / 1000)
  const time = Array.from({ length: Math.floor((stop_ms / 1000 - first_s) / STEP_S) + 1 }, (_, i) => first_s + i * STEP_S)
  const lists: IncomingStream['lists'] = { heartrate: ratesAt(person, day, workout, time) }
  if (meters_a_minute) {
    const meters = time.map((second) => roundTo((meters_a_minute * (second * 1000 - start_ms)) / MINUTE_MS, 1))
    lists.distance = meters
    lists.velocity_smooth = time.map(() => roundTo(meters_a_minute / 60, 2))
    if (outdoors.has(sport)) Object.assign(lists, placesAt(person, meters))
  }
  if (steps_a_minute > 100) lists.cadence = time.map(() => steps_a_minute)
  return { time, lists }
}

function ratesAt(person: Person, day: Day, { start_ms, stop_ms }: Workout, time: number[]): number[] {
  const rates = [...heartRates(person, day), ...heartRates(person, day + 1)].filter(
    ({ at_ms }) => at_ms > start_ms - 6 * MINUTE_MS && at_ms < stop_ms + 6 * MINUTE_MS,
  )
  return time.map((second) => {
    const at_ms = second * 1000
    const next = rates.findIndex((rate) => rate.at_ms > at_ms)
    const [before, after] = [rates[next < 0 ? rates.length - 1 : Math.max(0, next - 1)]!, rates[Math.max(0, next)]!]
    const share = after.at_ms > before.at_ms ? (at_ms - before.at_ms) / (after.at_ms - before.at_ms) : 0
    return Math.round(before.value + (after.value - before.value) * share)
  })
}

function placesAt({ zone }: Person, meters: number[]) {
  const [north, east] = zone.startsWith('Europe/') ? centers.europe : centers.america
  const degrees = RADIUS_M / METERS_A_DEGREE
  const shrink = Math.cos((north * Math.PI) / 180)
  return {
    lat: meters.map((distance_m) => roundTo(north + degrees * Math.sin(distance_m / RADIUS_M), 6)),
    lng: meters.map((distance_m) => roundTo(east + (degrees * Math.cos(distance_m / RADIUS_M)) / shrink, 6)),
  }
}
