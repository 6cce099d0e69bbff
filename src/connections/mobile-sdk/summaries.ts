// From what a phone sends to summaries. Source: users-wearables.md 7-9, 16.6.
import { sportOf } from '../../wearables/resources/sports.ts'
import { isSourceType, type SourceType } from '../../wearables/resources/timeseries.ts'
import { validZone, localDate, zoneOffset } from '../../wearables/resources/zones.ts'
import type { Document } from '../../wearables/summaries/schema.ts'
import type { QueryValues } from '../../wearables/summaries/query-values.ts'
import type { IncomingSummary } from '../../wearables/summaries/summaries.ts'
import { yieldIfLong } from '../../platform/runtime/loop-work.ts'
import { wireTime } from '../../platform/runtime/clock.ts'
import { readRecorder, sourceTypeOf, type PostZones } from './phone-samples.ts'
import type { Quantity } from './schema.ts'
import type { SentActivity, SentBody, SentProfile, SentSleep, SentWorkout, StageName } from './summary-schema.ts'

/** What a phone says of all that it sends in one post, or of one record. */
export interface PhoneContext {
  /** A zone that this server knows, or null. */
  zone: string | null
}

type Day = NonNullable<SentActivity['day_summary']>

const whole = (value: number | undefined): number | null => (value === undefined ? null : Math.round(value))
const orNull = (value: number | undefined): number | null => value ?? null
/** Health Connect sends 0 for a height or a heart rate that it does not know. */
const unlessZero = (value: number | undefined): number | undefined => (value === 0 ? undefined : value)
const midnight = (day: string): string => `${day}T00:00:00+00:00`

/** A record without its lists of samples and its stream, which are stored elsewhere. */
const withoutSamples = (record: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(record).filter(
      ([name, value]) => !Array.isArray(value) && !['stream', 'sleep_stages', 'metadata'].includes(name),
    ),
  )

/** How far someone came on foot or by wheelchair, of which a phone counts only one at a time. */
function distanceOf({ distance_walking_running_sum: onFoot, distance_wheelchair: byWheelchair }: Day): number | null {
  return onFoot === undefined && byWheelchair === undefined ? null : (onFoot ?? 0) + (byWheelchair ?? 0)
}

/** What a day says of itself, whatever was recorded on it. */
const OF_DAY = new Set(['date', 'calendar_date', 'time_zone', 'timezone_offset'])
/** Phones send days of which they know nothing. */
const saysSomething = ({ document, query_values }: IncomingSummary<'activity'>): boolean =>
  Object.entries(document).some(([name, value]) => value !== null && !OF_DAY.has(name)) ||
  Object.keys(query_values ?? {}).length > 0

/** The day of an activity; undefined without one, and for one that says nothing. What a phone has added up comes from all of its sources. */
export function toActivity({ day_summary: day }: SentActivity, { zone }: PhoneContext): IncomingSummary<'activity'> | undefined {
  if (!day) return undefined
  const [active, basal] = [day.active_energy_burned_sum, day.basal_energy_burned_sum]
  const [avg_bpm, min_bpm, max_bpm, resting_bpm] = [
    day.avg_heart_rate,
    day.min_heart_rate,
    day.max_heart_rate,
    day.resting_heart_rate,
  ].map((rate) => orNull(unlessZero(rate)))
  const record: IncomingSummary<'activity'> = {
    key: day.calendar_date,
    raw: day,
    source_type: 'multiple_sources',
    app_id: null,
    calendar_date: day.calendar_date,
    query_values: queryValues({
      duration_active_second: day.exercise_time === undefined ? null : Math.round(day.exercise_time * 60),
    }),
    document: {
      date: midnight(day.calendar_date),
      calendar_date: day.calendar_date,
      calories_total: active === undefined || basal === undefined ? null : active + basal,
      calories_active: orNull(active),
      steps: whole(day.steps_sum),
      distance: distanceOf(day),
      low: orNull(day.low),
      medium: orNull(day.medium),
      high: orNull(day.high),
      floors_climbed: whole(day.floors_climbed_sum),
      time_zone: zone,
      timezone_offset: zone === null ? null : zoneOffset(zone, Date.parse(`${day.calendar_date}T12:00:00Z`)),
      heart_rate: [avg_bpm, min_bpm, max_bpm, resting_bpm].every((rate) => rate === null)
        ? null
        : {
            avg_bpm,
            min_bpm,
            max_bpm,
            resting_bpm,
            avg_walking_bpm: null,
          },
      wheelchair_use: day.wheelchair_use === true ? true : null,
      wheelchair_push: whole(day.wheelchair_push),
    },
  }
  return saysSomething(record) ? record : undefined
}

const bodyFields = {
  body_mass: 'weight',
  body_fat_percentage: 'fat',
  body_mass_index: 'body_mass_index',
  waist_circumference: 'waist_circumference_centimeter',
  lean_body_mass: 'lean_body_mass_kilogram',
} as const satisfies Record<BodyList, keyof Document<'body'>>
export type BodyList = Exclude<keyof SentBody, 'time_zones'>

