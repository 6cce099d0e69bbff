// What phones send of days, nights, workouts, the body and the person. Source: users-wearables.md 16.5, 16.6.
import { DateOnly, Fields, Maybe, OpenEnum, T, Text, Timestamp, type Static } from '../../platform/schema/schema.ts'
import { envelope, Quantity } from './schema.ts'

/** Samples of one kind in a record. */
export const SENT_SAMPLES_MAX = 20_000
export const RECORDS_MAX = 1000
/** Stages of one kind in a night, which has about 30. */
const STAGES_MAX = 500

/** Days whose time zone a post names. */
const DAYS_MAX = 10_000

const quantities = Maybe(T.Array(Quantity, { maxItems: SENT_SAMPLES_MAX, leavesOutFaulty: true }))
export const optionalNumber = Maybe(T.Number())
export const optionalText = (maxLength: number) => Maybe(Text({ maxLength }))

const Day = Fields(
  {
    calendar_date: DateOnly,
    active_energy_burned_sum: optionalNumber,
    basal_energy_burned_sum: optionalNumber,
    steps_sum: optionalNumber,
    floors_climbed_sum: optionalNumber,
    distance_walking_running_sum: optionalNumber,
    vo2_max: optionalNumber,
    low: optionalNumber,
    medium: optionalNumber,
    high: optionalNumber,
    max_heart_rate: optionalNumber,
    min_heart_rate: optionalNumber,
    avg_heart_rate: optionalNumber,
    resting_heart_rate: optionalNumber,
    exercise_time: optionalNumber,
    distance_wheelchair: optionalNumber,
    wheelchair_use: Maybe(T.Boolean()),
    wheelchair_push: optionalNumber,
  },
  { title: 'DaySummary' },
)

const SentActivity = Fields(
  {
    day_summary: Maybe(Day),
    active_energy_burned: quantities,
    basal_energy_burned: quantities,
    steps: quantities,
    floors_climbed: quantities,
    distance_walking_running: quantities,
    vo2_max: quantities,
  },
  { title: 'SentActivity' },
)
export type SentActivity = Static<typeof SentActivity>

const SentBody = Fields(
  {
    body_mass: quantities,
    body_fat_percentage: quantities,
    body_mass_index: quantities,
    waist_circumference: quantities,
    lean_body_mass: quantities,
    time_zones: Maybe(
      T.Array(T.Array(Text({ maxLength: 100 }), { maxItems: 10 }), {
        maxItems: DAYS_MAX,
        description: 'Pairs of a day and the time zone of the phone on it, for measurements that do not have their own.',
      }),
    ),
  },
  { title: 'SentBody' },
)
export type SentBody = Static<typeof SentBody>

const SentProfile = Fields(
  {
    biological_sex: Maybe(OpenEnum(['male', 'female', 'other', 'not_set'])),
    date_of_birth: Maybe(DateOnly),
    height: optionalNumber,
    time_zone: optionalText(100),
    wheelchair_use: Maybe(T.Boolean()),
  },
  { title: 'SentProfile' },
)
export type SentProfile = Static<typeof SentProfile>

const session = {
  id: Text({ minLength: 1, maxLength: 200 }),
  start_date: Timestamp,
  end_date: Timestamp,
  source_bundle: optionalText(300),
  product_type: optionalText(100),
  metadata: Quantity.properties.metadata,
}

const stage = Maybe(T.Array(Quantity, { maxItems: STAGES_MAX }))
const stages = {
  awake_sleep_samples: stage,
  deep_sleep_samples: stage,
  light_sleep_samples: stage,
  rem_sleep_samples: stage,
  unspecified_sleep_samples: stage,
  unknown_sleep_samples: stage,
}
export type StageName = keyof typeof stages

const SentSleep = Fields(
  {
    ...session,
    source_type: optionalText(60),
    heart_rate: quantities,
    heart_rate_variability: quantities,
    respiratory_rate: quantities,
    heart_rate_maximum: optionalNumber,
    heart_rate_minimum: optionalNumber,
    heart_rate_mean: optionalNumber,
    hrv_mean_sdnn: optionalNumber,
    respiratory_rate_mean: optionalNumber,
    wrist_temperature: quantities,
    sleep_stages: Maybe(
      Fields(stages, {
        title: 'SleepStages',
        // The spelling of Android.
        aliases: {
          awakeSleepSamples: 'awake_sleep_samples',
          deepSleepSamples: 'deep_sleep_samples',
          lightSleepSamples: 'light_sleep_samples',
          remSleepSamples: 'rem_sleep_samples',
          unspecifiedSleepSamples: 'unspecified_sleep_samples',
          unknownSleepSamples: 'unknown_sleep_samples',
        },
      }),
    ),
    score: optionalNumber,
  },
  { title: 'SentSleep' },
)
export type SentSleep = Static<typeof SentSleep>

/** Values of one component of a stream in one part: more than a day, second by second. */
const VALUES_MAX = 100_000
const values = T.Array(T.Number(), { maxItems: VALUES_MAX })

const Bulk = Fields(
  {
    anchor: Timestamp,
    value: values,
    start_offset: values,
    end_offset: values,
    source_bundle: optionalText(300),
    product_type: optionalText(100),
    type: optionalText(60),
    metadata: Quantity.properties.metadata,
  },
  { title: 'BulkQuantitySample', description: 'Offsets are seconds from `anchor`.' },
)
export type SentBulk = Static<typeof Bulk>

const SentWorkout = Fields(
  {
    ...session,
    stream: Maybe(
      Fields(
        { components: T.Record(T.String({ maxLength: 100 }), T.Array(Bulk, { maxItems: 200 }), { maxProperties: 50 }) },
        { title: 'SentWorkoutStream' },
      ),
    ),
    moving_time: optionalNumber,
    sport: Text({ minLength: 1, maxLength: 100 }),
    calories: optionalNumber,
    distance: optionalNumber,
    ascent_elevation: optionalNumber,
    descent_elevation: optionalNumber,
    heart_rate_maximum: optionalNumber,
    heart_rate_minimum: optionalNumber,
    heart_rate_mean: optionalNumber,
    heart_rate_zone_max_hr: optionalNumber,
    heart_rate_zone1: optionalNumber,
    heart_rate_zone2: optionalNumber,
    heart_rate_zone3: optionalNumber,
    heart_rate_zone4: optionalNumber,
    heart_rate_zone5: optionalNumber,
    heart_rate_zone6: optionalNumber,
  },
  {
    title: 'SentWorkout',
    aliases: Object.fromEntries([1, 2, 3, 4, 5, 6].map((zone) => [`heart_rate_zone_${zone}`, `heart_rate_zone${zone}`])),
  },
)
export type SentWorkout = Static<typeof SentWorkout>

export const ActivityPost = Fields(
  { ...envelope, data: T.Array(SentActivity, { maxItems: RECORDS_MAX, leavesOutFaulty: true }) },
  { title: 'ActivityPost' },
)
export const BodyPost = Fields({ ...envelope, data: SentBody }, { title: 'BodyPost' })
export const ProfilePost = Fields({ ...envelope, data: SentProfile }, { title: 'ProfilePost' })
export const SleepPost = Fields(
  { ...envelope, data: T.Array(SentSleep, { maxItems: RECORDS_MAX, leavesOutFaulty: true }) },
  { title: 'SleepPost' },
)
export const WorkoutPost = Fields(
  { ...envelope, data: T.Array(SentWorkout, { maxItems: RECORDS_MAX, leavesOutFaulty: true }) },
  { title: 'WorkoutPost' },
)
