// Documents of Oura as samples and summaries. Stages, zones and scores are Oura's own; fields are null for rings that do not measure them.
import { typeWithDetails, type Intensity } from '../../../wearables/resources/sample-details.ts'
import type { IncomingSummary } from '../../../wearables/summaries/summaries.ts'
import { midnight, minutesOf, zoneOf } from '../answers.ts'
import {
  day,
  idOf,
  readInstant,
  instantOfText,
  readNumber,
  objectOrEmpty,
  ownValue,
  rawValues,
  readText,
  readInteger,
  type Values,
} from '../reading.ts'
import {
  SampleBatches,
  instantIn,
  offsetAt,
  type Night,
  type Stage,
  type StageType,
  type WorkoutRecord,
  undatedRecord,
} from '../vendor-records.ts'
import { MINUTE_MS } from '../../../platform/runtime/durations.ts'

const source_type = 'ring'
/** Seconds of one character of `sleep_phase_5_min`. */
const PHASE_MS = 300_000
const phases: Readonly<Record<string, StageType>> = { 1: 1, 2: 2, 3: 3, 4: 4 }

export const offsetOf = (value: unknown): number | null => (typeof value === 'string' ? zoneOf(value) : null)

/** A day. Oura has one document for each day, so that the day is its key. */
export function toActivity(record: Values): IncomingSummary<'activity'> | undefined {
  const calendar_date = day(record.day)
  if (calendar_date === null) return undefined
  const raw = rawValues(record, 'met', 'class_5_min')
  const distance = readNumber(record.equivalent_walking_distance)
  const sedentary = readInteger(record.sedentary_time)
  return {
    key: calendar_date,
    source_type,
    app_id: null,
    ...(raw && { raw }),
    calendar_date,
    ...(sedentary !== null && { query_values: { intensity_sedentary_second: sedentary } }),
    document: {
      date: midnight(calendar_date),
      calendar_date,
      calories_total: readNumber(record.total_calories),
      calories_active: readNumber(record.active_calories),
      steps: readInteger(record.steps),
      distance,
      daily_movement: distance,
      low: minutesOf(readNumber(record.low_activity_time)),
      medium: minutesOf(readNumber(record.medium_activity_time)),
      high: minutesOf(readNumber(record.high_activity_time)),
      timezone_offset: offsetOf(record.timestamp),
    },
  }
}

export interface OuraNight extends Night {
  stages: Stage[]
}

/** Whether the user has deleted a night, or said that it was none. */
export const isNoSleep = ({ type }: Values): boolean => type === 'deleted' || type === 'rest'
const isNap = ({ type }: Values): boolean => type === 'sleep' || type === 'late_nap'

/** A night or a nap. It ends when the user got up, not when the last stage but waking ended. */
export function toNight(record: Values, score: number | null): OuraNight | undefined {
  const key = idOf(record.id)
  const [start_ms, end_ms] = [instantOfText(record.bedtime_start), instantOfText(record.bedtime_end)]
  if (key === null || start_ms === null || end_ms === null || end_ms <= start_ms) return undefined
  const readiness = objectOrEmpty(record.readiness)
  const seconds = (name: string) => readInteger(record[name]) ?? 0
  const lowest = readInteger(record.lowest_heart_rate)
  return {
    key,
    source_type,
    raw: rawValues(record, 'heart_rate', 'hrv', 'movement_30_sec', 'sleep_phase_5_min', 'sleep_phase_30_sec'),
    start_ms,
    end_ms,
    offset_s: offsetOf(record.bedtime_end),
    zone: null,
    is_nap: isNap(record),
    seconds: {
      awake: seconds('awake_time'),
      light: seconds('light_sleep_duration'),
      rem: seconds('rem_sleep_duration'),
      deep: seconds('deep_sleep_duration'),
    },
    stages: toStages(record, start_ms, end_ms),
    extraFields: {
      score: isNap(record) ? null : score,
      recovery_readiness_score: readInteger(readiness.score),
      hr_lowest: lowest,
      hr_resting: lowest,
      hr_average: readInteger(record.average_heart_rate),
      latency: readInteger(record.latency),
      efficiency: readNumber(record.efficiency),
      temperature_delta: readNumber(readiness.temperature_deviation),
      average_hrv: readNumber(record.average_hrv),
      respiratory_rate: readNumber(record.average_breath),
    },
  }
}

/** Equal stages after each other are one. */
function toStages(record: Values, start_ms: number, end_ms: number): Stage[] {
  const letters = typeof record.sleep_phase_5_min === 'string' ? record.sleep_phase_5_min.slice(0, 600) : ''
  const stages: Stage[] = []
  for (const [i, letter] of [...letters].entries()) {
    const [from, to] = [start_ms + i * PHASE_MS, Math.min(end_ms, start_ms + (i + 1) * PHASE_MS)]
    const type = ownValue(phases, letter) ?? -1
    const last = stages.at(-1)
    if (from >= to) break
    if (last?.type === type) last.end_ms = to
    else stages.push({ type, start_ms: from, end_ms: to })
  }
  return stages
}