/** What a measurement of the body is known by: its instant and its app. */
export const bodyKey = ({ start_date, source_bundle = '' }: Quantity): string =>
  `${new Date(Date.parse(start_date)).toISOString()} ${source_bundle}`

/**
 * Measurements of the body: those of one app at one instant are one record. In slices.
 * @param good each with its value in the unit of its field
 * @param storedZones by key, the zones that records have which are stored
 */
export async function toBodies(
  good: [list: BodyList, sent: Quantity, value: number][],
  zones: PostZones,
  storedZones: ReadonlyMap<string, string>,
): Promise<IncomingSummary<'body'>[]> {
  const records = new Map<string, IncomingSummary<'body'>>()
  for (const [list, sample, value] of good) {
    const turn = yieldIfLong()
    if (turn) await turn
    const at_ms = Date.parse(sample.start_date)
    const key = bodyKey(sample)
    const zone = (zones.isAssumed(sample, at_ms) ? storedZones.get(key) : undefined) ?? zones.zoneAt(sample, at_ms)
    const calendar_date = localDate(zone, at_ms)
    const record = records.get(key) ?? {
      key,
      ...readRecorder(sample),
      calendar_date,
      document: { date: midnight(calendar_date), calendar_date } as Document<'body'>,
      query_values: queryValues({ time_zone: zone }),
    }
    Object.assign(record.document, { [bodyFields[list]]: value })
    record.raw = { ...record.raw, [list]: { value: sample.value, unit: sample.unit, start_date: sample.start_date } }
    records.set(key, record)
  }
  return [...records.values()]
}

export function toProfile(record: SentProfile, { zone }: PhoneContext = { zone: null }): IncomingSummary<'profile'> {
  const sex = record.biological_sex === 'not_set' ? undefined : record.biological_sex
  return {
    key: '',
    raw: record,
    time_zone: (record.time_zone === undefined ? null : validZone(record.time_zone)) ?? zone,
    source_type: 'unknown',
    app_id: null,
    calendar_date: null,
    document: {
      height: whole(unlessZero(record.height)),
      birth_date: record.date_of_birth ?? null,
      wheelchair_use: record.wheelchair_use === true ? true : null,
      gender: sex ?? null,
      sex: sex ?? null,
    },
  }
}

/** The numbers of stages as they are shown. A phone that does not tell stages apart says only that its owner slept: light sleep. */
const stageTypes: Record<StageName, number> = {
  unknown_sleep_samples: -1,
  deep_sleep_samples: 1,
  light_sleep_samples: 2,
  unspecified_sleep_samples: 2,
  rem_sleep_samples: 3,
  awake_sleep_samples: 4,
}

interface Stage {
  type: number
  from_s: number
  to_s: number
}

/** The stages of a night as far as they lie within it. */
function stagesOf({ sleep_stages, start_date, end_date }: SentSleep): Stage[] {
  const start = Date.parse(start_date)
  const duration_s = Math.round((Date.parse(end_date) - start) / 1000)
  const second = (text: string) => Math.round((Date.parse(text) - start) / 1000)
  return (Object.entries(stageTypes) as [StageName, number][])
    .flatMap(([name, type]) =>
      (sleep_stages?.[name] ?? []).map((sample) => ({ type, from_s: second(sample.start_date), to_s: second(sample.end_date) })),
    )
    .map(({ type, from_s, to_s }) => ({ type, from_s: Math.max(0, from_s), to_s: Math.min(duration_s, to_s) }))
    .filter(({ from_s, to_s }) => to_s > from_s)
    .sort((a, b) => a.from_s - b.from_s || a.to_s - b.to_s || a.type - b.type)
}

/** Which stage counts where several are recorded at one time: light sleep is also what a phone says that knows no better. */
const PRECEDENCE = [4, 1, 3, 2, -1]

/** What a phone has said, without what it has not. A zone that is only an offset has no name. */
function queryValues({ time_zone, ...values }: Record<string, number | string | null | undefined>): QueryValues {
  const all = { ...values, time_zone: /^[+-]/.test(String(time_zone)) ? null : time_zone }
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, number | string] => entry[1] != null))
}

/** The seconds of each stage. What is recorded at one time counts once. */
function secondsByStage(stages: Stage[]): Map<number, number> {
  const changes = stages.flatMap(({ type, from_s, to_s }) =>
    to_s > from_s
      ? [
          { at: from_s, type, by: 1 },
          { at: to_s, type, by: -1 },
        ]
      : [],
  )
  changes.sort((a, b) => a.at - b.at)
  const open = new Map<number, number>()
  const seconds = new Map<number, number>()
  let since = 0
  for (const { at, type, by } of changes) {
    const counted = PRECEDENCE.find((stage) => (open.get(stage) ?? 0) > 0)
    if (counted !== undefined) seconds.set(counted, (seconds.get(counted) ?? 0) + at - since)
    open.set(type, (open.get(type) ?? 0) + by)
    since = at
  }
  return seconds
}

