// Days, nights and workouts of Withings. Source: measure v2, getactivity, getintradayactivity, getworkouts; sleep v2, get, getsummary.
import { localDay, midnight } from '../answers.ts'
import {
  day,
  idOf,
  readInstant,
  instantOfSeconds,
  readList,
  readNumber,
  objectOrEmpty,
  rawValues,
  readText,
  readInteger,
  type Values,
} from '../reading.ts'
import {
  SampleBatches,
  knownZone,
  offsetAt,
  toSleepCycle,
  workoutOf,
  type Night,
  type Stage,
  type StageType,
} from '../vendor-records.ts'
import type { SourceType, TimeseriesName } from '../../../wearables/resources/timeseries.ts'
import { StreamPoints } from '../../../wearables/streams/stream-points.ts'
import type { IncomingStream } from '../../../wearables/streams/workout-streams.ts'
import type { IncomingSummary } from '../../../wearables/summaries/summaries.ts'
import { deviceIn } from './withings-devices.ts'
import { NO_ACTIVITY, sportOfCategory } from './sports.ts'

const toMinutes = (seconds: unknown): number | null => {
  const read = readNumber(seconds)
  return read === null ? null : read / 60
}

export const activityFields =
  'steps,distance,elevation,soft,moderate,intense,active,calories,totalcalories,hr_average,hr_min,hr_max'

/** The day of a tracker, or of a phone: Withings keeps one of each. */
export function toActivity(record: Values, user_zone: string | null): IncomingSummary<'activity'> | undefined {
  const calendar_date = day(record.date)
  if (calendar_date === null) return undefined
  const is_tracker = record.is_tracker === true
  const source_type: SourceType = is_tracker ? 'watch' : 'phone'
  const raw = rawValues(record)
  const zone = knownZone(readText(record.timezone), user_zone)
  const [avg_bpm, min_bpm, max_bpm] = [readNumber(record.hr_average), readNumber(record.hr_min), readNumber(record.hr_max)]
  const has_rates = [avg_bpm, min_bpm, max_bpm].some((rate) => rate !== null && rate > 0)
  return {
    key: is_tracker ? calendar_date : `${calendar_date} phone`,
    source_type,
    app_id: null,
    device: deviceIn(record, source_type),
    ...(raw && { raw }),
    calendar_date,
    document: {
      date: midnight(calendar_date),
      calendar_date,
      steps: readInteger(record.steps),
      distance: readNumber(record.distance),
      floors_climbed: readInteger(record.elevation),
      calories_active: readNumber(record.calories),
      calories_total: readNumber(record.totalcalories),
      low: toMinutes(record.soft),
      medium: toMinutes(record.moderate),
      high: toMinutes(record.intense),
      time_zone: zone,
      timezone_offset: offsetAt(zone, Date.parse(`${calendar_date}T12:00:00Z`)),
      heart_rate: has_rates ? { avg_bpm, min_bpm, max_bpm, resting_bpm: null, avg_walking_bpm: null } : null,
    },
  }
}

export const intradayFields = 'steps,elevation,calories,distance,duration,heart_rate,spo2_auto,rmssd'
const intraday = {
  steps: 'steps',
  distance: 'distance',
  calories: 'calories_active',
  elevation: 'floors_climbed',
  heart_rate: 'heartrate',
  spo2_auto: 'blood_oxygen',
  rmssd: 'hrv',
} as const satisfies Record<string, TimeseriesName>

/** Adds what a tracker records through the day, by the instants that are the names of its entries. */
export function addIntraday(batches: SampleBatches, { series }: Values, zone: string | null): void {
  for (const [second, entry] of Object.entries(objectOrEmpty(series))) {
    const at_ms = instantOfName(second)
    const values = objectOrEmpty(entry)
    if (at_ms === null) continue
    const duration_s = readNumber(values.duration)
    const source_type: SourceType = 'watch'
    const common = { at_ms, offset_s: offsetAt(zone, at_ms), source_type, device: deviceIn(values, source_type) }
    for (const [field, resource] of Object.entries(intraday)) {
      const is_count =
        resource === 'steps' || resource === 'distance' || resource === 'calories_active' || resource === 'floors_climbed'
      const end_ms = is_count && duration_s !== null ? at_ms + duration_s * 1000 : null
      batches.add(resource, { ...common, value: readNumber(values[field]), end_ms })
    }
  }
}

