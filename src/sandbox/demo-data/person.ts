// Who the fictional person behind demo data is: what stays the same from day to day.
import { zoneOffset } from '../../wearables/resources/zones.ts'
import { randomNear, randomBetween, randomOf, roundTo } from './random.ts'
import { DAY_MS, MINUTE_MS } from '../../platform/runtime/durations.ts'

export interface Person {
  seed: string
  zone: string
  sex: 'female' | 'male'
  birth_date: string
  height_cm: number
  weight_kg: number
  resting_bpm: number
  max_bpm: number
  /** Minutes after midnight, on a day of work. */
  wakes_min: number
  sleeps_min: number
  steps: number
  workouts_a_week: number
  glucose: number
  /** Days of a menstrual cycle, and the first day of one. */
  cycle_days: number
  cycle_from: number
}

/** The person of a seed. */
export function createPerson(seed: string, zone: string): Person {
  const random = randomOf(seed, 'person')
  const sex = random() < 0.5 ? 'female' : 'male'
  const birth_year = Math.floor(randomBetween(random, 1962, 2001))
  const height_cm = Math.round(randomNear(random, sex === 'female' ? 166 : 179, 6))
  return {
    seed,
    zone,
    sex,
    birth_date: `${birth_year}-${String(1 + Math.floor(random() * 12)).padStart(2, '0')}-${String(1 + Math.floor(random() * 28)).padStart(2, '0')}`,
    height_cm,
    weight_kg: roundTo(randomBetween(random, 21, 27) * (height_cm / 100) ** 2, 1),
    resting_bpm: Math.round(randomNear(random, 58, 5)),
    max_bpm: 220 - (2026 - birth_year),
    wakes_min: Math.round(randomNear(random, 405, 30)),
    sleeps_min: Math.round(randomNear(random, 465, 25)),
    steps: Math.round(randomNear(random, 8200, 2000)),
    workouts_a_week: Math.round(randomBetween(random, 2, 5)),
    glucose: roundTo(randomNear(random, 5.1, 0.25), 2),
    cycle_days: Math.round(randomNear(random, 28, 1.5)),
    cycle_from: 20_000 + Math.floor(random() * 28),
  }
}

/** Days since 1970, of the calendar. */
export type Day = number
export const dateOf = (day: Day): string => new Date(day * DAY_MS).toISOString().slice(0, 10)
/** The provider's id of the workout of a day. */
export const workoutKey = (day: Day): string => `demo-workout-${dateOf(day)}`
/** Monday is 0. */
export const weekdayOf = (day: Day): number => (((day + 3) % 7) + 7) % 7
export const isWeekend = (day: Day): boolean => weekdayOf(day) > 4

/** The instant of a local time, in minutes after midnight. A time that a change of clocks skips is an hour later. */
export function localInstant(zone: string, day: Day, minutes: number): number {
  const plain = day * DAY_MS + minutes * MINUTE_MS
  const first = plain - zoneOffset(zone, plain) * 1000
  return plain - zoneOffset(zone, first) * 1000
}

/** The local day of an instant. */
export const localDay = (zone: string, at_ms: number): Day => Math.floor((at_ms + zoneOffset(zone, at_ms) * 1000) / DAY_MS)
