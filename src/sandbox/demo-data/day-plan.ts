// What a fictional person does on a day: workouts, meals, steps.
import { isWeekend, localInstant, type Day, type Person } from './person.ts'
import { planNight } from './night.ts'
import { randomNear, randomBetween, chooseRandom, randomOf, roundTo } from './random.ts'
import { HOUR_MS, MINUTE_MS } from '../../platform/runtime/durations.ts'

export interface Workout {
  start_ms: number
  stop_ms: number
  sport: string
  /** Share of the range between the resting and the highest heart rate. */
  intensity: number
  steps_a_minute: number
  meters_a_minute: number
}

type Sport = Omit<Workout, 'start_ms' | 'stop_ms'>
const sports: readonly [Sport, ...Sport[]] = [
  { sport: 'Running', intensity: 0.72, steps_a_minute: 162, meters_a_minute: 165 },
  { sport: 'Cycling', intensity: 0.6, steps_a_minute: 0, meters_a_minute: 380 },
  { sport: 'Walking', intensity: 0.32, steps_a_minute: 112, meters_a_minute: 84 },
  { sport: 'Strength Training', intensity: 0.45, steps_a_minute: 12, meters_a_minute: 0 },
  { sport: 'Swimming', intensity: 0.55, steps_a_minute: 0, meters_a_minute: 33 },
]
export const STROKES_A_MINUTE = 24

export function planWorkouts(person: Person, day: Day): Workout[] {
  const random = randomOf(person.seed, 'workouts', day)
  if (random() >= person.workouts_a_week / 7) return []
  const one = chooseRandom(random, sports)
  const minute = isWeekend(day)
    ? randomNear(random, 600, 50)
    : random() < 0.4
      ? randomNear(random, 440, 20)
      : randomNear(random, 1080, 35)
  const woke_ms = planNight(person, day).stop_ms
  const start_ms = Math.max(localInstant(person.zone, day, Math.round(minute)), woke_ms + 20 * MINUTE_MS)
  const length = Math.round(randomBetween(random, 25, 75))
  return [
    { ...one, start_ms, stop_ms: start_ms + length * MINUTE_MS, intensity: one.intensity + randomBetween(random, -0.06, 0.08) },
  ]
}

export interface Meal {
  at_ms: number
  /** Grams. */
  carbohydrates: number
}

export function planMeals(person: Person, day: Day): Meal[] {
  const random = randomOf(person.seed, 'meals', day)
  const woke_ms = planNight(person, day).stop_ms
  const at = (minute: number) => localInstant(person.zone, day, Math.round(minute))
  const meals = [
    { at_ms: woke_ms + Math.round(randomBetween(random, 20, 60)) * MINUTE_MS, carbohydrates: randomBetween(random, 25, 60) },
    { at_ms: at(randomNear(random, 755, 20)), carbohydrates: randomBetween(random, 40, 85) },
    { at_ms: at(randomNear(random, 1135, 25)), carbohydrates: randomBetween(random, 35, 95) },
  ]
  return random() < 0.4
    ? [...meals, { at_ms: at(randomNear(random, 945, 20)), carbohydrates: randomBetween(random, 12, 30) }]
    : meals
}

/** What share of the steps of a day falls into each hour. */
const ofHours = [0, 0, 0, 0, 0, 0.2, 0.9, 1.6, 1.5, 0.7, 0.7, 0.8, 1.7, 1.1, 0.7, 0.8, 1, 1.6, 1.7, 1.1, 0.8, 0.5, 0.3, 0.1]
const ALL_HOURS = ofHours.reduce((sum, share) => sum + share, 0)

export interface HourOfSteps {
  at_ms: number
  steps: number
  meters: number
  /** Steps outside of workouts. */
  walkedSteps: number
}

/** The steps of each hour, workouts included; hours asleep have none. */
export function planSteps(person: Person, day: Day): HourOfSteps[] {
  const random = randomOf(person.seed, 'steps', day)
  const target = Math.max(1500, randomNear(random, person.steps * (isWeekend(day) ? 0.85 : 1), person.steps * 0.22))
  const [night, next, workouts] = [planNight(person, day), planNight(person, day + 1), planWorkouts(person, day)]
  const hours: HourOfSteps[] = []
  for (let hour = 0; hour < 24; hour++) {
    const share = Math.max(0, randomNear(random, ofHours[hour]!, ofHours[hour]! * 0.35)) / ALL_HOURS
    const at_ms = localInstant(person.zone, day, hour * 60)
    if (at_ms === hours.at(-1)?.at_ms) continue
    const awake_ms = Math.max(0, Math.min(at_ms + HOUR_MS, next.start_ms) - Math.max(at_ms, night.stop_ms))
    let steps = target * share * (awake_ms / HOUR_MS)
    const walked = steps
    let meters = steps * person.height_cm * 0.0042
    for (const workout of workouts) {
      const minutes = Math.max(0, Math.min(at_ms + HOUR_MS, workout.stop_ms) - Math.max(at_ms, workout.start_ms)) / MINUTE_MS
      steps += minutes * workout.steps_a_minute
      if (workout.steps_a_minute > 100) meters += minutes * workout.meters_a_minute
    }
    hours.push({ at_ms, steps: Math.round(steps), meters: roundTo(meters), walkedSteps: Math.round(walked) })
  }
  return hours
}

/** First day of the menstrual cycle that a day is in. */
export function cycleStart(person: Person, day: Day): Day {
  return day - ((((day - person.cycle_from) % person.cycle_days) + person.cycle_days) % person.cycle_days)
}

/** The range of instants of a local day. */
export const dayRange = (person: Person, day: Day): [from_ms: number, to_ms: number] => [
  localInstant(person.zone, day, 0),
  localInstant(person.zone, day + 1, 0),
]
