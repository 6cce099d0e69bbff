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
