// Sources of health data: devices, apps and their clouds, laboratories. Only values, no behavior.
// Source: openapi-management.json, Providers, OAuthProviders; users-wearables.md 3.
import { OpenEnum, type Static } from '../../platform/schema/schema.ts'

/** Providers to which users are redirected for consent. */
export const oauthProviders = [
  'oura',
  'fitbit',
  'garmin',
  'strava',
  'wahoo',
  'ihealth',
  'withings',
  'google_fit',
  'dexcom_v3',
  'polar',
  'cronometer',
  'omron',
  'whoop_v2',
  'my_fitness_pal_v2',
  'ultrahuman',
  'runkeeper',
  'google_health',
] as const
export const OAuthProvider = OpenEnum(oauthProviders, { title: 'OAuthProviders' })
export type OAuthProvider = Static<typeof OAuthProvider>

export const providers = [
  ...oauthProviders,
  'whoop',
  'renpho',
  'peloton',
  'zwift',
  'freestyle_libre',
  'abbott_libreview',
  'tandem_source',
  'freestyle_libre_ble',
  'eight_sleep',
  'apple_health_kit',
  'manual',
  'beurer_api',
  'beurer_ble',
  'omron_ble',
  'onetouch_ble',
  'accuchek_ble',
  'contour_ble',
  'dexcom',
  'hammerhead',
  'my_fitness_pal',
  'health_connect',
  'samsung_health',
  'kardia',
  'map_my_fitness',
] as const
export type Provider = (typeof providers)[number]

const providerNames: Record<Provider, string> = {
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
}

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
