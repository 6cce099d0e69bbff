// The resources of health data by what they are about, as the documents show them.
import type { TimeseriesName } from '../../src/wearables/resources/timeseries.ts'

export interface Family {
  /** The file below `docs/wearables/`. */
  file: string
  title: string
  summaries: readonly string[]
  timeseries: readonly TimeseriesName[]
}

export const families: readonly Family[] = [
  {
    file: 'activity',
    title: 'Activity',
    summaries: ['activity'],
    timeseries: [
      'steps',
      'distance',
      'calories_active',
      'calories_basal',
      'floors_climbed',
      'stand_hour',
      'stand_duration',
      'wheelchair_push',
      'fall',
    ],
  },
  {
    file: 'sleep',
    title: 'Sleep',
    summaries: ['sleep', 'sleep_cycle'],
    timeseries: ['hypnogram', 'sleep_apnea_alert', 'sleep_breathing_disturbance'],
  },
  {
    file: 'workouts',
    title: 'Workouts',
    summaries: ['workouts'],
    timeseries: ['workout_duration', 'workout_distance', 'workout_swimming_stroke', 'heart_rate_recovery_one_minute'],
  },
  {
    file: 'heart',
    title: 'Heart and blood pressure',
    summaries: ['electrocardiogram'],
    timeseries: ['heartrate', 'hrv', 'blood_pressure', 'electrocardiogram_voltage', 'afib_burden', 'heart_rate_alert'],
  },
  {
    file: 'respiration',
    title: 'Respiration',
    summaries: [],
    timeseries: [
      'blood_oxygen',
      'respiratory_rate',
      'vo2_max',
      'forced_expiratory_volume_1',
      'forced_vital_capacity',
      'peak_expiratory_flow_rate',
      'inhaler_usage',
    ],
  },
  {
    file: 'blood',
    title: 'Glucose and blood values',
    summaries: [],
    timeseries: ['glucose', 'insulin_injection', 'cholesterol', 'ige', 'igg'],
  },
  {
    file: 'body',
    title: 'Body',
    summaries: ['body', 'profile'],
    timeseries: [
      'body_weight',
      'body_fat',
      'body_mass_index',
      'lean_body_mass',
      'waist_circumference',
      'body_temperature',
      'body_temperature_delta',
      'basal_body_temperature',
    ],
  },
  { file: 'nutrition', title: 'Nutrition', summaries: ['meal'], timeseries: ['water', 'caffeine', 'carbohydrates'] },
  { file: 'menstrual-cycle', title: 'Menstrual cycle', summaries: ['menstrual_cycle'], timeseries: [] },
  {
    file: 'wellness',
    title: 'Wellness',
    summaries: [],
    timeseries: ['stress_level', 'mindfulness_minutes', 'uv_exposure', 'daylight_exposure', 'handwashing', 'note'],
  },
]
