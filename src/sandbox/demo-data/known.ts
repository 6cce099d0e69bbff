// What of a fictional person is known at an instant: devices pass on late what they measure, and a part of it very late.
import { HOUR_MS, MINUTE_MS } from '../../platform/runtime/durations.ts'
import { localInstant, type Day, type Person } from './person.ts'
import { randomBetween, randomOf } from './random.ts'

/** Until a device has passed on what it measured. */
export const LAG_MS = 10 * MINUTE_MS
/** When the night of a device is final. */
export const CONFIRMED_MS = 6 * HOUR_MS
/** How many days before the present one still change: late hours of a day are there in the morning of the next one. */
export const OPEN_DAYS = 1

/** Hours whose data comes late, on some days: the phone was not near the device. */
function lateHours({ seed, zone }: Person, day: Day): { from_ms: number; to_ms: number; until_ms: number } | undefined {
  const random = randomOf(seed, 'late', day)
  if (random() >= 0.17) return undefined
  const from_ms = localInstant(zone, day, Math.round(randomBetween(random, 8, 18)) * 60)
  const to_ms = from_ms + 3 * HOUR_MS
  return { from_ms, to_ms, until_ms: to_ms + Math.round(randomBetween(random, 3, 9)) * HOUR_MS }
}

/** Whether a measurement that ends at an instant is known. */
export function isKnown(person: Person, day: Day, known_ms: number): (at_ms: number) => boolean {
  const late = lateHours(person, day)
  return (at_ms) =>
    at_ms + LAG_MS <= known_ms && !(late && at_ms >= late.from_ms && at_ms < late.to_ms && known_ms < late.until_ms)
}
