// Setup steps at a provider before a team's own application can be used. Pure. Source: management-auth.md 13; users-wearables.md 2.2, 17.
// Other providers have no step for events, because this server creates their subscriptions through their APIs or they have none.
import { oauthProviders } from '../../people/users/sources.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import type { Step } from './schema.ts'

/** Providers whose application needs the redirect address. */
const consent: ReadonlySet<string> = new Set([...oauthProviders, 'map_my_fitness'])

const FITBIT = ['workout', 'sleep', 'body', 'foods']

/** Providers at which the address of our webhook receiver is entered manually; one address for each kind of event, null for all kinds. */
const receivers: Readonly<Record<string, readonly (string | null)[]>> = {
  fitbit: FITBIT,
  garmin: [null],
  whoop_v2: [null],
}

/** A team in one cell. */
export interface TeamEnvironment {
  env: string
  region: string
  team_id: string
}

/** Returns the redirect address of a provider. @param base public address of this server, without a final slash */
const redirectUri = (base: string, provider: string): string => `${base}/v2/link/connect/${provider}`

/** Returns the address at which a provider reports new data of a team's users. */
export const webhookUri = (
  base: string,
  { env, region, team_id }: TeamEnvironment,
  provider: string,
  kind: string | null,
): string => `${base}/v2/link/webhook/${env}-${region}/${team_id}/${provider}${kind === null ? '' : `/${kind}`}`

/** A secret that a provider sends in the handshake of a subscription, or in each notification. */
export const notificationToken = (vault: Pick<Vault, 'sign'>, cell: string, team: string, provider: string): string =>
  vault.sign(`${cell} ${team} ${provider}`, 'notifications of vendors')

/**
 * Returns the setup steps for a provider; empty if there are none.
 * @param override the team's own redirect address, if it has one
 * @param google for notifications of Google Health: `principal`, the operator's service account, subscribes by itself; without it the team
 * registers the address, with `token`, that of `notificationToken`
 */
export function preparationSteps(
  base: string,
  place: TeamEnvironment,
  provider: string,
  override: string | null,
  google: { token: string; principal: string | undefined },
): Step[] {
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
  if (provider === 'google_health')
    hooks.push(
      google.principal === undefined
        ? {
            type: 'webhook_uri',
            key: null,
            value: webhookUri(base, place, provider, null),
            description: `Register this address as a subscriber of your Google Cloud project, with this text as its endpoint authorization: Bearer ${google.token}`,
          }
        : {
            type: 'iam_principal',
            key: null,
            value: google.principal,
            description:
              'Give this principal the role "Service Account Token Creator" on the service account that you name in the credentials, and that one the right to manage subscribers of the Google Health API. This server then registers itself for notifications.',
          },
    )
  return [redirect, ...hooks]
}
