// The scopes of providers, and the default requirements. Only values. Source: openapi-management.json; users-wearables.md 17.

const google = (area: string, names: string[], end: string): string[] =>
  names.map((name) => `https://www.googleapis.com/auth/${area}.${name}.${end}`)

/** Provider → every scope that requirements may name. */
export const scopes = {
  fitbit: [
    'heartrate',
    'oxygen_saturation',
    'cardio_fitness',
    'respiratory_rate',
    'activity',
    'location',
    'nutrition',
    'profile',
    'settings',
    'sleep',
    'social',
    'weight',
    'temperature',
  ],
  google_fit: [
    'openid',
    'email',
    ...google(
      'fitness',
      ['activity', 'body', 'sleep', 'blood_glucose', 'blood_pressure', 'heart_rate', 'nutrition', 'location'],
      'read',
    ),
  ],
  google_health: [
    'openid',
    'email',
    ...google(
      'googlehealth',
      [
        'activity_and_fitness',
        'sleep',
        'health_metrics_and_measurements',
        'nutrition',
        'ecg',
        'irn',
        'location',
        'profile',
        'settings',
      ],
      'readonly',
    ),
  ],
  oura: ['email', 'personal', 'daily', 'heartrate', 'workout', 'tag', 'session'],
  strava: ['activity:read_all', 'activity:write', 'profile:write', 'profile:read_all'],
  withings: ['user.activity', 'user.metrics', 'user.sleepevents'],
  wahoo: ['email', 'user_read', 'workouts_read', 'offline_data'],
  whoop_v2: ['read:recovery', 'read:cycles', 'read:workout', 'read:sleep', 'read:profile', 'read:body_measurement', 'offline'],
  my_fitness_pal_v2: ['diary', 'measurements', 'private-exercises', 'subscriptions'],
} as const satisfies Record<string, readonly string[]>

export type ScopedProvider = keyof typeof scopes
export const scopedProviders = Object.keys(scopes) as ScopedProvider[]

/** By default every scope is optional, and scopes that allow writing are not requested. */
export const defaultScopes = (provider: ScopedProvider): { user_must_grant: string[]; user_may_grant: string[] } => ({
  user_must_grant: [],
  user_may_grant: scopes[provider].filter((scope) => !scope.endsWith(':write')),
})
