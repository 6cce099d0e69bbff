// Shapes of summaries. Source: users-wearables.md 9.
import {
  DateOnly,
  describedAs,
  Fields,
  Maybe,
  Nullable,
  OpenEnum,
  T,
  Timestamp,
  Uuid,
  type TSchema,
} from '../../platform/schema/schema.ts'
import { DataSource } from '../resources/data-source.ts'
import { sourceTypes } from '../resources/timeseries.ts'
import { cycleLists } from './cycle-lists.ts'
import { fieldDescriptions } from './field-descriptions.ts'
import { Food, nutrition } from './nutrition.ts'

const nullableNumber = Nullable(T.Number())
const integer = Nullable(T.Integer())
const nullableText = Nullable(T.String())
const WorkoutMap = Fields(
  { polyline: nullableText, summary_polyline: nullableText },
  { title: 'WorkoutMap', description: 'The way as encoded polylines; the second has fewer points.' },
)
/** The source once more, next to `source`. */
const flatSource = {
  source_provider: T.String(),
  source_type: OpenEnum(sourceTypes),
  source_app_id: nullableText,
  source_device_id: Nullable(Uuid),
}

/** Gives fields their units. */
const withDescriptions = <F extends Record<string, TSchema>>(fields: F): F =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, describedAs(schema, fieldDescriptions[name])])) as F

/** The fields of each kind, in addition to the common ones. */
const fields = {
  activity: withDescriptions({
    date: Timestamp,
    calendar_date: DateOnly,
    calories_total: nullableNumber,
    calories_active: nullableNumber,
    steps: integer,
    daily_movement: nullableNumber,
    distance: nullableNumber,
    low: nullableNumber,
    medium: nullableNumber,
    high: nullableNumber,
    floors_climbed: integer,
    time_zone: nullableText,
    timezone_offset: integer,
    heart_rate: Nullable(
      Fields({
        avg_bpm: nullableNumber,
        min_bpm: nullableNumber,
        max_bpm: nullableNumber,
        resting_bpm: nullableNumber,
        avg_walking_bpm: nullableNumber,
      }),
    ),
    wheelchair_use: Nullable(T.Boolean()),
    wheelchair_push: integer,
  }),
  sleep: withDescriptions({
    date: Timestamp,
    calendar_date: DateOnly,
    bedtime_start: Timestamp,
    bedtime_stop: Timestamp,
    type: OpenEnum(['long_sleep', 'short_sleep', 'acknowledged_nap', 'unknown']),
    timezone_offset: integer,
    duration: T.Integer(),
    total: T.Integer(),
    awake: T.Integer(),
    light: T.Integer(),
    rem: T.Integer(),
    deep: T.Integer(),
    score: integer,
    recovery_readiness_score: integer,
    hr_lowest: integer,
    hr_average: integer,
    hr_resting: integer,
    efficiency: nullableNumber,
    latency: integer,
    temperature_delta: nullableNumber,
    skin_temperature: nullableNumber,
    hr_dip: nullableNumber,
    state: Nullable(OpenEnum(['tentative', 'confirmed'])),
    average_hrv: nullableNumber,
    respiratory_rate: nullableNumber,
    sleep_stream: T.Null(),
  }),
  sleep_cycle: withDescriptions({
    sleep_id: Uuid,
    session_start: Timestamp,
    session_end: Timestamp,
    stage_start_offset_second: T.Array(T.Integer()),
    stage_end_offset_second: T.Array(T.Integer()),
    stage_type: T.Array(T.Integer()),
    time_zone: nullableText,
    ...flatSource,
  }),
  workouts: withDescriptions({
    title: nullableText,
    timezone_offset: integer,
    average_hr: integer,
    max_hr: integer,
    distance: nullableNumber,
    calendar_date: DateOnly,
    time_start: Timestamp,
    time_end: Timestamp,
    calories: nullableNumber,
    sport: Fields({ id: T.Integer(), name: T.String(), slug: T.String() }, { title: 'Sport' }),
    hr_zones: Nullable(
      T.Array(T.Integer(), {
        description:
          'Seconds in six zones: below 50 %, 50–60, 60–70, 70–80, 80–90 and from 90 % of the maximum heart rate. Computed from heart rates if the source sends none.',
      }),
    ),
    moving_time: integer,
    total_elevation_gain: nullableNumber,
    elev_high: nullableNumber,
    elev_low: nullableNumber,
    average_speed: nullableNumber,
    max_speed: nullableNumber,
    average_watts: nullableNumber,
    device_watts: nullableNumber,
    max_watts: nullableNumber,
    weighted_average_watts: nullableNumber,
    steps: integer,
    map: Nullable(WorkoutMap),
    provider_id: T.String(),
  }),
  body: withDescriptions({
    date: Timestamp,
    calendar_date: DateOnly,
    weight: nullableNumber,
    fat: nullableNumber,
    water_percentage: nullableNumber,
    muscle_mass_percentage: nullableNumber,
    visceral_fat_index: nullableNumber,
    bone_mass_percentage: nullableNumber,
    body_mass_index: nullableNumber,
    lean_body_mass_kilogram: nullableNumber,
    waist_circumference_centimeter: nullableNumber,
  }),
  profile: withDescriptions({
    height: integer,
    birth_date: Nullable(DateOnly),
    wheelchair_use: Nullable(T.Boolean()),
    gender: Nullable(OpenEnum(['female', 'male', 'other', 'unknown'])),
    sex: Nullable(OpenEnum(['female', 'male', 'other'])),
  }),
  meal: withDescriptions({
    timestamp: Timestamp,
    calendar_date: DateOnly,
    name: T.String(),
    ...nutrition,
    data: T.Record(T.String(), Food),
    source_app_id: nullableText,
    source_device_id: Nullable(Uuid),
    provider_id: T.String(),
    priority_id: T.Integer(),
    source_id: T.Integer(),
  }),
  menstrual_cycle: withDescriptions({
    period_start: DateOnly,
    period_end: Nullable(DateOnly),
    cycle_end: Nullable(DateOnly),
    is_predicted: T.Boolean(),
    ...cycleLists,
    ...flatSource,
  }),
  electrocardiogram: withDescriptions({
    session_start: Timestamp,
    session_end: Timestamp,
    voltage_sample_count: T.Integer(),
    heart_rate_mean: integer,
    sampling_frequency_hz: nullableNumber,
    classification: Nullable(OpenEnum(['sinus_rhythm', 'atrial_fibrillation', 'inconclusive'])),
    inconclusive_cause: Nullable(OpenEnum(['high_heart_rate', 'low_heart_rate', 'poor_reading'])),
    algorithm_version: nullableText,
    time_zone: nullableText,
    ...flatSource,
    source_device_model: nullableText,
  }),
} as const

