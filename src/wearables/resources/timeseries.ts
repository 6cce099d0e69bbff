// The timeseries that are read and sent, by the name in their path: units, shapes, names of events. Only values.
// Source: users-wearables.md 10, 16.5; events.md 3.3.
import type { Resource } from './resources.ts'

export interface Timeseries {
  /** As in every sample; what a device sends is converted to it. */
  unit: string
  /** A value of a fictional person. */
  example: number | string
  /** A sample covers an interval; else it is of an instant. */
  isInterval: boolean
  /** As in `daily.data.{event}.created`; null: there are no events. */
  event: string | null
  /** There is a deprecated list of samples without sources. */
  hasPlainList: boolean
}

type Example = Timeseries['example']
type Options = Partial<Pick<Timeseries, 'event' | 'hasPlainList'>>
const point = (unit: string, example: Example, options: Options = {}) => ({
  unit,
  example,
  isInterval: false,
  hasPlainList: true,
  ...options,
})
const interval = (unit: string, example: Example, options: Options = {}) => ({
  unit,
  example,
  isInterval: true,
  hasPlainList: false,
  ...options,
})
const listed = { hasPlainList: true }

const table = {
  afib_burden: interval('%', 1),
  basal_body_temperature: interval('°C', 36.4),
  blood_oxygen: point('%', 97),
  blood_pressure: point('mmHg', 120),
  body_fat: point('%', 24, { event: 'fat' }),
  body_mass_index: interval('index', 22.8),
  body_temperature: interval('°C', 36.7),
  body_temperature_delta: interval('°C', 0.2),
  body_weight: point('kg', 68.4, { event: 'weight' }),
  caffeine: interval('g', 0.08, listed),
  calories_active: interval('kcal', 12.5, listed),
  // The reference calls basal calories, climbed floors and water points, and its prose intervals.
  calories_basal: point('kcal', 68),
  carbohydrates: interval('g', 45),
  cholesterol: point('mmol/L', 4.6),
  daylight_exposure: interval('min', 25),
  distance: interval('m', 410, listed),
  electrocardiogram_voltage: point('mV', 0.12),
  fall: interval('count', 1),
  floors_climbed: point('count', 2),
  forced_expiratory_volume_1: interval('L', 3.4),
  forced_vital_capacity: interval('L', 4.2),
  glucose: point('mmol/L', 5.2),
  handwashing: interval('count', 1),
  heart_rate_alert: interval('count', 1),
  heart_rate_recovery_one_minute: interval('count', 28),
  heartrate: point('bpm', 62),
  hrv: point('rmssd', 48),
  hypnogram: interval('stage', 2, { event: null, hasPlainList: true }),
  ige: point('FSU', 0.2),
  igg: point('FSU', 0.2),
  inhaler_usage: interval('count', 1),
  insulin_injection: interval('unit', 4),
  lean_body_mass: interval('kg', 52),
  mindfulness_minutes: interval('min', 10, listed),
  note: interval('text', 'A fictional note'),
  peak_expiratory_flow_rate: interval('L/min', 480),
  respiratory_rate: point('bpm', 14),
  sleep_apnea_alert: interval('count', 1),
  sleep_breathing_disturbance: interval('count', 3),
  stand_duration: interval('min', 5),
  stand_hour: interval('count', 1),
  steps: interval('count', 512, listed),
  stress_level: point('%', 21),
  uv_exposure: interval('index', 4),
  vo2_max: interval('mL/kg/min', 41.5, listed),
  waist_circumference: interval('cm', 78),
  water: point('ml', 250),
  wheelchair_push: interval('count', 40),
  workout_distance: interval('m', 1200),
  workout_duration: interval('min', 30),
  workout_swimming_stroke: interval('count', 20),
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
