// The timeseries that are read and sent, by the name in their path: units, shapes, names of events. Only values.
// Source: users-wearables.md 10, 16.5; events.md 3.3.
import type { Resource } from './resources.ts'

export interface Timeseries {
  /** As in every sample; what a device sends is converted to it. */
  unit: string
  /** A sample covers an interval; else it is of an instant. */
  isInterval: boolean
  /** As in `daily.data.{event}.created`; null: there are no events. */
  event: string | null
  /** There is a deprecated list of samples without sources. */
  hasPlainList: boolean
}

const series = (unit: string, isInterval: boolean, options: Partial<Pick<Timeseries, 'event' | 'hasPlainList'>> = {}) => ({
  unit,
  isInterval,
  hasPlainList: false,
  ...options,
})
const point = (unit: string, options: Partial<Timeseries> = {}) => series(unit, false, { hasPlainList: true, ...options })
const interval = (unit: string, options: Partial<Timeseries> = {}) => series(unit, true, options)
const listed = { hasPlainList: true }

const table = {
  afib_burden: interval('%'),
  basal_body_temperature: interval('°C'),
  blood_oxygen: point('%'),
  blood_pressure: point('mmHg'),
  body_fat: point('%', { event: 'fat' }),
  body_mass_index: interval('index'),
  body_temperature: interval('°C'),
  body_temperature_delta: interval('°C'),
  body_weight: point('kg', { event: 'weight' }),
  caffeine: interval('g', listed),
  calories_active: interval('kcal', listed),
  calories_basal: point('kcal'),
  carbohydrates: interval('g'),
  cholesterol: point('mmol/L'),
  daylight_exposure: interval('min'),
  distance: interval('m', listed),
  electrocardiogram_voltage: point('mV'),
  fall: interval('count'),
  floors_climbed: point('count'),
  forced_expiratory_volume_1: interval('L'),
  forced_vital_capacity: interval('L'),
  glucose: point('mmol/L'),
  handwashing: interval('count'),
  heart_rate_alert: interval('count'),
  heart_rate_recovery_one_minute: interval('count'),
  heartrate: point('bpm'),
  hrv: point('rmssd'),
  hypnogram: interval('stage', { event: null, hasPlainList: true }),
  ige: point('FSU'),
  igg: point('FSU'),
  inhaler_usage: interval('count'),
  insulin_injection: interval('unit'),
  lean_body_mass: interval('kg'),
  mindfulness_minutes: interval('min', listed),
  note: interval('text'),
  peak_expiratory_flow_rate: interval('L/min'),
  respiratory_rate: point('bpm'),
  sleep_apnea_alert: interval('count'),
  sleep_breathing_disturbance: interval('count'),
  stand_duration: interval('min'),
  stand_hour: interval('count'),
  steps: interval('count', listed),
  stress_level: point('%'),
  uv_exposure: interval('index'),
  vo2_max: interval('mL/kg/min', listed),
  waist_circumference: interval('cm'),
  water: point('ml'),
  wheelchair_push: interval('count'),
  workout_distance: interval('m'),
  workout_duration: interval('min'),
  workout_swimming_stroke: interval('count'),
} satisfies Record<string, Omit<Timeseries, 'event'> & { event?: string | null }>

export type TimeseriesName = keyof typeof table
export const timeseriesNames = Object.keys(table) as TimeseriesName[]
/** The timeseries that phones post, each by itself. Others come with summaries. */
export const postedTimeseries = [
  'glucose',
  'blood_oxygen',
  'blood_pressure',
  'heartrate',
  'water',
  'caffeine',
  'mindfulness_minutes',
  'calories_active',
  'calories_basal',
  'distance',
  'floors_climbed',
  'steps',
  'vo2_max',
  'respiratory_rate',
  'afib_burden',
  'heart_rate_alert',
  'stand_hour',
  'stand_duration',
  'sleep_apnea_alert',
  'sleep_breathing_disturbance',
  'wheelchair_push',
  'forced_expiratory_volume_1',
  'forced_vital_capacity',
  'peak_expiratory_flow_rate',
  'inhaler_usage',
  'fall',
  'uv_exposure',
  'daylight_exposure',
  'handwashing',
  'basal_body_temperature',
  'heart_rate_recovery_one_minute',
  'hrv',
  'body_temperature',
] as const satisfies TimeseriesName[]

/** What several apps or devices count at the same time, so that their values must not be added up. */
const counted: ReadonlySet<TimeseriesName> = new Set<TimeseriesName>([
  'calories_active',
  'calories_basal',
  'daylight_exposure',
  'distance',
  'floors_climbed',
  'stand_duration',
  'stand_hour',
  'steps',
  'wheelchair_push',
  'workout_distance',
  'workout_duration',
  'workout_swimming_stroke',
])
export const isCounted = (name: TimeseriesName): boolean => counted.has(name)

export const plainListNames = timeseriesNames.filter((name) => table[name].hasPlainList)

export const isTimeseries = (name: string): name is TimeseriesName => Object.hasOwn(table, name)

const entries = Object.fromEntries(
  timeseriesNames.map((name) => {
    const entry: Omit<Timeseries, 'event'> & { event?: string | null } = table[name]
    return [name, { ...entry, event: entry.event === undefined ? name : entry.event }]
  }),
) as Record<TimeseriesName, Timeseries>

export const timeseriesOf = (name: TimeseriesName): Timeseries => entries[name]

/** The name of a timeseries among all resources: that of its events. */
export const resourceNameOf = (name: TimeseriesName): Resource => (timeseriesOf(name).event ?? name) as Resource

/** What recorded a sample. Source: events.md 2. */
export const sourceTypes = [
  'unknown',
  'phone',
  'watch',
  'app',
  'multiple_sources',
  'fingerprick',
  'cuff',
  'manual_scan',
  'automatic',
  'insulin_pump',
  'scale',
  'chest_strap',
  'ring',
  'lab',
  'exercise_machine',
  'earphone',
] as const
export type SourceType = (typeof sourceTypes)[number]
export const isSourceType = (text: string): text is SourceType => (sourceTypes as readonly string[]).includes(text)