const instantOfName = (name: string): number | null => (/^\d{1,10}$/.test(name) ? readInstant(Number(name) * 1000) : null)

export const sleepFields =
  'total_timeinbed,total_sleep_time,asleepduration,lightsleepduration,remsleepduration,deepsleepduration,sleep_efficiency,sleep_latency,wakeupduration,hr_average,hr_min,rr_average,sleep_score'
export const stageFields = 'hr,rr,rmssd'

const SLEEP_MONITOR = 32

/** A night of a summary, and what it needs to ask for its stages; undefined without an id or times. */
export function toNight(record: Values, user_zone: string | null): Night | undefined {
  const [key, start_ms, end_ms] = [idOf(record.id), instantOfSeconds(record.startdate), instantOfSeconds(record.enddate)]
  if (key === null || start_ms === null || end_ms === null || end_ms <= start_ms) return undefined
  const zone = knownZone(readText(record.timezone), user_zone)
  const data = objectOrEmpty(record.data)
  const seconds = (value: unknown) => Math.max(0, readInteger(value) ?? 0)
  const [light, rem, deep] = [data.lightsleepduration, data.remsleepduration, data.deepsleepduration]
  // A night from elsewhere says only how long the user slept: light sleep, as for phones.
  const has_stages = [light, rem, deep].some((value) => readNumber(value) !== null)
  const source_type: SourceType = record.model === SLEEP_MONITOR ? 'unknown' : 'watch'
  return {
    key,
    source_type,
    device: deviceIn({ ...record, model: null }, source_type),
    raw: rawValues(record),
    start_ms,
    end_ms,
    zone,
    offset_s: offsetAt(zone, end_ms),
    is_recording: record.completed === false,
    seconds: {
      awake: seconds(data.wakeupduration),
      light: has_stages ? seconds(light) : seconds(data.asleepduration ?? data.total_sleep_time),
      rem: seconds(rem),
      deep: seconds(deep),
    },
    extraFields: {
      score: readInteger(data.sleep_score),
      hr_lowest: positive(readInteger(data.hr_min)),
      hr_average: positive(readInteger(data.hr_average)),
      respiratory_rate: positive(readNumber(data.rr_average)),
      latency: readInteger(data.sleep_latency),
      state: record.completed === false ? 'tentative' : 'confirmed',
    },
  }
}

/** Withings says 0 where it has measured nothing. */
const positive = (value: number | null): number | null => (value !== null && value > 0 ? value : null)

const stageTypes: Readonly<Record<number, StageType>> = { 0: 4, 1: 2, 2: 1, 3: 3, 4: -1, 5: -1 }
const duringSleep = { hr: 'heartrate', rr: 'respiratory_rate', rmssd: 'hrv' } as const satisfies Record<string, TimeseriesName>

/** The stages of a night, and what was measured in it. The series is a list of stages, or a single one. */
export function stagesIn(batches: SampleBatches, { series }: Values, night: Night): IncomingSummary<'sleep_cycle'> | undefined {
  const sent = Array.isArray(series) ? readList(series) : [objectOrEmpty(series)]
  const stages: Stage[] = []
  for (const stage of sent) {
    const [start, end] = [instantOfSeconds(stage.startdate), instantOfSeconds(stage.enddate)]
    if (start === null || end === null) continue
    const [start_ms, end_ms] = [Math.max(start, night.start_ms), Math.min(end, night.end_ms)]
    const type = stageTypes[readNumber(stage.state) ?? -1]
    if (type !== undefined && end_ms > start_ms) stages.push({ type, start_ms, end_ms })
    for (const [field, resource] of Object.entries(duringSleep))
      for (const [second, value] of Object.entries(objectOrEmpty(stage[field]))) {
        const at_ms = instantOfName(second)
        if (at_ms === null || at_ms < night.start_ms || at_ms > night.end_ms) continue
        const { source_type, zone, device = null } = night
        const value_at = { at_ms, value: positive(readNumber(value)), offset_s: offsetAt(zone, at_ms) }
        batches.add(resource, { ...value_at, source_type, device })
      }
  }
  return toSleepCycle(night, stages)
}

