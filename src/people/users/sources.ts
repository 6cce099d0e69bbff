// Where data of the body comes from: devices, apps and the clouds behind them, laboratories. Only values, no behaviour.
// Source: openapi-management.json, Providers, OAuthProviders; users-wearables.md 3.
import { OpenEnum, type Static } from '../../platform/schema/schema.ts'

/** Users are sent to these to consent, and come back. */
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

/** Laboratories that results come from. */
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
