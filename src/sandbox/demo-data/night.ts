// The nights of a fictional person: cycles of about 90 minutes, with less deep and more REM sleep towards the morning.
import { isWeekend, localInstant, type Day, type Person } from './person.ts'
import { randomNear, randomBetween, randomOf } from './random.ts'
import { MINUTE_MS } from '../../platform/runtime/durations.ts'

/** As they are shown: 1 deep, 2 light, 3 REM, 4 awake. */
export type StageType = 1 | 2 | 3 | 4
export interface Stage {
  type: StageType
  from_s: number
  to_s: number
}

export interface Night {
  start_ms: number
  stop_ms: number
  stages: Stage[]
  /** The device takes the last minutes for waking at first, and knows better hours later. */
  first_stop_ms: number
}

const SECONDS = 60

/** The night that ends on a day. */
export function planNight(person: Person, day: Day): Night {
  const random = randomOf(person.seed, 'night', day)
  const wakes = person.wakes_min + (isWeekend(day) ? 50 : 0) + randomNear(random, 0, 14)
  const length = Math.min(600, Math.max(300, randomNear(random, person.sleeps_min + (isWeekend(day) ? 30 : 0), 26)))
  const stop_ms = localInstant(person.zone, day, Math.round(wakes))
  const start_ms = stop_ms - Math.round(length) * MINUTE_MS
  const total_s = (stop_ms - start_ms) / 1000
  const stages: Stage[] = []
  let at = 0
  const add = (type: StageType, minutes: number) => {
    const to_s = Math.min(total_s, at + Math.max(1, Math.round(minutes)) * SECONDS)
    if (to_s > at) stages.push({ type, from_s: at, to_s })
    at = to_s
  }
  add(4, randomBetween(random, 3, 18))
  for (let cycle = 0; at < total_s; cycle++) {
    const minutes = randomNear(random, 92, 7)
    const deep = Math.max(0.03, 0.34 - 0.1 * cycle) * minutes
    const rem = Math.min(0.4, 0.09 + 0.07 * cycle) * minutes
    const light = minutes - deep - rem
    add(2, light * randomBetween(random, 0.3, 0.45))
    add(1, deep)
    add(2, light * randomBetween(random, 0.3, 0.45))
    add(3, rem)
    if (random() < 0.55) add(4, randomBetween(random, 1, 7))
  }
  const isRefined = randomOf(person.seed, 'refined night', day)() < 0.35
  return { start_ms, stop_ms, stages, first_stop_ms: isRefined ? stop_ms - 20 * MINUTE_MS : stop_ms }
}

/** The stages until an instant. */
export const stagesUntil = ({ start_ms, stages }: Night, stop_ms: number): Stage[] => {
  const end_s = (stop_ms - start_ms) / 1000
  return stages.filter(({ from_s }) => from_s < end_s).map((stage) => ({ ...stage, to_s: Math.min(stage.to_s, end_s) }))
}

/** The stage of an instant; undefined outside of the night. */
export function stageAt({ start_ms, stages }: Night, at_ms: number): StageType | undefined {
  const second = (at_ms - start_ms) / 1000
  return stages.find(({ from_s, to_s }) => second >= from_s && second < to_s)?.type
}
