// Sources of health data: devices, apps and their clouds, laboratories. Only values, no behavior.
// Source: openapi-management.json, Providers, OAuthProviders; users-wearables.md 3.
import { OpenEnum } from '../../platform/schema/schema.ts'

const oauthProviderNames = {
  oura: 'Oura',
  fitbit: 'Fitbit',
  garmin: 'Garmin',
  strava: 'Strava',
  wahoo: 'Wahoo',
  ihealth: 'iHealth',
  withings: 'Withings',
  google_fit: 'Google Fit',
  dexcom_v3: 'Dexcom',
  polar: 'Polar',
  cronometer: 'Cronometer',
  omron: 'Omron',
  whoop_v2: 'WHOOP',
  my_fitness_pal_v2: 'MyFitnessPal',
  ultrahuman: 'Ultrahuman',
  runkeeper: 'Runkeeper',
  google_health: 'Google Health',
} as const
export type OAuthProvider = keyof typeof oauthProviderNames
/** Providers to which users are redirected for consent. */
export const oauthProviders = Object.keys(oauthProviderNames) as OAuthProvider[]
export const OAuthProvider = OpenEnum(oauthProviders, { title: 'OAuthProviders' })

const providerNames = {
  ...oauthProviderNames,
  whoop: 'WHOOP',
  renpho: 'Renpho',
  peloton: 'Peloton',
  zwift: 'Zwift',
  freestyle_libre: 'FreeStyle Libre',
  abbott_libreview: 'LibreView',
  tandem_source: 'Tandem Source',
  freestyle_libre_ble: 'FreeStyle Libre',
  eight_sleep: 'Eight Sleep',
  apple_health_kit: 'Apple HealthKit',
  manual: 'Manual',
  beurer_api: 'Beurer',
  beurer_ble: 'Beurer',
  omron_ble: 'Omron',
  onetouch_ble: 'OneTouch',
  accuchek_ble: 'Accu-Chek',
  contour_ble: 'Contour',
  dexcom: 'Dexcom',
  hammerhead: 'Hammerhead',
  my_fitness_pal: 'MyFitnessPal',
  health_connect: 'Health Connect',
  samsung_health: 'Samsung Health',
  kardia: 'Kardia',
  map_my_fitness: 'MapMyFitness',
} as const
export type Provider = keyof typeof providerNames
export const providers = Object.keys(providerNames) as Provider[]

/** The name that people know a provider by. */
export const providerName = (slug: string): string =>
  Object.hasOwn(providerNames, slug) ? providerNames[slug as Provider] : slug

/** Laboratories that send results. */
export const labSlugs = [
  'ayumetrix',
  'spiriplex',
  'ussl',
  'quest',
  'sonora_quest',
  'labcorp',
  'bioreference',
  'us_biotek',
  'manual',
  'sanocardio',
  'ihd',
  'nexus',
  'my_uti',
  'crl',
  'mtl',
] as const
