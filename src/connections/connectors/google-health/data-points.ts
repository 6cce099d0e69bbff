// Data points of the Google Health API as samples and summaries. Source: discovery document of v4, DataPoint.
import { localDay, midnight } from '../answers.ts'
import {
  day,
  instantOfText,
  readList,
  readNumber,
  numberOrText,
  objectOrEmpty,
  ownValue,
  rawValues,
  readText,
  type Values,
} from '../reading.ts'
import {
  SampleBatches,
  toDevice,
  instantIn,
  mmolPerLiter,
  offsetAt,
  secondsByStage,
  toSleepCycle,
  sleepOf,
  type Night,
  type Stage,
  type StageType,
} from '../vendor-records.ts'
import type { IncomingDevice } from '../../../wearables/devices/devices.ts'
import type { Resource } from '../../../wearables/resources/resources.ts'
import type { SourceType, TimeseriesName } from '../../../wearables/resources/timeseries.ts'
import type { IncomingSummary } from '../../../wearables/summaries/summaries.ts'

export interface PointType {
  /** As in paths. In filters it has underscores, in points it is the name of a field in camel case. */
  type: string
  timeseries: TimeseriesName
  is_interval: boolean
  value: (values: Values) => number | null
}

const sample = (type: string, timeseries: TimeseriesName, value: PointType['value']): PointType => ({
  type,
  timeseries,
  is_interval: false,
  value,
})
const interval = (type: string, timeseries: TimeseriesName, value: PointType['value']): PointType => ({
  ...sample(type, timeseries, value),
  is_interval: true,
})
export const divideNullable = (value: number | null, divisor: number): number | null => (value === null ? null : value / divisor)

/** The types of points that become samples, by the resource that asks for them. */
export const pointTypes = {
  heartrate: sample('heart-rate', 'heartrate', (point) => numberOrText(point.beatsPerMinute)),
  hrv: sample('heart-rate-variability', 'hrv', (point) => numberOrText(point.rootMeanSquareOfSuccessiveDifferencesMilliseconds)),
  blood_oxygen: sample('oxygen-saturation', 'blood_oxygen', (point) => numberOrText(point.percentage)),
  respiratory_rate: sample('respiratory-rate-sleep-summary', 'respiratory_rate', (point) =>
    numberOrText(objectOrEmpty(point.fullSleepStats).breathsPerMinute),
  ),
  glucose: sample('blood-glucose', 'glucose', (point) => {
    const mg_dl = numberOrText(point.bloodGlucoseMilligramsPerDeciliter)
    return mg_dl === null ? null : mmolPerLiter(mg_dl)
  }),
  body_temperature: sample('core-body-temperature', 'body_temperature', (point) => numberOrText(point.temperatureCelsius)),
  vo2_max: sample('vo2-max', 'vo2_max', (point) => numberOrText(point.vo2Max)),
  weight: sample('weight', 'body_weight', (point) => divideNullable(numberOrText(point.weightGrams), 1000)),
  fat: sample('body-fat', 'body_fat', (point) => numberOrText(point.percentage)),
  steps: interval('steps', 'steps', (point) => numberOrText(point.count)),
  distance: interval('distance', 'distance', (point) => divideNullable(numberOrText(point.millimeters), 1000)),
  calories_active: interval('active-energy-burned', 'calories_active', (point) => numberOrText(point.kcal)),
  calories_basal: interval('basal-energy-burned', 'calories_basal', (point) => numberOrText(point.kcal)),
  floors_climbed: interval('floors', 'floors_climbed', (point) => numberOrText(point.count)),
} as const satisfies Partial<Record<Resource, PointType>>

/** `daily-resting-heart-rate` as the name of a field: `dailyRestingHeartRate`. */
export const fieldOf = (type: string): string => type.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
export const filterName = (type: string): string => type.replaceAll('-', '_')

const formFactors: Readonly<Record<string, SourceType>> = {
  FITNESS_BAND: 'watch',
  WATCH: 'watch',
  PHONE: 'phone',
  TABLET: 'phone',
  RING: 'ring',
  CHEST_STRAP: 'chest_strap',
  SCALE: 'scale',
}

export interface Source {
  source_type: SourceType
  app_id: string | null
  device: IncomingDevice | null
}

/** The device that recorded a point, and the app that brought it. */
export function sourceOf(point: Values): Source {
  const source = objectOrEmpty(point.dataSource)
  const app_id = readText(objectOrEmpty(source.application).packageName)
  const { formFactor, displayName, manufacturer } = objectOrEmpty(source.device)
  const form = readText(formFactor) ?? ''
  const known = Object.hasOwn(formFactors, form) ? formFactors[form] : undefined
  const source_type = known ?? (source.recordingMethod === 'MANUAL' ? 'app' : 'unknown')
  return { source_type, app_id, device: toDevice(source_type, { manufacturer, model: displayName }) }
}

/** `-25200s` */
export function offsetOf(value: unknown): number | null {
  const [, seconds] = /^(-?\d{1,6})(?:\.\d+)?s$/.exec(typeof value === 'string' ? value : '') ?? []
  return seconds !== undefined && Math.abs(Number(seconds)) <= 18 * 3600 ? Number(seconds) : null
}

const glucoseTypes: Readonly<Record<string, Partial<{ type: string; source_type: SourceType }>>> = {
  CONTINUOUS_GLUCOSE_MONITORING: { type: 'automatic', source_type: 'automatic' },
  SELF_MONITORING_BLOOD_GLUCOSE: { source_type: 'fingerprick' },
  LAB_TEST: { source_type: 'lab' },
}

