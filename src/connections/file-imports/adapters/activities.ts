// What an activity in a FIT, TCX or GPX file comes to: a workout, and its heart rates as samples.
import { createHash } from 'node:crypto'
import { toWorkout } from '../../mobile-sdk/summaries.ts'
import type { SentWorkout } from '../../mobile-sdk/summary-schema.ts'
import { distancesAlong, mapOf, type StreamPoints } from '../../../wearables/streams/stream-points.ts'
import type { IncomingStream } from '../../../wearables/streams/workout-streams.ts'
import type { SourceType } from '../../../wearables/resources/timeseries.ts'
import type { Document } from '../../../wearables/summaries/schema.ts'
import type { Batches } from '../batches.ts'
import { isPlausible, offsetAt, storable, type ReadContext } from '../reading.ts'
import { zoneName } from './apple-values.ts'

const SESSION_MS_MAX = 7 * 86_400_000

export interface Activity {
  provider: string
  /** The name of the device or program that wrote the file. */
  app: string | undefined
  sport: string
  start_ms: number
  end_ms: number
  /** Seconds east of UTC; null if the file does not say. */
  zone_s: number | null
  moving_s?: number | undefined
  distance_m?: number | undefined
  calories?: number | undefined
  ascent_m?: number | undefined
  mean_bpm?: number | undefined
  max_bpm?: number | undefined
  otherFields?: Pick<Document<'workouts'>, 'average_speed' | 'max_speed' | 'average_watts' | 'max_watts'>
  /** Heart rates, in any order. */
  rates: [at_ms: number, bpm: number][]
  /** What was recorded in the course of it. */
  points: StreamPoints
}

/** Slugs of providers by what names of devices and programs begin with, in small letters. */
const providers: [prefix: string, slug: string][] = [
  ['garmin', 'garmin'],
  ['forerunner', 'garmin'],
  ['edge', 'garmin'],
  ['fenix', 'garmin'],
  ['strava', 'strava'],
  ['wahoo', 'wahoo'],
  ['polar', 'polar'],
  ['zwift', 'zwift'],
  ['hammerhead', 'hammerhead'],
  ['karoo', 'hammerhead'],
  ['peloton', 'peloton'],
  ['fitbit', 'fitbit'],
  ['runkeeper', 'runkeeper'],
  ['mapmy', 'map_my_fitness'],
]
/** A file whose origin is not known was brought along by hand. */
const UNKNOWN = 'manual'

export const providerOf = (name: string | undefined): string => {
  const text = (name ?? '').toLowerCase()
  return providers.find(([prefix]) => text.startsWith(prefix))?.[1] ?? UNKNOWN
}

/** From many numbers their mean and largest; undefined without any. */
function statisticsOf(rates: Activity['rates']): { mean: number; max: number } | undefined {
  if (!rates.length) return undefined
  let [sum, max] = [0, 0]
  for (const [, bpm] of rates) {
    sum += bpm
    if (bpm > max) max = bpm
  }
  return { mean: sum / rates.length, max }
}

/** By the name of a sport, or that of its kind in a FIT file. */
const ON_FOOT = /run|walk|hik|trail|treadmill|street|^track$/i
/** No person takes so many steps with one foot. */
const STRIDES_MAX = 130

/** The stream of an activity. Files count the steps of one foot, as revolutions of a crank: those of both feet are meant. */
function createStream(key: string, sport: string, { points, distance_m, start_ms }: Activity): IncomingStream | undefined {
  if (ON_FOOT.test(sport) && (points.largest('cadence') ?? 0) <= STRIDES_MAX) points.scale('cadence', 2)
  const stream = points.stream(key)
  if (!stream) return undefined
  // A track of places has no distance of its own.
  const distance = stream.lists.distance
    ? fromZero(stream.time, stream.lists.distance, distance_m, start_ms)
    : distancesAlong(stream, points.breaks)
  return distance ? { ...stream, lists: { ...stream.lists, distance } } : stream
}

