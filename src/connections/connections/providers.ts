// The providers that users of this server can be connected to: apps and devices whose data a phone or a client sends, and clouds of vendors
// that have a connector. Only values. Source: users-wearables.md 3, 16.3, 16.5.
import type { OAuthProvider, Provider } from '../../people/users/sources.ts'
import type { Resource } from '../../wearables/resources/resources.ts'
import { connectorOf, connectors } from '../connectors/connectors.ts'
import { postedTimeseries, resourceNameOf } from '../../wearables/resources/timeseries.ts'

/** `sdk`: a phone sends what its health store has. `app`: a phone reads a device by Bluetooth. Empty: a client sends what it has. */
export const authTypes = ['oauth', 'team_oauth', 'sdk', 'password', 'email', 'app', ''] as const
export type AuthType = (typeof authTypes)[number]

export interface ProviderEntry {
  description: string
  auth_type: AuthType
  resources: readonly Resource[]
}

const bothHealthStores = [
  'profile',
  'body',
  'workouts',
  'activity',
  'sleep',
  'glucose',
  'blood_pressure',
  'heartrate',
  'steps',
  'calories_active',
  'calories_basal',
  'distance',
  'water',
  'hrv',
  'blood_oxygen',
  'respiratory_rate',
  'vo2_max',
  'meal',
  'menstrual_cycle',
] as const satisfies Resource[]

/** Everything that a phone can send. */
const sent: readonly Resource[] = [
  ...new Set<Resource>([
    ...bothHealthStores,
    'sleep_cycle',
    'workout_stream',
    'electrocardiogram',
    'electrocardiogram_voltage',
    'weight',
    'fat',
    'body_mass_index',
    'lean_body_mass',
    'waist_circumference',
    ...postedTimeseries.map(resourceNameOf),
  ]),
]

const device = (measures: string, ...resources: Resource[]): ProviderEntry => ({
  description: `${measures}, read by Bluetooth`,
  auth_type: 'app',
  resources,
})

const entries = {
  apple_health_kit: { description: 'Health data of an iPhone', auth_type: 'sdk', resources: sent },
  health_connect: {
    description: 'Health data of an Android phone',
    auth_type: 'sdk',
    resources: bothHealthStores,
  },
  samsung_health: {
    description: 'Health data of a Samsung phone',
    auth_type: 'sdk',
    resources: bothHealthStores,
  },
  manual: { description: 'Values that a person or a client enters', auth_type: '', resources: sent },
  beurer_ble: device('Blood pressure monitors', 'blood_pressure'),
  omron_ble: device('Blood pressure monitors', 'blood_pressure'),
  accuchek_ble: device('Glucose meters', 'glucose'),
  contour_ble: device('Glucose meters', 'glucose'),
  onetouch_ble: device('Glucose meters', 'glucose'),
  freestyle_libre_ble: device('Glucose sensors', 'glucose'),
} satisfies Partial<Record<Provider, ProviderEntry>>

export type ManualProvider = keyof typeof entries
export const manualProviders = Object.keys(entries) as ManualProvider[]

/** Providers that only demo connections have, unless there is a connector. */
const demoOnly = {
  fitbit: ['profile', 'activity', 'sleep', 'sleep_cycle', 'workouts', 'heartrate', 'hrv', 'steps', 'distance', 'calories_active'],
  oura: ['profile', 'activity', 'sleep', 'sleep_cycle', 'workouts', 'heartrate', 'hrv'],
  freestyle_libre: ['glucose'],
} as const satisfies Partial<Record<Provider, readonly Resource[]>>
type DemoOnly = keyof typeof demoOnly

/** A cloud that has a connector, or had one when its users were connected. */
export type ConnectedSlug = ManualProvider | OAuthProvider | DemoOnly

const all = new Map<string, ProviderEntry>([
  ...connectors.map(
    ({ provider, description, resources }) => [provider, { description, auth_type: 'team_oauth', resources }] as const,
  ),
  ...Object.entries(entries),
])
/** Every provider that users can be connected to. */
export const connectableProviders = [...all.keys()] as ConnectedSlug[]

const REMOVED: ProviderEntry = { description: '', auth_type: 'team_oauth', resources: [] }
const demos = new Map<string, ProviderEntry>(
  Object.entries(demoOnly).map(([slug, resources]) => [slug, { ...REMOVED, resources }]),
)
export const providerOf = (slug: ConnectedSlug): ProviderEntry => all.get(slug) ?? demos.get(slug) ?? REMOVED

/** The scopes of a cloud that a resource needs, and those without which it lacks a part. */
export function scopesFor(slug: ConnectedSlug, resource: Resource): { requiredScopes: string[]; optionalScopes: string[] } {
  const connector = connectorOf(slug)
  const scope = connector?.scopesByResource[resource]
  return { requiredScopes: scope === undefined ? [] : [scope], optionalScopes: [...(connector?.alsoUses?.[resource] ?? [])] }
}
