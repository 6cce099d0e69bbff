// The event types, as data. Endpoints filter by them; samples are made for them. Source: events.md 3.

const summaries = [
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

export type Family = 'summary' | 'shallow' | 'timeseries' | 'historical' | 'provider' | 'lab' | 'query' | 'operational'

export interface EventType {
  name: string
  family: Family
  /** The resource of `daily` and `historical` events. */
  resource: string | null
}

const ofResource = (resource: string, family: Family): EventType[] => [
  { name: `daily.data.${resource}.created`, family, resource },
  { name: `daily.data.${resource}.updated`, family, resource },
  { name: `historical.data.${resource}.created`, family: 'historical', resource },
]
const of = (family: Family, names: string[]): EventType[] => names.map((name) => ({ name, family, resource: null }))

/** The types of events for a team: 194. */
export const eventTypes: readonly EventType[] = [
  ...summaries.flatMap((resource) => ofResource(resource, 'summary')),
  ...shallow.flatMap((resource) => ofResource(resource, 'shallow')),
  ...timeseries.flatMap((resource) => ofResource(resource, 'timeseries')),
  ...of('provider', [
    'provider.connection.created',
    'provider.connection.error',
    'provider.device.created',
    'provider.device.updated',
  ]),
  ...of('lab', [
    'labtest.order.created',
    'labtest.order.updated',
    'labtest.appointment.created',
    'labtest.appointment.updated',
    'labtest.result.critical',
    'labtest.match_review.created',
    'labtest.match_review.updated',
    'lab_report.parsing_job.created',
    'lab_report.parsing_job.updated',
  ]),
  ...of('query', ['continuous_query.result_table.changed']),
]

/** Types of operational messages; sent only to endpoints that subscribe to them by name. Source: events.md 6.8. */
export const operationalTypes: readonly EventType[] = of('operational', [
  'message.attempt.exhausted',
  'message.attempt.failing',
  'message.attempt.recovered',
  'endpoint.disabled',
])

const all = new Map([...eventTypes, ...operationalTypes].map((type) => [type.name, type]))

/** A type by its name; undefined if unknown. */
export const eventType = (name: string): EventType | undefined => all.get(name)
