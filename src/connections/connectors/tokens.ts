// OAuth 2 as most vendors speak it: the consent page, authentication in headers.
import { timingSafeEqual } from 'node:crypto'
import { readGrant } from './answers.ts'
import { VendorError, type Connector, type Grant, type VendorApp, type VendorHttp } from './connector.ts'

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

/** The answer of a token endpoint to a form with the id and the secret of the application. Source: RFC 6749 2.3.1. Errors: VendorError. */
export const postTokens = (
  http: VendorHttp,
  { urls, client_id, client_secret }: VendorApp,
  form: Record<string, string>,
): ReturnType<VendorHttp> => http({ method: 'POST', url: urls.token, body: { client_id, client_secret, ...form } })

/** Asks for a grant with a form. Errors: those of `readGrant`. `previousGrant`: the grant that is refreshed. */
export type FetchTokens = (
  http: VendorHttp,
  app: VendorApp,
  form: Record<string, string>,
  now_ms: number,
  previousGrant?: Grant,
) => Promise<Grant>

/** With the id and the secret of the application in the form. */
export const askForTokens: FetchTokens = async (http, app, form, now_ms, previousGrant) =>
  readGrant(await postTokens(http, app, form), now_ms, previousGrant)

/** The consent page of most vendors. @param fields further fields, or others in place of the usual ones */
export const consentPage =
  (hasPkce: boolean, fields: (scopes: readonly string[]) => Record<string, string> = () => ({})): Connector['authorizeUrl'] =>
  ({ client_id, urls }, { redirect_uri, state, scopes, code_challenge }) =>
    withQuery(urls.authorize, {
      response_type: 'code',
      client_id,
      redirect_uri,
      state,
      scope: scopes.join(' '),
      ...(hasPkce && { code_challenge, code_challenge_method: 'S256' }),
      ...fields(scopes),
    })

/** Refreshes a grant by its refresh token, as most vendors do it. @param fetchTokens asks for a grant with a form */
export const refreshBy =
  (fetchTokens: FetchTokens): Connector['refresh'] =>
  async (http, app, grant, now_ms) =>
    fetchTokens(http, app, { grant_type: 'refresh_token', refresh_token: refreshTokenOf(grant) }, now_ms, grant)

/** What a vendor answers; undefined if the user did not grant what it needs. Errors: VendorError of other failures. */
export const ifGranted = <V>(answer: Promise<V>): Promise<V | undefined> =>
  answer.catch((error: unknown) => {
    if (error instanceof VendorError && error.failure === 'scope_missing') return undefined
    throw error
  })

/** The refresh token of a grant. Errors: VendorError `invalid_grant` without one, because nothing can renew it. */
export function refreshTokenOf({ refresh_token }: Grant): string {
  if (refresh_token === null) throw new VendorError('invalid_grant')
  return refresh_token
}

/**
 * A grant whose access token has not expired: an expired one ends nothing at a vendor. Errors: VendorError of the refresh.
 * @param keep stores the new tokens before they are used, since the old ones may have ended
 */
export async function refreshIfExpired(
  grant: Grant,
  now_ms: number,
  refresh: () => Promise<Grant>,
  keep: ((grant: Grant) => Promise<unknown>) | undefined,
): Promise<Grant> {
  if (grant.expires_at_ms === null || grant.expires_at_ms > now_ms) return grant
  const refreshed = await refresh()
  await keep?.(refreshed)
  return refreshed
}

/** Whether a text is the secret one. An empty secret never matches. */
export function isSameText(actual: string | undefined, expected: string): boolean {
  const [a, b] = [Buffer.from(actual ?? ''), Buffer.from(expected)]
  return expected !== '' && a.length === b.length && timingSafeEqual(a, b)
}
