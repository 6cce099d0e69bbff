// Records of WHOOP as summaries. A cycle is a day of a user: from falling asleep to falling asleep again.
import type { IncomingSummary } from '../../../wearables/summaries/summaries.ts'
import { localDay, midnight, zoneOf } from '../answers.ts'
import {
  idOf,
  instantOfText,
  readList,
  readNumber,
  objectOrEmpty,
  rawValues,
  readText,
  readInteger,
  type Values,
} from '../reading.ts'
import { SampleBatches, undatedRecord, type Night, type WorkoutRecord } from '../vendor-records.ts'

const source_type = 'watch'
const KCAL_PER_KJ = 1 / 4.184
const HALF_DAY_MS = 12 * 3_600_000

const offsetOf = (value: unknown): number | null => (typeof value === 'string' ? zoneOf(value) : null)
const kcal = (kilojoule: number | null): number | null => (kilojoule === null ? null : kilojoule * KCAL_PER_KJ)
const toSeconds = (milli: unknown): number => Math.round((readNumber(milli) ?? 0) / 1000)
const isScored = ({ score_state }: Values): boolean => score_state === 'SCORED'

/**
 * A cycle. It belongs to the local day in its middle: users fall asleep before midnight as well as after. Two cycles of one day are two
 * records and are never added up.
 */
export function toActivity(record: Values): IncomingSummary<'activity'> | undefined {
  const [key, start_ms, end_ms] = [idOf(record.id), instantOfText(record.start), instantOfText(record.end)]
  if (key === null || start_ms === null || !isScored(record)) return undefined
  const raw = rawValues(record)
  const offset_s = offsetOf(record.timezone_offset)
  const middle_ms = end_ms === null ? start_ms + HALF_DAY_MS : (start_ms + end_ms) / 2
  const calendar_date = localDay(middle_ms, offset_s)
  const score = objectOrEmpty(record.score)
  return {
    key,
    source_type,
    app_id: null,
    ...(raw && { raw }),
    calendar_date,
    document: {
      date: midnight(calendar_date),
      calendar_date,
      calories_total: kcal(readNumber(score.kilojoule)),
      timezone_offset: offset_s,
      heart_rate: {
        avg_bpm: readNumber(score.average_heart_rate),
        min_bpm: null,
        max_bpm: readNumber(score.max_heart_rate),
        resting_bpm: null,
        avg_walking_bpm: null,
      },
    },
  }
}

/** A night or a nap, with its recovery. A night that is not scored yet is left out: a notice tells of its score. */
export function toNight(record: Values, recovery: Values | undefined): Night | undefined {
  const [key, start_ms, end_ms] = [idOf(record.id), instantOfText(record.start), instantOfText(record.end)]
  if (key === null || start_ms === null || end_ms === null || end_ms <= start_ms || record.score_state === 'PENDING_SCORE')
    return undefined
  const score = objectOrEmpty(record.score)
  const stages = objectOrEmpty(score.stage_summary)
  const recovered = recovery && isScored(recovery) ? objectOrEmpty(recovery.score) : {}
  return {
    key,
    source_type,
    raw: rawValues(record),
    start_ms,
    end_ms,
    offset_s: offsetOf(record.timezone_offset),
    zone: null,
    is_nap: record.nap === true,
    seconds: {
      awake: toSeconds(stages.total_awake_time_milli),
      light: toSeconds(stages.total_light_sleep_time_milli),
      rem: toSeconds(stages.total_rem_sleep_time_milli),
      deep: toSeconds(stages.total_slow_wave_sleep_time_milli),
    },
    extraFields: {
      score: readInteger(score.sleep_performance_percentage),
      efficiency: readNumber(score.sleep_efficiency_percentage),
      respiratory_rate: readNumber(score.respiratory_rate),
      ...(recovery && {
        recovery_readiness_score: readInteger(recovered.recovery_score),
        hr_resting: readInteger(recovered.resting_heart_rate),
        average_hrv: readNumber(recovered.hrv_rmssd_milli),
        skin_temperature: readNumber(recovered.skin_temp_celsius),
      }),
    },
  }
}

const zones = [
  'zone_zero_milli',
  'zone_one_milli',
  'zone_two_milli',
  'zone_three_milli',
  'zone_four_milli',
  'zone_five_milli',
] as const

export function toWorkout(record: Values): WorkoutRecord | undefined {
  const [key, start_ms, end_ms] = [idOf(record.id), instantOfText(record.start), instantOfText(record.end)]
  if (key === null || start_ms === null || end_ms === null || end_ms < start_ms || record.score_state === 'PENDING_SCORE')
    return undefined
  const score = objectOrEmpty(record.score)
  const durations = objectOrEmpty(score.zone_durations)
  return {
    key,
    source_type,
    raw: rawValues(record),
    sport: readText(record.sport_name) ?? 'other',
    start_ms,
    end_ms,
    offset_s: offsetOf(record.timezone_offset),
    extraFields: {
      average_hr: readInteger(score.average_heart_rate),
      max_hr: readInteger(score.max_heart_rate),
      calories: kcal(readNumber(score.kilojoule)),
      distance: readNumber(score.distance_meter),
      total_elevation_gain: readNumber(score.altitude_gain_meter),
      hr_zones: score.zone_durations ? zones.map((name) => toSeconds(durations[name])) : null,
    },
  }
}

export function toProfile(record: Values): IncomingSummary<'profile'> {
  const height = readNumber(record.height_meter)
  return undatedRecord('unknown', { height: height === null ? null : Math.round(height * 100) }, rawValues(record))
}

/** The weight that a user has given; undefined without one. WHOOP says no time. */
export function toBody(record: Values): IncomingSummary<'body'> | undefined {
  const weight = readNumber(record.weight_kilogram)
  return weight === null || weight <= 0 ? undefined : undatedRecord('app', { weight }, rawValues(record))
}

/** Adds the heart rates of a night. */
export function addHeartRates(batches: SampleBatches, { stream }: Values, { start_ms, end_ms, offset_s }: Night): void {
  for (const { timestamp, hr } of readList(stream)) {
    const [at_ms, value] = [instantOfText(timestamp), readNumber(hr)]
    if (at_ms === null || value === null || value <= 0 || at_ms < start_ms || at_ms > end_ms) continue
    batches.add('heartrate', { at_ms, value, offset_s, source_type })
  }
}
