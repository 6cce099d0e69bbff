// The rules of retention: the resources that they can name, and how two lists of them differ.
import type { RetentionRule } from './retention-queries.ts'

export type Resource = NonNullable<RetentionRule['resource']>

/** As the API permits: a hundred years. */
export const DAYS_MAX = 36_500

/** Summaries first, then samples, in the order of the API. */
export const RESOURCES = [
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
  'insulin_injection',
  'blood_pressure',
  'body_temperature',
  'body_temperature_delta',
  'workout_duration',
  'note',
  'hypnogram',
] as const satisfies readonly Resource[]

export function isChanged(rules: readonly RetentionRule[], current: readonly RetentionRule[]): boolean {
  if (rules.length !== current.length) return true
  return rules.some(({ resource, days }) => current.find((rule) => rule.resource === resource)?.days !== days)
}
