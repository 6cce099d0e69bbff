// The events of health data, with samples: three types for each resource. Source: events.md 3, 4.1, 4.2.
import { EXAMPLE_OBJECT, EXAMPLE_USER, type EventType } from '../../platform/queue/event-type.ts'
import { SAMPLE_PROVIDER, sampleSource } from './sample-source.ts'
import { sampleSummary } from './sample-summaries.ts'
import { exampleSample } from './sample-timeseries.ts'

const summaryEvents = [
  'activity',
  'sleep',
  'sleep_cycle',
  'workouts',
  'body',
  'profile',
  'meal',
  'menstrual_cycle',
  'electrocardiogram',
] as const

const shallow = ['workout_stream'] as const

const timeseries = [
  // activity
  'calories_active',
  'calories_basal',
  'distance',
  'floors_climbed',
  'steps',
  'workout_duration',
  'fall',
  'wheelchair_push',
  'stand_duration',
  'stand_hour',
  // vitals
  'heartrate',
  'hrv',
  'blood_oxygen',
  'blood_pressure',
  'glucose',
  'cholesterol',
  'ige',
  'igg',
  'respiratory_rate',
  'vo2_max',
  'electrocardiogram_voltage',
  'afib_burden',
  'heart_rate_alert',
  'heart_rate_recovery_one_minute',
  'forced_expiratory_volume_1',
  'forced_vital_capacity',
  'peak_expiratory_flow_rate',
  'inhaler_usage',
  // body
  'weight',
  'fat',
  'body_temperature',
  'body_temperature_delta',
  'basal_body_temperature',
  'body_mass_index',
  'lean_body_mass',
  'waist_circumference',
  // wellness
  'stress_level',
  'mindfulness_minutes',
  'sleep_apnea_alert',
  'sleep_breathing_disturbance',
  'uv_exposure',
  'daylight_exposure',
  'handwashing',
  // nutrition and diary
  'water',
  'caffeine',
  'carbohydrates',
  'insulin_injection',
  'note',
  // workouts
  'workout_distance',
  'workout_swimming_stroke',
] as const

/** The type of the events of a resource. */
export const dailyEvent = (resource: string, change: 'created' | 'updated'): string => `daily.data.${resource}.${change}`

/** The types of a resource. @param example the data of its `daily` events */
const ofResource = (resource: string, family: EventType['family'], example: EventType['example']): EventType[] => [
  { name: dailyEvent(resource, 'created'), family, resource, example },
  { name: dailyEvent(resource, 'updated'), family, resource, example },
  {
    name: `historical.data.${resource}.created`,
    family: 'historical',
    resource,
    example: ({ at_text }) => ({
      user_id: EXAMPLE_USER,
      start_date: at_text,
      end_date: at_text,
      provider: SAMPLE_PROVIDER,
      is_final: true,
    }),
  },
]

export const eventTypes: readonly EventType[] = [
  ...summaryEvents.flatMap((resource) =>
    ofResource(resource, 'summary', ({ at_text }) =>
      sampleSummary(resource, at_text, { user_id: EXAMPLE_USER, source: sampleSource }),
    ),
  ),
  ...shallow.flatMap((resource) =>
    ofResource(resource, 'shallow', () => ({
      message: 'Read the stream with GET /v2/timeseries/workouts/{workout_id}/stream',
      provider_id: '1',
      workout_id: EXAMPLE_OBJECT,
      sport: { id: 1, name: 'Running', slug: 'running' },
      source: sampleSource,
      user_id: EXAMPLE_USER,
    })),
  ),
  ...timeseries.flatMap((resource) =>
    ofResource(resource, 'timeseries', ({ at_text }) => ({
      user_id: EXAMPLE_USER,
      source_id: 1,
      source: sampleSource,
      data: [exampleSample(resource, at_text)],
    })),
  ),
]
