// A complete summary of each kind, with the data of a fictional person on one day, in the units of the API.
// Source: events.md 4.1; users-wearables.md 9.
import { EXAMPLE_OBJECT, EXAMPLE_OTHER } from '../../platform/queue/event-type.ts'
import { iso, addSeconds } from '../../platform/runtime/clock.ts'

const HOUR_S = 3600

interface Common {
  id: string
  user_id: string
  source: { provider: string; type: string }
  created_at: string
  updated_at: string
}

/** Where the flat fields of a source are next to the source. */
const sourceFields = ({ source }: Common) => ({
  source_provider: source.provider,
  source_type: source.type,
  source_app_id: null,
  source_device_id: null,
})

const minerals = nutrientValues('sodium potassium calcium phosphorus magnesium iron zinc fluoride chloride')
const elements = nutrientValues('chromium copper iodine manganese molybdenum selenium')
const vitamins = nutrientValues(
  'vitamin_a vitamin_b1 riboflavin niacin pantothenic_acid vitamin_b6 biotin vitamin_b12 vitamin_c vitamin_d vitamin_e vitamin_k folic_acid',
)
const nourishment = {
  energy: { unit: 'kcal', value: 420 },
  macros: {
    carbs: 45,
    protein: 18,
    fats: { saturated: 4, monounsaturated: 6, polyunsaturated: 3, omega3: 1, omega6: 2, total: 13 },
    alcohol: 0,
    water: 210,
    fibre: 7,
    sugar: 9,
    cholesterol: 0.1,
  },
  micros: { minerals, trace_elements: elements, vitamins },
}

function nutrientValues(names: string): Record<string, number> {
  return Object.fromEntries(names.split(' ').map((name) => [name, 1]))
}

/** The fields of a summary beyond the common ones. */
const sampleFields: Record<string, (instant: string, common: Common) => Record<string, unknown>> = {
  activity: (instant) => ({
    ...dayFields(instant),
    calories_total: 2150,
    calories_active: 480,
    steps: 8412,
    daily_movement: 6100,
    distance: 6240,
    low: 180,
    medium: 42,
    high: 12,
    floors_climbed: 9,
    time_zone: 'America/Phoenix',
    timezone_offset: -7 * HOUR_S,
    heart_rate: { avg_bpm: 72, min_bpm: 51, max_bpm: 148, resting_bpm: 58, avg_walking_bpm: 96 },
    wheelchair_use: null,
    wheelchair_push: null,
  }),

  sleep: (instant) => ({
    ...dayFields(instant),
    bedtime_start: instantBefore(instant, 8 * HOUR_S),
    bedtime_stop: instant,
    type: 'long_sleep',
    timezone_offset: -7 * HOUR_S,
    duration: 8 * HOUR_S,
    total: 27_000,
    awake: 1800,
    light: 14_400,
    rem: 6300,
    deep: 6300,
    score: 84,
    recovery_readiness_score: 78,
    hr_lowest: 49,
    hr_average: 56,
    hr_resting: 54,
    efficiency: 93.75,
    latency: 600,
    temperature_delta: 0.1,
    skin_temperature: 34.2,
    hr_dip: 14,
    state: 'confirmed',
    average_hrv: 48,
    respiratory_rate: 14.2,
    sleep_stream: null,
  }),

  sleep_cycle: (instant, common) => ({
    sleep_id: EXAMPLE_OTHER,
    session_start: instantBefore(instant, 3 * HOUR_S),
    session_end: instant,
    stage_start_offset_second: [0, HOUR_S, 2 * HOUR_S],
    stage_end_offset_second: [HOUR_S, 2 * HOUR_S, 3 * HOUR_S],
    stage_type: [1, 2, 3],
    time_zone: 'America/Phoenix',
    ...sourceFields(common),
  }),

  workouts: (instant) => ({
    title: 'A fictional run',
    timezone_offset: -7 * HOUR_S,
    average_hr: 138,
    max_hr: 162,
    distance: 5000,
    calendar_date: instant.slice(0, 10),
    time_start: instantBefore(instant, HOUR_S / 2),
    time_end: instant,
    calories: 340,
    sport: { id: 1, name: 'Running', slug: 'running' },
    hr_zones: [60, 240, 900, 480, 120, 0],
    moving_time: 1780,
    total_elevation_gain: 24,
    elev_high: 352,
    elev_low: 331,
    average_speed: 2.8,
    max_speed: 3.9,
    average_watts: null,
    device_watts: null,
    max_watts: null,
    weighted_average_watts: null,
    steps: 4900,
    map: null,
    provider_id: '1',
  }),

  body: (instant) => ({
    ...dayFields(instant),
    weight: 68.4,
    fat: 24,
    water_percentage: 55,
    muscle_mass_percentage: 42,
    visceral_fat_index: 5,
    bone_mass_percentage: 4,
    body_mass_index: 22.8,
    lean_body_mass_kilogram: 52,
    waist_circumference_centimeter: 78,
  }),

  profile: () => ({ height: 173, birth_date: '1990-01-31', wheelchair_use: null, gender: 'female', sex: 'female' }),

  meal: (instant) => ({
    priority_id: 1,
    source_id: 1,
    provider_id: EXAMPLE_OBJECT,
    timestamp: instant,
    calendar_date: instant.slice(0, 10),
    name: 'Lunch',
    ...nourishment,
    data: { 'a fictional dish': nourishment },
    source_app_id: null,
    source_device_id: null,
  }),

  menstrual_cycle: (instant, common) => {
    const date = instant.slice(0, 10)
    return {
      period_start: date,
      period_end: null,
      cycle_end: null,
      is_predicted: false,
      menstrual_flow: [{ date, flow: 'medium' }],
      cervical_mucus: [{ date, quality: 'creamy' }],
      intermenstrual_bleeding: [],
      contraceptive: [],
      detected_deviations: [],
      ovulation_test: [],
      home_pregnancy_test: [],
      home_progesterone_test: [],
      sexual_activity: [],
      basal_body_temperature: [{ date, value: 36.4 }],
      ...sourceFields(common),
    }
  },

  electrocardiogram: (instant, common) => ({
    session_start: instantBefore(instant, 30),
    session_end: instant,
    voltage_sample_count: 15_360,
    heart_rate_mean: 64,
    sampling_frequency_hz: 512,
    classification: 'sinus_rhythm',
    inconclusive_cause: null,
    algorithm_version: '2',
    time_zone: 'America/Phoenix',
    source_device_model: null,
    ...sourceFields(common),
  }),
}

const instantBefore = (instant: string, seconds: number): string => iso(addSeconds(new Date(instant), -seconds))

/** The day, and the older field for it. */
const dayFields = (instant: string) => ({ calendar_date: instant.slice(0, 10), date: `${instant.slice(0, 10)}T00:00:00+00:00` })

/** A summary that was discovered at an instant, an ISO 8601 text. */
export function sampleSummary(resource: string, instant: string, origin: { user_id: string; source: Common['source'] }) {
  const common = { id: EXAMPLE_OBJECT, ...origin, created_at: instant, updated_at: instant }
  const summary = sampleFields[resource]
  if (!summary) throw new Error(`the summary ${resource} has no sample`)
  return { ...common, ...summary(instant, common) }
}
