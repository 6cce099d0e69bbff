// The devices of demo connections, and what each records.
import type { SourceType, TimeseriesName } from '../../wearables/resources/timeseries.ts'
import type { SummaryKind } from '../../wearables/summaries/schema.ts'
import { plans } from './measurements.ts'

export const demoProviders = ['apple_health_kit', 'fitbit', 'freestyle_libre', 'oura'] as const
export type DemoProvider = (typeof demoProviders)[number]

interface Device {
  source_type: SourceType
  app_id: string | null
  timeseries: readonly TimeseriesName[]
  summaries: readonly SummaryKind[]
}

const nights = ['sleep', 'sleep_cycle'] as const
export const ofWorkouts = ['workout_distance', 'workout_duration', 'workout_swimming_stroke'] as const
/** What a health store has of further apps and devices. */
const ofStore = (Object.keys(plans) as TimeseriesName[]).filter(
  (name) => !['body_temperature_delta', 'stress_level', 'carbohydrates', 'insulin_injection', 'note'].includes(name),
)
/** What each device records. */
export const devices: Record<DemoProvider, Device> = {
  apple_health_kit: {
    source_type: 'watch',
    app_id: 'com.apple.health.demo',
    timeseries: ['heartrate', 'hrv', 'steps', 'distance', 'calories_active', 'body_weight', ...ofStore, ...ofWorkouts],
    summaries: ['profile', 'activity', ...nights, 'workouts', 'body', 'meal', 'menstrual_cycle', 'electrocardiogram'],
  },
  fitbit: {
    source_type: 'watch',
    app_id: null,
    timeseries: ['heartrate', 'hrv', 'steps', 'distance', 'calories_active', 'body_temperature_delta', 'stress_level'],
    summaries: ['profile', 'activity', ...nights, 'workouts'],
  },
  freestyle_libre: {
    source_type: 'automatic',
    app_id: null,
    timeseries: ['glucose', 'carbohydrates', 'insulin_injection', 'note'],
    summaries: [],
  },
  oura: {
    source_type: 'ring',
    app_id: null,
    timeseries: ['heartrate', 'hrv'],
    summaries: ['profile', 'activity', ...nights, 'workouts'],
  },
}
