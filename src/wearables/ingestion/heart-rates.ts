// From heart rates to seconds in six zones. Source: users-wearables.md 8.
/** Heart rates by time, oldest first. */
export interface HeartRates {
  at_ms: number[]
  /** As long as `at_ms`. */
  bpm: (number | null)[]
}

const ZONES = 6
/** After that nothing is known until the next value. */
const HELD_MS = 300_000
/** Values that cannot be meant count as absent, as in streams. */
const [BPM_MIN, BPM_MAX] = [1, 300]
const DEFAULT_AGE = 30
const AGE_MAX = 130

/** Whole years from a birth date to a day, both `YYYY-MM-DD`; undefined if that is no age. */
function ageOn(birth_date: string, day: string): number | undefined {
  if (Number.isNaN(Date.parse(birth_date))) return undefined
  const years = Number(day.slice(0, 4)) - Number(birth_date.slice(0, 4)) - (day.slice(5) < birth_date.slice(5, 10) ? 1 : 0)
  return years >= 0 && years <= AGE_MAX ? years : undefined
}

/** The largest heart rate at an age, for a workout on a day. */
export const maxHeartRate = (birth_date: string | null, day: string): number =>
  220 - ((birth_date !== null ? ageOn(birth_date, day) : undefined) ?? DEFAULT_AGE)

/**
 * The seconds between two instants in the zones below 50 %, 50-60, 60-70, 70-80, 80-90 and from 90 % of the largest heart rate. A value
 * counts until the next one, at most 5 minutes. Null if nothing is known.
 */
export function zonesOf({ at_ms, bpm }: HeartRates, from_ms: number, to_ms: number, max_bpm: number): number[] | null {
  const zones = Array.from({ length: ZONES }, () => 0)
  let [since_ms, zone] = [0, -1]
  const add = (until_ms: number) => {
    if (zone >= 0) zones[zone]! += Math.max(0, Math.min(until_ms, since_ms + HELD_MS) - since_ms)
  }
  for (const [i, at] of at_ms.entries()) {
    const value = bpm[i]!
    if (at < from_ms || value === null || !(value >= BPM_MIN && value <= BPM_MAX)) continue
    if (at >= to_ms) break
    add(at)
    since_ms = at
    zone = Math.min(ZONES - 1, Math.max(0, Math.floor((value * 10) / max_bpm) - 4))
  }
  add(to_ms)
  return zone < 0 ? null : zones.map((ms) => Math.round(ms / 1000))
}
