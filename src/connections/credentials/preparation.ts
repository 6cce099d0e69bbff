// What somebody has to do at a provider before their own application can be used. Pure. Source: management-auth.md 13;
// users-wearables.md 2.2, 17. That the other providers' subscriptions are made by this server through their interfaces, or not at
// all, is why they have no step for events.
import { oauthProviders } from '../../people/users/sources.ts'
import type { Step } from './schema.ts'

/** Providers whose application needs to know where users come back to. */
const consent: ReadonlySet<string> = new Set([...oauthProviders, 'map_my_fitness'])

const FITBIT = ['workout', 'sleep', 'body', 'foods']

/** Providers to which the address of our receiver is told by hand; one address for each kind of event, null for all of them. */
const receivers: Readonly<Record<string, readonly (string | null)[]>> = {
  fitbit: FITBIT,
  garmin: [null],
  polar: [null],
  whoop_v2: [null],
}

/** A team in one cell. */
export interface TeamEnvironment {
  env: string
  region: string
  team_id: string
}

/** Where a provider sends users back to. @param base where this server is reached, without a final slash */
const redirectUri = (base: string, provider: string): string => `${base}/v2/link/connect/${provider}`

/** Where a provider tells of new data of a team's users. */
const webhookUri = (base: string, { env, region, team_id }: TeamEnvironment, provider: string, kind: string | null): string =>
  `${base}/v2/link/webhook/${env}-${region}/${team_id}/${provider}${kind === null ? '' : `/${kind}`}`

/**
 * The steps for a provider, none where nothing is to be done.
 * @param override the team's own address for users who come back, if it has one
 */
export function preparationSteps(base: string, place: TeamEnvironment, provider: string, override: string | null): Step[] {
  if (!consent.has(provider)) return []
  const redirect: Step = {
    type: 'redirect_uri',
    key: null,
    value: override ?? redirectUri(base, provider),
    description:
      override === null
        ? 'Allow this redirect URI in your OAuth application.'
        : 'Allow your own redirect URI in your OAuth application, and forward what arrives there to this server.',
  }
  const kinds = Object.hasOwn(receivers, provider) ? receivers[provider]! : []
  const hooks = kinds.map((kind): Step => ({
    type: 'webhook_uri',
    key: kind,
    value: webhookUri(base, place, provider, kind),
    description:
      kind === null
        ? 'Set this address as the receiver of events of your application.'
        : `Add this address as a subscriber for ${kind}, and give its verification code as ${kind}_verify_token.`,
  }))
  return [redirect, ...hooks]
}