export const workoutFields =
  'calories,manual_calories,distance,manual_distance,steps,hr_average,hr_max,pause_duration,algo_pause_duration'

/** A workout; undefined for what was none in truth, or without an id or times. */
export function toWorkout(record: Values, user_zone: string | null): IncomingSummary<'workouts'> | undefined {
  const [key, start_ms, end_ms] = [idOf(record.id), instantOfSeconds(record.startdate), instantOfSeconds(record.enddate)]
  const category = readNumber(record.category)
  if (key === null || start_ms === null || end_ms === null || end_ms < start_ms || category === NO_ACTIVITY) return undefined
  const offset_s = offsetAt(knownZone(readText(record.timezone), user_zone), start_ms)
  const data = objectOrEmpty(record.data)
  const pause_s = positive(readNumber(data.pause_duration)) ?? positive(readNumber(data.algo_pause_duration)) ?? 0
  return workoutOf({
    key,
    source_type: 'watch',
    device: deviceIn(record, 'watch'),
    raw: rawValues(record),
    sport: sportOfCategory(category),
    start_ms,
    end_ms,
    offset_s,
    extraFields: {
      calories: positive(readNumber(data.calories)) ?? positive(readNumber(data.manual_calories)),
      distance: positive(readNumber(data.distance)) ?? positive(readNumber(data.manual_distance)),
      steps: positive(readInteger(data.steps)),
      average_hr: positive(readInteger(data.hr_average)),
      max_hr: positive(readInteger(data.hr_max)),
      moving_time: Math.max(0, Math.round((end_ms - start_ms) / 1000 - pause_s)),
    },
  })
}

/** The most of a workout that is asked for: of a longer time only the first day is answered. */
const STREAM_MS_MAX = 86_400_000

/** The span of a workout, for which its stream is asked. */
export function spanOf({ document }: IncomingSummary<'workouts'>): { from_ms: number; to_ms: number } {
  const from_ms = Date.parse(document.time_start as string)
  return { from_ms, to_ms: Math.min(Date.parse(document.time_end as string), from_ms + STREAM_MS_MAX) }
}

/** The stream of a workout, from what the tracker recorded while it lasted: heart rate, steps in a minute, and the distance so far. */
export function toStream(key: string, { series }: Values, span: { from_ms: number; to_ms: number }): IncomingStream | undefined {
  const points = new StreamPoints()
  let covered_m = 0
  // The names of the entries are whole numbers, so that they come in their order.
  for (const [second, entry] of Object.entries(objectOrEmpty(series))) {
    const at_ms = instantOfName(second)
    if (at_ms === null || at_ms < span.from_ms || at_ms > span.to_ms) continue
    const values = objectOrEmpty(entry)
    points.put('heartrate', at_ms, positive(readNumber(values.heart_rate)))
    const [steps, distance, duration_s] = [
      readNumber(values.steps),
      readNumber(values.distance),
      positive(readNumber(values.duration)),
    ]
    if (steps !== null && duration_s !== null) points.put('cadence', at_ms, (steps * 60) / duration_s)
    if (distance !== null) points.put('distance', Math.min(span.to_ms, at_ms + (duration_s ?? 0) * 1000), (covered_m += distance))
  }
  return points.stream(key)
}

/** The local days that a range of instants touches anywhere on earth, as the bounds of a request. */
export const dayBounds = (from_ms: number, to_ms: number): { startdateymd: string; enddateymd: string } => ({
  startdateymd: localDay(from_ms, -12 * 3600),
  enddateymd: localDay(to_ms - 1, 14 * 3600),
})
