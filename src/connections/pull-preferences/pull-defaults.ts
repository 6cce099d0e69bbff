// Default number of historical days that are requested when a user connects a provider. Only values. Source: management-auth.md 14;
// users-wearables.md 3.
import type { Provider } from '../../people/users/sources.ts'
import type { Resource } from '../../wearables/resources/resources.ts'

/** Maximum number of days. */
export const DAYS_MAX = 365

interface DefaultPull {
  days: number
  /** The provider always gives exactly this number. */
  fixed?: true
  /** Resources with a fixed number of their own. */
  resources?: Partial<Record<Resource, number>>
}

const fitbitSeries = { calories_active: 14, distance: 14, heartrate: 14, steps: 14 }

const defaultPulls = {
  oura: { days: 180 },
  fitbit: { days: 90, resources: fitbitSeries },
  garmin: { days: 90 },
  strava: { days: 14 },
  withings: { days: 90 },
  peloton: { days: 180 },
  wahoo: { days: 180 },
  zwift: { days: 270 },
  freestyle_libre: { days: 90, fixed: true },
  abbott_libreview: { days: 90, fixed: true },
  eight_sleep: { days: 90 },
  renpho: { days: 30 },
  omron: { days: 30 },
  dexcom: { days: 1, fixed: true },
  dexcom_v3: { days: 30 },
  hammerhead: { days: 30 },
  polar: { days: 28, fixed: true },
  cronometer: { days: 28 },
  kardia: { days: 30 },
  whoop_v2: { days: 180 },
  my_fitness_pal_v2: { days: 14 },
  map_my_fitness: { days: 30 },
  runkeeper: { days: 30 },
  apple_health_kit: { days: 30 },
  health_connect: { days: 30, fixed: true },
  google_fit: { days: 90 },
  beurer_api: { days: 30 },
  ultrahuman: { days: 30 },
  google_health: { days: 90 },
} as const satisfies Partial<Record<Provider, DefaultPull>>

export type PulledProvider = keyof typeof defaultPulls
export const pulledProviders = Object.keys(defaultPulls) as PulledProvider[]

export const isPulled = (provider: string): provider is PulledProvider => Object.hasOwn(defaultPulls, provider)

export const defaultPull = (provider: PulledProvider): DefaultPull => defaultPulls[provider]