/** The heart rate variability in a night: a number every few minutes, null where there is none. */
export function addVariability(batches: SampleBatches, record: Values): void {
  const { interval, items, timestamp } = objectOrEmpty(record.hrv)
  const [step_s, from_ms] = [readNumber(interval), instantOfText(timestamp)]
  if (step_s === null || step_s <= 0 || from_ms === null || !Array.isArray(items)) return
  for (const [i, value] of items.slice(0, 10_000).entries()) {
    const at_ms = readInstant(from_ms + i * step_s * 1000)
    if (at_ms === null) return
    batches.add('hrv', { at_ms, value: readNumber(value), offset_s: offsetOf(timestamp), source_type })
  }
}

/** How much warmer or colder than usual the skin was in a night, from its beginning to its end. */
export function addTemperatureDelta(batches: SampleBatches, record: Values): void {
  const [at_ms, end_ms] = [instantOfText(record.bedtime_start), instantOfText(record.bedtime_end)]
  if (at_ms === null || end_ms === null) return
  const value = readNumber(objectOrEmpty(record.readiness).temperature_deviation)
  const type = typeWithDetails('body_temperature_delta', null, { sensor_location: 'finger' })
  batches.add('body_temperature_delta', { at_ms, end_ms, value, offset_s: offsetOf(record.bedtime_start), type, source_type })
}

export function addHeartRate(batches: SampleBatches, record: Values, zone: string | null): void {
  const at_ms = instantOfText(record.timestamp)
  if (at_ms === null) return
  batches.add('heartrate', { at_ms, value: readNumber(record.bpm), offset_s: offsetAt(zone, at_ms), source_type })
}

/** The mean of a night, at the beginning of its day: Oura says no time. */
export function addOxygen(batches: SampleBatches, record: Values, zone: string | null): void {
  const of = day(record.day)
  if (of === null) return
  const at_ms = instantIn(zone, Date.parse(of))
  const value = readNumber(objectOrEmpty(record.spo2_percentage).average)
  batches.add('blood_oxygen', { at_ms, value, offset_s: offsetAt(zone, at_ms), source_type })
}

export function addVo2Max(batches: SampleBatches, record: Values): void {
  const at_ms = instantOfText(record.timestamp)
  if (at_ms === null) return
  batches.add('vo2_max', { at_ms, value: readNumber(record.vo2_max), offset_s: offsetOf(record.timestamp), source_type })
}

export function toWorkout(record: Values): WorkoutRecord | undefined {
  const key = idOf(record.id)
  const [start_ms, end_ms] = [instantOfText(record.start_datetime), instantOfText(record.end_datetime)]
  if (key === null || start_ms === null || end_ms === null || end_ms < start_ms) return undefined
  const title = readText(record.label)
  return {
    key,
    source_type,
    raw: rawValues(record),
    sport: readText(record.activity) ?? 'other',
    start_ms,
    end_ms,
    offset_s: offsetOf(record.start_datetime),
    extraFields: {
      calories: readNumber(record.calories),
      distance: readNumber(record.distance),
      ...(title !== null && { title }),
    },
  }
}

const intensities: Readonly<Record<string, Intensity>> = { easy: 'low', moderate: 'medium', hard: 'high' }

/** How long a workout was, and how hard. */
export function addDuration(batches: SampleBatches, { start_ms, end_ms, offset_s }: WorkoutRecord, record: Values): void {
  const intensity = ownValue(intensities, readText(record.intensity) ?? '') ?? null
  const type = typeWithDetails('workout_duration', null, { intensity })
  const value = (end_ms - start_ms) / MINUTE_MS
  batches.add('workout_duration', { at_ms: start_ms, end_ms, value, offset_s, type, source_type })
}

const sexes: Readonly<Record<string, 'female' | 'male'>> = { female: 'female', male: 'male' }

export function toProfile(record: Values): IncomingSummary<'profile'> {
  const height = readNumber(record.height)
  const sex = ownValue(sexes, readText(record.biological_sex) ?? '') ?? null
  const document = { height: height === null ? null : Math.round(height * 100), gender: sex, sex }
  return undatedRecord('unknown', document, rawValues(record))
}

/** The weight that a user has given; undefined without one. Oura says no time. */
export function toBody(record: Values): IncomingSummary<'body'> | undefined {
  const weight = readNumber(record.weight)
  return weight === null || weight <= 0 ? undefined : undatedRecord('app', { weight }, rawValues(record, 'email'))
}