export type SummaryKind = keyof typeof fields
export const summaryKinds = Object.keys(fields) as SummaryKind[]

const common = { id: Uuid, user_id: Uuid, source: DataSource, created_at: Timestamp, updated_at: Timestamp }
export const Activity = Fields({ ...common, ...fields.activity }, { title: 'Activity' })
export const Sleep = Fields({ ...common, ...fields.sleep }, { title: 'Sleep' })
export const SleepCycle = Fields({ ...common, ...fields.sleep_cycle }, { title: 'SleepCycle' })
export const Workout = Fields(
  {
    ...common,
    ...fields.workouts,
    user_key: Maybe(T.String({ description: 'The `user_id`, for the published client for Android alone; so is `id` in `map`.' })),
    map: Nullable(Fields({ ...WorkoutMap.properties, id: Maybe(T.String()) }, { title: 'ListedWorkoutMap' })),
  },
  { title: 'Workout' },
)
export const Body = Fields({ ...common, ...fields.body }, { title: 'Body' })
export const Profile = Fields({ ...common, ...fields.profile }, { title: 'Profile' })
export const Meal = Fields({ ...common, ...fields.meal }, { title: 'Meal' })
export const MenstrualCycle = Fields({ ...common, ...fields.menstrual_cycle }, { title: 'MenstrualCycle' })
export const Electrocardiogram = Fields({ ...common, ...fields.electrocardiogram }, { title: 'Electrocardiogram' })

/** What a kind stores: fields that may be absent are shown as null. */
export type Document<K extends SummaryKind> = Partial<{ [F in keyof (typeof fields)[K]]: unknown }>

/** What a field shows that a document leaves out, where it is not null. */
const defaults: Partial<Record<SummaryKind, Record<string, unknown>>> = {
  meal: { data: {} },
  menstrual_cycle: { is_predicted: false, ...Object.fromEntries(Object.keys(cycleLists).map((name) => [name, []])) },
}

/** The fields of a kind, with what they show if a document leaves them out. */
export const emptyDocument = (kind: SummaryKind): Record<string, unknown> => ({
  ...Object.fromEntries(Object.keys(fields[kind]).map((name) => [name, null])),
  ...defaults[kind],
})