const ASLEEP = new Set([1, 2, 3])
const LONG_SLEEP_S = 3 * 3600

/** What recorded a night. */
export const sleepSourceOf = ({
  source_type,
  ...sent
}: Pick<SentSleep, 'source_type' | 'source_bundle' | 'product_type'>): SourceType =>
  source_type !== undefined && isSourceType(source_type) ? source_type : sourceTypeOf(sent)

/** A night, without its stages. */
export function toSleep(record: SentSleep, { zone }: PhoneContext): IncomingSummary<'sleep'> {
  const [start, stop] = [Date.parse(record.start_date), Date.parse(record.end_date)]
  const calendar_date = localDate(zone, stop)
  const stages = stagesOf(record)
  const seconds = secondsByStage(stages)
  const [deep, light, rem, awake] = [1, 2, 3, 4].map((type) => seconds.get(type) ?? 0) as [number, number, number, number]
  const duration = Math.round((stop - start) / 1000)
  const total = rem + light + deep
  const asleep = stages.find(({ type }) => ASLEEP.has(type))
  const temperatures = (record.wrist_temperature ?? []).map(({ value }) => value)
  return {
    key: record.id,
    ...readRecorder(record, sleepSourceOf(record)),
    calendar_date,
    raw: withoutSamples(record),
    query_values: queryValues({
      heart_rate_maximum: whole(unlessZero(record.heart_rate_maximum)),
      hrv_mean_sdnn: record.hrv_mean_sdnn,
      stage_unknown_second: stages.length ? (seconds.get(-1) ?? 0) : null,
      time_zone: zone,
    }),
    document: {
      date: midnight(calendar_date),
      calendar_date,
      bedtime_start: wireTime(start),
      bedtime_stop: wireTime(stop),
      type: duration >= LONG_SLEEP_S ? 'long_sleep' : 'short_sleep',
      timezone_offset: zone === null ? null : zoneOffset(zone, stop),
      duration,
      total,
      awake,
      light,
      rem,
      deep,
      score: whole(record.score),
      hr_lowest: whole(unlessZero(record.heart_rate_minimum)),
      hr_average: whole(unlessZero(record.heart_rate_mean)),
      efficiency: duration > 0 && stages.length ? Math.min(100, (total / duration) * 100) : null,
      latency: asleep ? Math.max(0, asleep.from_s) : null,
      skin_temperature: temperatures.length
        ? temperatures.reduce((sum, temperature) => sum + temperature, 0) / temperatures.length
        : null,
      average_hrv: orNull(record.hrv_mean_sdnn),
      respiratory_rate: orNull(record.respiratory_rate_mean),
    },
  }
}

/** The stages of a night; undefined if the phone sent none. */
export function toSleepCycle(
  record: SentSleep,
  sleep_id: string,
  { zone }: PhoneContext,
): IncomingSummary<'sleep_cycle'> | undefined {
  const stages = stagesOf(record)
  if (!stages.length) return undefined
  const [start, stop] = [Date.parse(record.start_date), Date.parse(record.end_date)]
  return {
    key: record.id,
    ...readRecorder(record, sleepSourceOf(record)),
    calendar_date: localDate(zone, stop),
    document: {
      sleep_id,
      session_start: wireTime(start),
      session_end: wireTime(stop),
      stage_start_offset_second: stages.map(({ from_s }) => from_s),
      stage_end_offset_second: stages.map(({ to_s }) => to_s),
      stage_type: stages.map(({ type }) => type),
      time_zone: zone,
    },
  }
}

export function toWorkout(record: SentWorkout, { zone }: PhoneContext): IncomingSummary<'workouts'> {
  const [start, stop] = [Date.parse(record.start_date), Date.parse(record.end_date)]
  const zones = [1, 2, 3, 4, 5, 6].map((n) => record[`heart_rate_zone${n}` as 'heart_rate_zone1'])
  const calendar_date = localDate(zone, start)
  return {
    key: record.id,
    ...readRecorder(record),
    calendar_date,
    raw: withoutSamples(record),
    query_values: queryValues({ heart_rate_minimum: whole(unlessZero(record.heart_rate_minimum)), time_zone: zone }),
    document: {
      title: record.sport,
      timezone_offset: zone === null ? null : zoneOffset(zone, start),
      average_hr: whole(unlessZero(record.heart_rate_mean)),
      max_hr: whole(unlessZero(record.heart_rate_maximum)),
      distance: orNull(record.distance),
      calendar_date,
      time_start: wireTime(start),
      time_end: wireTime(stop),
      calories: orNull(record.calories),
      sport: sportOf(record.sport),
      hr_zones: zones.every((seconds) => seconds === undefined) ? null : zones.map((seconds) => Math.round(seconds ?? 0)),
      moving_time: whole(record.moving_time),
      total_elevation_gain: orNull(record.ascent_elevation),
      provider_id: record.id,
    },
  }
}
