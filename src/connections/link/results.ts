// The result of an attempt to link, and how it reaches the user's browser. Source: users-wearables.md 2.2, 2.3.
import { linkErrorText, type LinkSession } from './link-sessions.ts'
import type { LinkError, LinkResult } from './schema.ts'

/** Without an error, the provider is connected. */
export function linkResult(
  session: Pick<LinkSession, 'redirect_url'> | undefined,
  provider: string,
  error_type: LinkError | undefined,
): LinkResult {
  return {
    state: error_type ? 'error' : 'success',
    redirect_url: session?.redirect_url ?? null,
    error_type: error_type ?? null,
    error: error_type ? linkErrorText(error_type) : null,
    provider_mfa: null,
    provider,
    connected: !error_type,
    provider_id: null,
  }
}

/** The address to which the browser returns: the team's own, with its query and fragment kept, and the result behind its query. */
export function returnAddress(redirect_url: string, error_type: LinkError | undefined): string {
  const url = new URL(redirect_url)
  const result = error_type
    ? new URLSearchParams({ state: 'error', error_type, error: linkErrorText(error_type) })
    : new URLSearchParams({ state: 'success' })
  url.search = url.search ? `${url.search}&${result}` : `?${result}`
  return url.href
}
