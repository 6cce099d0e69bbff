// Zones of heart rate of workouts whose source sends none: computed when a workout, its stream or heart rates during it are stored.
// Source: users-wearables.md 8.
import { dailyEvent } from '../resources/event-types.ts'
import type { User } from '../../people/users/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { emit } from '../../platform/queue/outbox.ts'
import { heartRatesOfStream, keysWithStream, type IncomingStream } from '../streams/workout-streams.ts'
import type { Summary } from '../summaries/summaries.ts'
import { birthDateInProfile, workoutsWithoutZones, writeZones, type WorkoutSpan } from '../summaries/workout-zones.ts'
import { type MergedSamples, chunksOfHours, type SourceChunk } from '../timeseries/chunks.ts'
import { HOUR_MS } from '../../platform/runtime/durations.ts'

/** Hours of heart rates that are read at once; of a longer workout all are. */
const HOURS_MAX = 200

/**
 * Locks the workouts and heart rates of a user until the transaction ends: of a workout and heart rates that are stored at the same time,
 * the later ones see the earlier ones. Called before anything of them is written.
 */
export const lockHeartRates = (tx: Tx, user_id: string): Promise<number> =>
  tx.locking.run(
    sql`select pg_advisory_xact_lock(hashtextextended('heart rates ' || current_schema() || ' ' || ${user_id}::text, 0))`,
  )

/**
 * Computes the zones of the workouts with some keys whose source has sent none, of their streams, else of the heart rates of their provider. Writes
 * summary.
 * @param streams that will be stored with these workouts
 * @returns the workouts that are shown with other zones than before, by key
 */
export async function updateZones(
  tx: Tx,
  user: User,
  provider: string,
  keys: string[],
  streams: IncomingStream[] = [],
): Promise<Map<string, Summary>> {
  return keys.length
    ? computeZones(tx, user, provider, await workoutsWithoutZones(tx, user.user_id, provider, { keys }), streams)
    : new Map()
}

/**
 * As `updateZones`, for the workouts in which heart rates were new or have changed. Emits daily.data.workouts.updated.
 * @returns the days of the workouts that are shown with other zones
 */
export async function updateZonesAt(
  tx: Tx,
  user: User,
  provider: string,
  mergedSeries: MergedSamples[],
  { historical }: { historical: boolean },
): Promise<number[]> {
  const changed = mergedSeries.flatMap(({ createdSamples, updatedSamples }) => [createdSamples, updatedSamples])
  let [from_ms, to_ms] = [Infinity, -Infinity]
  for (const samples of changed)
    for (const { at_ms } of samples) {
      if (at_ms < from_ms) from_ms = at_ms
      if (at_ms > to_ms) to_ms = at_ms
    }
  if (from_ms > to_ms) return []
  const around = await workoutsWithoutZones(tx, user.user_id, provider, { from_ms, to_ms })
  if (!around.length) return []
  const ordered = Float64Array.from(changed.flatMap((samples) => samples.map(({ at_ms }) => at_ms))).sort()
  const touched = around.filter((workout) => hasBetween(ordered, workout.from_ms, workout.to_ms))
  return emitUpdated(tx, user, await computeZones(tx, user, provider, touched, []), { historical })
}

/** Emits that workouts are shown with other zones. Emits daily.data.workouts.updated. @returns their days */
export function emitUpdated(
  tx: Tx,
  { user_id, client_user_id }: User,
  workouts: Map<string, Summary>,
  { historical }: { historical: boolean },
): number[] {
  return [...workouts.values()].map((summary) => {
    const data = JSON.stringify(summary)
    emit(tx, { type: dailyEvent('workouts', 'updated'), object_id: summary.id, user_id, client_user_id, data, historical })
    return Date.parse(summary.calendar_date as string)
  })
}

/** Whether one of the ascending numbers is at least `from` and below `to`. */
function hasBetween(ascending: Float64Array, from_ms: number, to_ms: number): boolean {
  let [low, high] = [0, ascending.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ascending[middle]! < from_ms) low = middle + 1
    else high = middle
  }
  return low < ascending.length && ascending[low]! < to_ms
}

