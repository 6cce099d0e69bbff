// The values that can be: what lies outside of them no living person has had, or no device can measure, and is rejected whatever its source.
// Generous, since an odd value is shown and an impossible one is not. One table for timeseries, and one for the fields of summaries.
// Unsourced: the numbers.
import type { TimeseriesName } from '../resources/timeseries.ts'
import type { StreamList } from '../streams/workout-streams.ts'
import type { SummaryKind } from '../summaries/schema.ts'

export type Bounds = readonly [min: number, max: number]

const percent: Bounds = [0, 100]
const beats: Bounds = [1, 400]
const breaths: Bounds = [0, 200]
const celsius: Bounds = [0, 50]
const kilograms: Bounds = [0.1, 1000]
const count: Bounds = [0, 5_000_000]
const events: Bounds = [0, 10_000]
/** Minutes of 24 days, the longest interval. */
const minutes: Bounds = [0, 34_560]
const seconds: Bounds = [0, 2_073_600]
const meters: Bounds = [0, 10_000_000]
const altitude: Bounds = [-12_000, 50_000]
const kilocalories: Bounds = [0, 100_000]
const watts: Bounds = [0, 10_000]
const speed: Bounds = [0, 1000]
const variability: Bounds = [0, 5000]
const antibodies: Bounds = [0, 1_000_000]
const offsetBounds: Bounds = [-64_800, 64_800]

/** In the units of timeseries. A note has no number. */
export const sampleBounds: Readonly<Record<Exclude<TimeseriesName, 'note'>, Bounds>> = {
  afib_burden: percent,
  basal_body_temperature: celsius,
  blood_oxygen: percent,
  blood_pressure: [1, 500],
  body_fat: percent,
  body_mass_index: [3, 250],
  body_temperature: celsius,
  body_temperature_delta: [-20, 20],
  body_weight: kilograms,
  caffeine: [0, 100],
  calories_active: kilocalories,
  calories_basal: kilocalories,
  carbohydrates: [0, 10_000],
  cholesterol: [0, 500],
  daylight_exposure: minutes,
  distance: meters,
  electrocardiogram_voltage: [-1000, 1000],
  fall: events,
  floors_climbed: [0, 100_000],
  forced_expiratory_volume_1: [0, 20],
  forced_vital_capacity: [0, 20],
  glucose: [0.1, 200],
  handwashing: events,
  heart_rate_alert: events,
  heart_rate_recovery_one_minute: [-100, 400],
  heartrate: beats,
  hrv: variability,
  hypnogram: [-1, 5],
  ige: antibodies,
  igg: antibodies,
  inhaler_usage: events,
  insulin_injection: [0, 10_000],
  lean_body_mass: kilograms,
  mindfulness_minutes: minutes,
  peak_expiratory_flow_rate: [0, 2000],
  respiratory_rate: breaths,
  sleep_apnea_alert: events,
  sleep_breathing_disturbance: events,
  stand_duration: minutes,
  stand_hour: events,
  steps: count,
  stress_level: percent,
  uv_exposure: [0, 100],
  vo2_max: [0.1, 150],
  waist_circumference: [1, 1000],
  water: [0, 100_000],
  wheelchair_push: count,
  workout_distance: meters,
  workout_duration: minutes,
  workout_swimming_stroke: count,
}

/** Seconds of a day that has 25 hours, and of the longest night. */
const dayMinutes: Bounds = [0, 1500]
const night: Bounds = [0, 604_800]

/** Fields of summaries by kind, those of objects with a point, and what only queries show. */
export const fieldBounds: Readonly<Record<SummaryKind, Readonly<Record<string, Bounds>>>> = {
  activity: {
    calories_total: kilocalories,
    calories_active: kilocalories,
    steps: [0, 1_000_000],
    daily_movement: meters,
    distance: meters,
    low: dayMinutes,
    medium: dayMinutes,
    high: dayMinutes,
    floors_climbed: [0, 20_000],
    timezone_offset: offsetBounds,
    'heart_rate.avg_bpm': beats,
    'heart_rate.min_bpm': beats,
    'heart_rate.max_bpm': beats,
    'heart_rate.resting_bpm': beats,
    'heart_rate.avg_walking_bpm': beats,
    wheelchair_push: [0, 1_000_000],
    duration_active_second: [0, 90_000],
    intensity_sedentary_second: [0, 90_000],
  },
  sleep: {
    timezone_offset: offsetBounds,
    score: percent,
    recovery_readiness_score: percent,
    hr_lowest: beats,
    hr_average: beats,
    hr_resting: beats,
    efficiency: percent,
    latency: night,
    temperature_delta: [-20, 20],
    skin_temperature: [0, 50],
    hr_dip: [-100, 100],
    average_hrv: variability,
    respiratory_rate: breaths,
    heart_rate_maximum: beats,
    hrv_mean_sdnn: variability,
    stage_unknown_second: night,
  },
  sleep_cycle: {},
  workouts: {
    timezone_offset: offsetBounds,
    average_hr: beats,
    max_hr: beats,
    distance: meters,
    calories: kilocalories,
    moving_time: seconds,
    total_elevation_gain: [0, 200_000],
    elev_high: altitude,
    elev_low: altitude,
    average_speed: speed,
    max_speed: speed,
    average_watts: watts,
    device_watts: watts,
    max_watts: watts,
    weighted_average_watts: watts,
    steps: [0, 1_000_000],
    heart_rate_minimum: beats,
  },
  body: {
    weight: kilograms,
    fat: percent,
    water_percentage: percent,
    muscle_mass_percentage: percent,
    visceral_fat_index: [0, 1000],
    bone_mass_percentage: percent,
    body_mass_index: [3, 250],
    lean_body_mass_kilogram: kilograms,
    waist_circumference_centimeter: [1, 1000],
  },
  profile: { height: [20, 300] },
  menstrual_cycle: {},
  meal: {},
  electrocardiogram: { heart_rate_mean: beats, sampling_frequency_hz: [0, 1_000_000] },
}

/** Seconds of a zone of heart rate, and amounts of nutrients in whatever unit. */
export const zoneBounds = seconds
export const nutrientBounds: Bounds = [0, 10_000_000]
/** Bounds of temperatures in a menstrual cycle. */
export const basalBounds = celsius

/** The lists of the stream of a workout. */
export const streamBounds: Readonly<Record<StreamList, Bounds>> = {
  cadence: [0, 1000],
  altitude,
  velocity_smooth: speed,
  heartrate: beats,
  lat: [-90, 90],
  lng: [-180, 180],
  distance: meters,
  power: watts,
  resistance: [-100_000, 100_000],
  temperature: [-100, 100],
}

export const isWithin = (value: number, [min, max]: Bounds): boolean => value >= min && value <= max
