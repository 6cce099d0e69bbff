// Heart rates and glucose of a fictional person through the day.
import { type Day, type Person } from './person.ts'
import { planMeals, planWorkouts, dayRange } from './day-plan.ts'
import { planNight, stageAt, type Night } from './night.ts'
import { randomNear, randomBetween, randomOf, roundTo } from './random.ts'
import { HOUR_MS, MINUTE_MS } from '../../platform/runtime/durations.ts'

export interface Measured {
  at_ms: number
  value: number
}

const GRID_MIN = 5
const GLUCOSE_GRID_MIN = 15

/** Heart rate by stage of sleep, relative to the resting one. */
const ofStages = { 1: -4, 2: 0, 3: 3, 4: 9 } as const

/** Lowest in the early morning, highest in the late afternoon. */
const circadian = (since_midnight_ms: number): number => Math.cos((2 * Math.PI * (since_midnight_ms / HOUR_MS - 16.5)) / 24)

const isDuring = ({ start_ms, stop_ms }: Pick<Night, 'start_ms' | 'stop_ms'>, at_ms: number) =>
  at_ms >= start_ms && at_ms < stop_ms

/** The heart rates of a person that were made; a day, a night and a workout need the same ones. */
const made = new WeakMap<Person, Map<Day, Measured[]>>()

/** Every five minutes, and every minute of a workout. */
export function heartRates(person: Person, day: Day): Measured[] {
  const known = made.get(person) ?? new Map<Day, Measured[]>()
  made.set(person, known)
  const samples = known.get(day) ?? createHeartRates(person, day)
  known.set(day, samples)
  return samples
}

function createHeartRates(person: Person, day: Day): Measured[] {
  const random = randomOf(person.seed, 'heart', day)
  const nights = [planNight(person, day), planNight(person, day + 1)]
  const workouts = [...planWorkouts(person, day - 1), ...planWorkouts(person, day)]
  const reserve = person.max_bpm - person.resting_bpm
  const samples: Measured[] = []
  let errand = 0
  const [from_ms, to_ms] = dayRange(person, day)
  for (let at_ms = from_ms, minute = 0; at_ms < to_ms; at_ms += MINUTE_MS, minute++) {
    const noise = randomNear(random, 0, 2.2)
    // Short bursts of movement, which die down within minutes.
    errand = random() < 0.012 ? randomBetween(random, 8, 28) : errand * 0.86
    const night = nights.find((candidate) => isDuring(candidate, at_ms))
    const workout = workouts.find((candidate) => isDuring(candidate, at_ms))
    if (minute % GRID_MIN && !workout) continue
    let bpm = person.resting_bpm + 15 + 6 * circadian(at_ms - from_ms) + errand
    if (night) {
      const progress = (at_ms - night.start_ms) / (night.stop_ms - night.start_ms)
      bpm = person.resting_bpm + 3 - 5 * Math.sin(Math.PI * Math.min(1, progress * 1.2)) + ofStages[stageAt(night, at_ms) ?? 2]
    }
    for (const { start_ms, stop_ms, intensity } of workouts) {
      const level = person.resting_bpm + reserve * intensity
      const rise = 1 - Math.exp(-Math.min(at_ms - start_ms, stop_ms - start_ms) / (4 * MINUTE_MS))
      if (at_ms >= start_ms && at_ms < stop_ms) bpm += (level - bpm) * rise + 4 * Math.sin(at_ms / (7 * MINUTE_MS))
      else if (at_ms >= stop_ms) bpm += Math.max(0, level - bpm) * rise * Math.exp(-(at_ms - stop_ms) / (9 * MINUTE_MS))
    }
    samples.push({ at_ms, value: Math.round(Math.min(person.max_bpm, Math.max(38, bpm + noise))) })
  }
  return samples
}

/** Variability of the heart rate in the night, every five minutes; higher in deep sleep. */
export function heartRateVariability(person: Person, day: Day): Measured[] {
  const random = randomOf(person.seed, 'variability', day)
  const night = planNight(person, day)
  const level = randomNear(random, 105 - person.resting_bpm, 6)
  const samples: Measured[] = []
  for (let at_ms = night.start_ms; at_ms < night.stop_ms; at_ms += GRID_MIN * MINUTE_MS) {
    const stage = stageAt(night, at_ms)
    const value = randomNear(random, level + (stage === 1 ? 9 : stage === 4 ? -8 : 0), 7)
    samples.push({ at_ms, value: Math.round(Math.max(12, value)) })
  }
  return samples
}

/** How far the carbohydrates of a meal raise glucose, after a number of minutes: highest after three quarters of an hour. */
const response = (minutes: number): number => (minutes <= 0 ? 0 : (minutes / 45) * Math.exp(1 - minutes / 45))

/** Every quarter of an hour, in mmol/L. */
export function glucoseLevels(person: Person, day: Day): Measured[] {
  const random = randomOf(person.seed, 'glucose', day)
  const meals = [...planMeals(person, day - 1), ...planMeals(person, day)]
  const workouts = [...planWorkouts(person, day - 1), ...planWorkouts(person, day)]
  const [from_ms, to_ms] = dayRange(person, day)
  const { stop_ms: woke_ms } = planNight(person, day)
  const samples: Measured[] = []
  for (let at_ms = from_ms; at_ms < to_ms; at_ms += GLUCOSE_GRID_MIN * MINUTE_MS) {
    let level = person.glucose
    for (const meal of meals) level += (meal.carbohydrates / 28) * response((at_ms - meal.at_ms) / MINUTE_MS)
    for (const { start_ms, stop_ms } of workouts) if (at_ms > start_ms && at_ms < stop_ms + HOUR_MS) level -= 0.6
    // It rises before waking.
    level += 0.5 * Math.exp(-(((at_ms - woke_ms) / (1.5 * HOUR_MS)) ** 2))
    samples.push({ at_ms, value: roundTo(Math.min(16, Math.max(3.2, level + randomNear(random, 0, 0.14))), 1) })
  }
  return samples
}