async function computeZones(
  tx: Tx,
  user: User,
  provider: string,
  workouts: WorkoutSpan[],
  streams: IncomingStream[],
): Promise<Map<string, Summary>> {
  if (!workouts.length) return new Map()
  const { user_id } = user
  const birth_date = (await birthDateInProfile(tx, user_id)) ?? user.fallback_birth_date?.value ?? null
  const given = new Map(streams.map((stream) => [stream.key, stream]))
  const stored = await keysWithStream(
    tx,
    user_id,
    provider,
    workouts.map(({ key }) => key),
  )
  const zones = new Map<string, number[]>()
  const compute = (workout: WorkoutSpan, rates: HeartRates | undefined) => {
    const max_bpm = maxHeartRate(birth_date, workout.calendar_date)
    const found = rates && zonesBetween(rates, workout.from_ms, workout.to_ms, max_bpm)
    if (found) zones.set(workout.key, found)
  }
  for (const workout of workouts) {
    const { key } = workout
    const stream = given.get(key)
    if (stream) compute(workout, toHeartRates(stream.time, stream.lists.heartrate))
    else if (stored.has(key)) {
      // One after the other: each may have a hundred thousand values.
      const { time, heartrate } = await heartRatesOfStream(tx, user_id, provider, key)
      compute(workout, toHeartRates(time, heartrate))
    }
  }
  const others = workouts.filter(({ key }) => !zones.has(key))
  for (const some of inParts(others)) {
    const hours = [...new Set(some.flatMap(hoursOf))]
    const chunks = await chunksOfHours(tx, { user_id, resource: 'heartrate', provider }, hours)
    for (const workout of some) compute(workout, samplesDuring(workout, chunks))
  }
  return writeZones(
    tx,
    user_id,
    provider,
    workouts.map(({ key }) => ({ key, zones: zones.get(key) ?? null })),
  )
}

const toHeartRates = (time: number[], bpm: (number | null)[] | undefined): HeartRates | undefined =>
  bpm?.length ? { at_ms: time.map((second) => second * 1000), bpm } : undefined

/** The hours that a workout touches. */
function hoursOf({ from_ms, to_ms }: WorkoutSpan): number[] {
  const first = Math.floor(from_ms / HOUR_MS)
  return Array.from({ length: Math.ceil(to_ms / HOUR_MS) - first }, (_, i) => (first + i) * HOUR_MS)
}

function* inParts(workouts: WorkoutSpan[]): Generator<WorkoutSpan[]> {
  let [part, hours] = [[] as WorkoutSpan[], 0]
  for (const workout of workouts) {
    const more = hoursOf(workout).length
    if (part.length && hours + more > HOURS_MAX) {
      yield part
      ;[part, hours] = [[], 0]
    }
    part.push(workout)
    hours += more
  }
  if (part.length) yield part
}

/**
 * The heart rates during a workout: those of its own source if there are any, and of one device alone, since two that record at the same
 * time would be mixed.
 */
function samplesDuring({ from_ms, to_ms, ...workout }: WorkoutSpan, chunks: SourceChunk[]): HeartRates | undefined {
  const series = new Map<number, { source: SourceChunk['source']; at_ms: number[]; bpm: number[] }>()
  for (const { series_id, source, chunk } of chunks) {
    if (chunk.hour_ms + HOUR_MS <= from_ms || chunk.hour_ms >= to_ms) continue
    const one = series.get(series_id) ?? { source, at_ms: [], bpm: [] }
    for (const [i, at] of chunk.at.entries()) {
      const at_ms = chunk.hour_ms + at
      if (at_ms < from_ms || at_ms >= to_ms) continue
      one.at_ms.push(at_ms)
      one.bpm.push(chunk.values[i]!)
    }
    if (one.at_ms.length) series.set(series_id, one)
  }
  const isOwn = ({ source_type, app_id }: SourceChunk['source']) =>
    source_type === workout.source_type && app_id === workout.app_id
  const rank = ({ source, at_ms }: { source: SourceChunk['source']; at_ms: number[] }) => [
    Number(isOwn(source)),
    Number(isOwn(source) && source.device_id !== null && source.device_id === workout.device_id),
    at_ms.length,
  ]
  const [best] = [...series.values()].toSorted((a, b) => {
    const [x, y] = [rank(a), rank(b)]
    return y[0]! - x[0]! || y[1]! - x[1]! || y[2]! - x[2]!
  })
  return best
}

// From heart rates to seconds in six zones. Source: users-wearables.md 8.

/** Heart rates by time, oldest first. */
interface HeartRates {
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

/** Whole years from a birth date to a day, both `YYYY-MM-DD`; undefined if that is not an age. */
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
export function zonesBetween({ at_ms, bpm }: HeartRates, from_ms: number, to_ms: number, max_bpm: number): number[] | null {
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
