// The workouts of a FIT file: its sessions, completed by what its laps, lengths and records say, or the whole of an activity without one.
import type { FitContents } from './fit-contents.ts'
import { numberIn, TIMESTAMP, type FitMessage } from './fit-messages.ts'

export interface Leg {
  start_ms: number
  end_ms: number
  /** Its session; an empty message if the file has none. */
  session: FitMessage
  sport: number | undefined
  sub_sport: number | undefined
  moving_s: number | undefined
  distance_m: number | undefined
  calories: number | undefined
}

const NO_SESSION: FitMessage = { number: -1, fields: new Map() }
const ACTIVITY_FILE = 4
const ACTIVE = 1

/** Numbers of fields that sessions and laps share. */
const START = 2
const ELAPSED = 7
const TIMER = 8
const DISTANCE = 9
const CALORIES = 11

/** What a lap or a length says of its time. */
interface Part {
  message: FitMessage
  start_ms: number
  end_ms: number
}

/** The workouts in order; a session whose times nothing in the file says is undefined. */
export function legsOf(contents: FitContents): (Leg | undefined)[] {
  const { sessions, id, times } = contents
  const laps = contents.laps.flatMap((lap) => toParts(contents, lap, ELAPSED))
  const lengths = contents.lengths.flatMap((length) => toParts(contents, length, 3))
  const parts = { laps, lengths }
  if (!sessions.length) {
    const type = id && numberIn(id, 0)
    if (type !== undefined && type !== ACTIVITY_FILE) return []
    const leg = buildLeg(contents, parts, NO_SESSION, -Infinity, Infinity)
    return leg ? [leg] : []
  }
  let before_ms = -Infinity
  return sessions.map((session, i) => {
    const next_ms = sessions.slice(i + 1).flatMap((session) => times.instantIn(session, START) ?? [])[0]
    const until_ms = Math.min(times.instantIn(session) ?? Infinity, next_ms ?? Infinity)
    const leg = buildLeg(contents, parts, session, before_ms, until_ms)
    if (leg) before_ms = leg.end_ms + 1
    return leg
  })
}

function toParts({ times }: FitContents, message: FitMessage, elapsed_field: number): Part[] {
  const [start, elapsed] = [times.instantIn(message, START), numberIn(message, elapsed_field, 1000)]
  const end = times.instantIn(message) ?? (start !== undefined && elapsed !== undefined ? start + elapsed * 1000 : undefined)
  if (start === undefined && end === undefined) return []
  const start_ms = start ?? end! - (elapsed ?? 0) * 1000
  return [{ message, start_ms, end_ms: Math.max(start_ms, end ?? start_ms) }]
}

/** The first and the last instant that records, laps and lengths have within a span. */
function findExtent({ records_ms }: FitContents, { laps, lengths }: Parts, from_ms: number, to_ms: number) {
  let [first_ms, last_ms] = [Infinity, -Infinity]
  const add = (start: number, end: number) => {
    if (start < from_ms || start > to_ms) return
    if (start < first_ms) first_ms = start
    if (end > last_ms) last_ms = end
  }
  for (const at_ms of records_ms) add(at_ms, at_ms)
  for (const { start_ms, end_ms } of [...laps, ...lengths]) add(start_ms, end_ms)
  return first_ms === Infinity ? undefined : { first_ms, last_ms }
}

interface Parts {
  laps: Part[]
  lengths: Part[]
}

function buildLeg(contents: FitContents, parts: Parts, session: FitMessage, from_ms: number, until_ms: number): Leg | undefined {
  const { times } = contents
  // A device that went out writes zeros.
  const [elapsed_s, timer_s] = [numberIn(session, ELAPSED, 1000) || undefined, numberIn(session, TIMER, 1000) || undefined]
  const said_ms = times.instantIn(session, START)
  const extent = findExtent(contents, parts, said_ms ?? from_ms, until_ms)
  const written_ms = times.instantIn(session, TIMESTAMP)
  const length_s = elapsed_s ?? timer_s
  const start_ms =
    said_ms ?? extent?.first_ms ?? (written_ms !== undefined && length_s !== undefined ? written_ms - length_s * 1000 : undefined)
  if (start_ms === undefined) return undefined
  const end_ms =
    elapsed_s !== undefined
      ? start_ms + elapsed_s * 1000
      : (extent?.last_ms ?? written_ms ?? (timer_s === undefined ? undefined : start_ms + timer_s * 1000))
  if (end_ms === undefined || end_ms < start_ms) return undefined
  const isInside = ({ start_ms: at_ms }: Part) => at_ms >= start_ms && at_ms < Math.max(end_ms, start_ms + 1)
  const laps = parts.laps.filter(isInside)
  const lengths = parts.lengths.filter(isInside)
  const [lap] = laps
  const said_m = numberIn(session, DISTANCE, 100)
  return {
    start_ms,
    end_ms,
    session,
    sport: numberIn(session, 5) ?? (lap && numberIn(lap.message, 25)) ?? (contents.sport && numberIn(contents.sport, 0)),
    sub_sport: numberIn(session, 6) ?? (lap && numberIn(lap.message, 39)) ?? (contents.sport && numberIn(contents.sport, 1)),
    moving_s: timer_s ?? sumField(laps, TIMER, 1000) ?? runningTime(contents.timer, start_ms, end_ms),
    distance_m: said_m || (swumDistance(session, lengths) ?? sumField(laps, DISTANCE, 100) ?? said_m),
    calories: numberIn(session, CALORIES) ?? sumField(laps, CALORIES, 1),
  }
}

/** The sum of a field of laps; undefined unless each has it. */
function sumField(laps: Part[], field: number, scale: number): number | undefined {
  const values = laps.flatMap(({ message }) => numberIn(message, field, scale) ?? [])
  return laps.length && values.length === laps.length ? values.reduce((a, b) => a + b, 0) : undefined
}

/** Meters in a pool: how often it was crossed, by the lengths of the file or as the session counts them. */
function swumDistance(session: FitMessage, lengths: Part[]): number | undefined {
  const pool_m = numberIn(session, 44, 100)
  if (!pool_m) return undefined
  const isActive = ({ message }: Part) => (numberIn(message, 12) ?? ACTIVE) === ACTIVE
  const count = lengths.length ? lengths.filter(isActive).length : numberIn(session, 47)
  return count === undefined ? undefined : count * pool_m
}

/** Seconds that the timer ran; undefined without a start. */
function runningTime(timer: FitContents['timer'], start_ms: number, end_ms: number): number | undefined {
  let [since_ms, sum_ms, hasStarted] = [undefined as number | undefined, 0, false]
  for (const { at_ms, isRunning } of timer) {
    if (at_ms < start_ms || at_ms > end_ms) continue
    if (isRunning) {
      since_ms ??= at_ms
      hasStarted = true
    } else if (since_ms !== undefined) {
      sum_ms += Math.max(0, at_ms - since_ms)
      since_ms = undefined
    }
  }
  if (since_ms !== undefined) sum_ms += Math.max(0, end_ms - since_ms)
  return hasStarted ? sum_ms / 1000 : undefined
}