/** Adds the sample of a point. */
export function addPoint(batches: SampleBatches, { type, timeseries, is_interval, value }: PointType, point: Values): void {
  const values = objectOrEmpty(point[fieldOf(type)])
  const time = objectOrEmpty(is_interval ? values.interval : values.sampleTime)
  const at_ms = instantOfText(is_interval ? time.startTime : time.physicalTime)
  if (at_ms === null) return
  const source = sourceOf(point)
  const known = type === 'blood-glucose' ? (ownValue(glucoseTypes, readText(values.measurementSource) ?? '') ?? {}) : {}
  batches.add(timeseries, {
    at_ms,
    end_ms: is_interval ? instantOfText(time.endTime) : null,
    offset_s: offsetOf(is_interval ? time.startUtcOffset : time.utcOffset),
    value: value(values),
    ...source,
    ...known,
  })
}

/** The skin temperature of a night relative to the median of thirty, at the beginning of its day: Google says no time. Without the median there is nothing. */
export function addTemperatureDelta(batches: SampleBatches, point: Values, zone: string | null): void {
  const values = objectOrEmpty(point.dailySleepTemperatureDerivations)
  const date = dateIn(values.date)
  const [night, usual] = [numberOrText(values.nightlyTemperatureCelsius), numberOrText(values.baselineTemperatureCelsius)]
  if (date === null || night === null || usual === null) return
  const at_ms = instantIn(zone, Date.parse(date))
  const value = Math.round((night - usual) * 1000) / 1000
  batches.add('body_temperature_delta', { at_ms, value, offset_s: offsetAt(zone, at_ms), ...sourceOf(point) })
}

/** What a scale has measured, as a record of the body. Weight and fat of one instant and source are one record. */
export function bodyOf(point: Values): IncomingSummary<'body'> | undefined {
  const isWeight = point.weight !== undefined
  const { type, value } = isWeight ? pointTypes.weight : pointTypes.fat
  const values = objectOrEmpty(point[fieldOf(type)])
  const time = objectOrEmpty(values.sampleTime)
  const [at_ms, measured] = [instantOfText(time.physicalTime), value(values)]
  if (at_ms === null || measured === null) return undefined
  const calendar_date = localDay(at_ms, offsetOf(time.utcOffset))
  const source = sourceOf(point)
  const raw = rawValues(point)
  return {
    key: `${new Date(at_ms).toISOString()} ${source.app_id ?? ''}`,
    ...source,
    ...(raw && { raw }),
    calendar_date,
    document: { date: midnight(calendar_date), calendar_date, [isWeight ? 'weight' : 'fat']: measured },
  }
}

const stageTypes: Readonly<Record<string, StageType>> = { AWAKE: 4, RESTLESS: 4, LIGHT: 2, ASLEEP: 2, DEEP: 1, REM: 3 }

/** The last part of `users/1/dataTypes/sleep/dataPoints/2`. */
export const idIn = (name: unknown): string | null => readText(readText(name)?.split('/').at(-1))

/** A night with its stages; undefined without an id or times. Sleep without stages is light, as for phones. */
export function nightOf(
  point: Values,
): { sleep: IncomingSummary<'sleep'>; cycle: IncomingSummary<'sleep_cycle'> | undefined } | undefined {
  const values = objectOrEmpty(point.sleep)
  const time = objectOrEmpty(values.interval)
  const [key, start_ms, end_ms] = [idIn(point.name), instantOfText(time.startTime), instantOfText(time.endTime)]
  if (key === null || start_ms === null || end_ms === null || end_ms <= start_ms) return undefined
  const stages = readList(values.stages).flatMap((stage): Stage[] => {
    const [start, end] = [instantOfText(stage.startTime), instantOfText(stage.endTime)]
    const type = ownValue(stageTypes, readText(stage.type) ?? '') ?? -1
    return start !== null && end !== null && end > start ? [{ type, start_ms: start, end_ms: end }] : []
  })
  const summary = objectOrEmpty(values.summary)
  const asleep_min = numberOrText(summary.minutesAsleep)
  const latency_min = numberOrText(summary.minutesToFallAsleep)
  const { processed, nap } = objectOrEmpty(values.metadata)
  const seconds = stages.length
    ? secondsByStage(stages, { start_ms, end_ms })
    : { awake: 0, light: (asleep_min ?? 0) * 60, rem: 0, deep: 0 }
  const night: Night = {
    key,
    ...sourceOf(point),
    raw: rawValues({ ...point, sleep: { ...values, stages: undefined } }),
    start_ms,
    end_ms,
    offset_s: offsetOf(time.endUtcOffset),
    zone: null,
    seconds,
    is_nap: nap === true,
    extraFields: {
      state: processed === false ? 'tentative' : 'confirmed',
      latency: latency_min === null ? null : latency_min * 60,
    },
  }
  const cycle = toSleepCycle(night, stages)
  return { sleep: sleepOf(night), cycle }
}

/** `{year, month, day}` as `YYYY-MM-DD`. */
export function dateIn(value: unknown): string | null {
  const { year, month, day: date } = objectOrEmpty(value)
  const two = (part: unknown) => String(readNumber(part)).padStart(2, '0')
  return day(`${readNumber(year)}-${two(month)}-${two(date)}`)
}
