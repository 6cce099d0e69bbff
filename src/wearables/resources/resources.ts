// Resources of health data: summaries, one a day or session, and timeseries, many samples each. Only values, no behavior.
// Source: openapi-management.json, Resource; users-wearables.md 3, 10.

const summaries = [
  'profile',
  'activity',
  'sleep',
  'sleep_cycle',
  'sleep_stream',
  'body',
  'workouts',
  'workout_stream',
  'meal',
  'menstrual_cycle',
  'electrocardiogram',
] as const

/** One number at an instant. */
export const pointTimeseries = [
  'glucose',
  'heartrate',
  'hrv',
  'ige',
  'igg',
  'cholesterol',
  'weight',
  'fat',
  'blood_oxygen',
  'electrocardiogram_voltage',
  'respiratory_rate',
  'stress_level',
] as const

/** One number over an interval. */
export const intervalTimeseries = [
  'steps',
  'distance',
  'vo2_max',
  'heart_rate_alert',
  'stand_hour',
  'sleep_breathing_disturbance',
  'water',
  'caffeine',
  'mindfulness_minutes',
  'calories_active',
  'floors_climbed',
  'calories_basal',
  'afib_burden',
  'stand_duration',
  'sleep_apnea_alert',
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
  'body_mass_index',
  'lean_body_mass',
  'waist_circumference',
  'heart_rate_recovery_one_minute',
  'workout_swimming_stroke',
  'workout_distance',
  'carbohydrates',
] as const

/** Timeseries whose samples have more than one number. */
const otherTimeseries = [
  'insulin_injection',
  'blood_pressure',
  'body_temperature',
  'body_temperature_delta',
  'workout_duration',
  'note',
  'hypnogram',
] as const

export const resources = [...summaries, ...pointTimeseries, ...intervalTimeseries, ...otherTimeseries] as const
export type Resource = (typeof resources)[number]