/** What is covered in the first second of a recording, and in each further one, at most. */
const FIRST_M_MAX = 10
const SPEED_MAX = 30

/**
 * Distances from the beginning of the activity. Devices count on from an earlier leg, or the watch from an earlier day: then the first
 * value is more than the activity can have covered so far, and the last one more than it covered as a whole.
 */
function fromZero(
  time: readonly number[],
  distances: readonly (number | null)[],
  total_m: number | undefined,
  start_ms: number,
): (number | null)[] {
  const at = distances.findIndex((meters) => meters !== null)
  const [first, last] = [distances[at] ?? 0, distances.findLast((meters) => meters !== null) ?? 0]
  const excess = total_m ? last - total_m : undefined
  const isCovered = excess !== undefined && Math.abs(excess) <= first / 2
  const isCarried = excess !== undefined && excess > first / 2
  const possible = FIRST_M_MAX + SPEED_MAX * Math.max(0, time[at]! - start_ms / 1000)
  const isReset = distances.some((meters) => meters !== null && meters < first)
  if (isReset || (!isCarried && (isCovered || first <= possible))) return [...distances]
  return distances.map((meters) => (meters === null ? null : Math.round((meters - first) * 100) / 100))
}

const plausibleRate = (bpm: number): boolean => bpm > 0 && bpm < 300

/**
 * Passes an activity on, with its stream. A workout is known by its provider and the second in which it began, so that the same one in another format is the
 * same workout.
 */
export async function passOn(activity: Activity, batches: Batches, context: ReadContext): Promise<void> {
  const { provider, sport, zone_s, otherFields: more } = activity
  const [start_ms, end_ms] = [activity.start_ms, activity.end_ms].map((ms) => Math.floor(ms / 1000) * 1000) as [number, number]
  if (!isPlausible(start_ms, end_ms, context, SESSION_MS_MAX)) return batches.skip('invalid_time', 'workouts')
  if (batches.provider !== provider) await batches.flush()
  batches.provider = provider
  const app_id = storable(activity.app, 300)
  const source_type: SourceType = 'unknown'
  const rates = activity.rates.filter(([, bpm]) => plausibleRate(bpm))
  const found = statisticsOf(rates)
  const key = `file:${createHash('sha256').update(`${provider} ${start_ms}`).digest('base64url').slice(0, 32)}`
  const sportName = storable(sport, 100) ?? 'Other'
  const stream = createStream(key, sportName, activity)
  const fields = {
    moving_time: activity.moving_s,
    distance: activity.distance_m ?? stream?.lists.distance?.findLast((meters) => meters !== null) ?? undefined,
    calories: activity.calories,
    ascent_elevation: activity.ascent_m,
    heart_rate_mean: activity.mean_bpm ?? found?.mean,
    heart_rate_maximum: activity.max_bpm ?? found?.max,
  }
  const sent: SentWorkout = {
    id: key,
    sport: sportName,
    start_date: new Date(start_ms).toISOString(),
    end_date: new Date(end_ms).toISOString(),
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && Number.isFinite(value))),
  }
  const record = toWorkout(sent, { zone: zone_s === null ? (context.zone ?? null) : zoneName(zone_s) })
  const document = { ...record.document, ...more, ...(stream && { map: mapOf(stream) }) }
  const summary = { kind: 'workouts', record: { ...record, source_type, app_id, document } } as const
  batches.summary(stream ? { ...summary, stream } : summary)
  for (const [at, bpm] of rates) {
    const at_ms = Math.floor(at / 1000) * 1000
    if (!isPlausible(at_ms, at_ms, context, 0)) batches.skip('invalid_time', 'heartrate')
    else
      batches.sample('heartrate', {
        at_ms,
        value: bpm,
        second: null,
        length_ms: null,
        zone_s: zone_s ?? offsetAt(context, at_ms),
        type: null,
        source_type,
        app_id,
      })
  }
  await batches.drain()
}
