// Which providers a link session may connect. Source: users-wearables.md 2.1, 2.2, 3.
import { oauthProviders } from '../../people/users/sources.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { manualProviders, providerOf, type AuthType, type ManualProvider } from '../connections/providers.ts'
import { emailProviders, passwordProviders } from './schema.ts'
import type { LinkSession } from './sessions.ts'

const has = (list: readonly string[], provider: string): boolean => list.includes(provider)

/** How a user is connected to a provider. */
export function authTypeOf(provider: string): AuthType {
  if (has(oauthProviders, provider)) return 'oauth'
  if (has(passwordProviders, provider)) return 'password'
  if (has(emailProviders, provider)) return 'email'
  return has(manualProviders, provider) ? providerOf(provider as ManualProvider).auth_type : 'oauth'
}

/** 400 `INVALID_PROVIDER`. */
export const invalidProvider = (error_message: string): Problem =>
  new Problem(400, { detail: { error_type: 'INVALID_PROVIDER', error_message } })

/** Errors: 400 `INVALID_PROVIDER`, if the token was issued for another provider. */
export function assertProvider(session: LinkSession, provider: string): void {
  if (session.provider !== null && session.provider !== provider)
    throw invalidProvider(`The link token is for ${session.provider} only`)
}
