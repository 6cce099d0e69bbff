// OAuth 2 as most vendors speak it: the consent page, authentication in headers.
import { timingSafeEqual } from 'node:crypto'
import { VendorError, type Grant } from './connector.ts'

/** An address with parameters. */
export const withQuery = (address: string, query: Record<string, string>): string => {
  const url = new URL(address)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url.href
}

export const bearer = (access_token: string): Record<string, string> => ({ authorization: `Bearer ${access_token}` })

/** Authentication of a client in a header. Source: RFC 6749 2.3.1. */
export const basic = ({ client_id, client_secret }: { client_id: string; client_secret: string }): Record<string, string> => {
  const encoded = (value: string) => encodeURIComponent(value).replaceAll('%20', '+')
  return { authorization: `Basic ${Buffer.from(`${encoded(client_id)}:${encoded(client_secret)}`).toString('base64')}` }
}

/** The refresh token of a grant. Errors: VendorError `invalid_grant` without one, because nothing can renew it. */
export function refreshTokenOf({ refresh_token }: Grant): string {
  if (refresh_token === null) throw new VendorError('invalid_grant')
  return refresh_token
}

/** A grant whose access token has not expired: an expired one ends nothing at a vendor. Errors: VendorError of the refresh. */
export const unexpired = async (grant: Grant, now_ms: number, refresh: () => Promise<Grant>): Promise<Grant> =>
  grant.expires_at_ms !== null && grant.expires_at_ms <= now_ms ? refresh() : grant

/** Whether a text is the secret one. An empty secret is nobody's. */
export function isSameText(given: string | undefined, expected: string): boolean {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(expected)]
  return expected !== '' && a.length === b.length && timingSafeEqual(a, b)
}
