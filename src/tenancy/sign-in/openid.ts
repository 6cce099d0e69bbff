// Sign-in through an OpenID Connect issuer of the operator: the code flow with PKCE, state and nonce. The configuration and keys of the issuer
// are read at each sign-in, so that a rotation of keys needs nothing here.
import type { Configuration } from 'openid-client'
import { forbidden } from '../../platform/http/errors.ts'
import type { OidcSettings } from '../../settings/config.ts'

const TIMEOUT_S = 10
/** How far the clock of the issuer may differ. */
const CLOCK_TOLERANCE_S = 60
/** Below the base URL of the server. */
export const CALLBACK_PATH = '/console/api/sign-in/oidc/callback'

/** The state of a sign-in until the issuer sends the browser back. */
export type OpenIdAttempt = Record<'state' | 'nonce' | 'code_verifier', string>

/** Whom the issuer has signed in. */
export interface OpenIdPerson {
  issuer: string
  subject: string
  /** In lower case. */
  email: string
  name: string
  /** Of the first of the claim's values that the settings map; undefined if they map none. */
  role: string | undefined
}

const loadClient = () => import('openid-client')

async function readIssuer({ issuer, client_id, client_secret }: OidcSettings): Promise<Configuration> {
  const { allowInsecureRequests, ClientSecretBasic, discovery, enableNonRepudiationChecks, None, clockTolerance } =
    await loadClient()
  const isInsecure = issuer.startsWith('http:')
  const config = await discovery(
    new URL(issuer),
    client_id,
    { [clockTolerance]: CLOCK_TOLERANCE_S },
    client_secret === undefined ? None() : ClientSecretBasic(client_secret),
    { timeout: TIMEOUT_S, ...(isInsecure && { execute: [allowInsecureRequests] }) },
  )
  enableNonRepudiationChecks(config)
  return config
}

/** The address of the issuer's sign-in page, and the state of the sign-in. Errors: those of the issuer. */
export async function startOpenId(
  settings: OidcSettings,
  publicUrl: string,
): Promise<{ location: string; attempt: OpenIdAttempt }> {
  const { buildAuthorizationUrl, calculatePKCECodeChallenge, randomNonce, randomPKCECodeVerifier, randomState } =
    await loadClient()
  const config = await readIssuer(settings)
  const attempt = { state: randomState(), nonce: randomNonce(), code_verifier: randomPKCECodeVerifier() }
  const url = buildAuthorizationUrl(config, {
    redirect_uri: publicUrl + CALLBACK_PATH,
    scope: 'openid email profile',
    code_challenge: await calculatePKCECodeChallenge(attempt.code_verifier),
    code_challenge_method: 'S256',
    state: attempt.state,
    nonce: attempt.nonce,
  })
  return { location: url.href, attempt }
}

/**
 * Whom the issuer has signed in, by the parameters with which it sent the browser back. Errors: those of the issuer; another state, nonce,
 * issuer or audience; a token that has expired or has another signature; 403: the address is not verified, or not of an allowed domain.
 */
export async function finishOpenId(
  settings: OidcSettings,
  publicUrl: string,
  parameters: URLSearchParams,
  { state, nonce, code_verifier }: OpenIdAttempt,
): Promise<OpenIdPerson> {
  const { authorizationCodeGrant, fetchUserInfo } = await loadClient()
  const config = await readIssuer(settings)
  const address = new URL(publicUrl + CALLBACK_PATH)
  address.search = parameters.toString()
  const tokens = await authorizationCodeGrant(config, address, {
    pkceCodeVerifier: code_verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  })
  const claims = tokens.claims()!
  // Some issuers put the address into their own answer alone.
  const hasAll = claims.email !== undefined && (settings.role_claim === undefined || claims[settings.role_claim] !== undefined)
  const more =
    hasAll || !config.serverMetadata().userinfo_endpoint ? {} : await fetchUserInfo(config, tokens.access_token, claims.sub)
  return readPerson(settings, { ...more, ...claims })
}

function readPerson(settings: OidcSettings, claims: Record<string, unknown> & { iss: string; sub: string }): OpenIdPerson {
  const { email, email_verified, name, iss: issuer, sub: subject } = claims
  if (typeof email !== 'string' || email_verified !== true) throw forbidden('The issuer has not verified the email address')
  const domain = email.split('@').at(-1)!.toLowerCase()
  if (settings.allowed_domains.length > 0 && !settings.allowed_domains.includes(domain))
    throw forbidden('The domain of the email address is not among OIDC_ALLOWED_DOMAINS')
  const values = settings.role_claim === undefined ? [] : [claims[settings.role_claim]].flat()
  const role = values.map((value) => settings.roles.get(String(value))).find((text) => text !== undefined)
  return {
    issuer,
    subject,
    email: email.toLowerCase(),
    name: typeof name === 'string' && name ? name.slice(0, 100) : email,
    role,
  }
}

/** The page of the issuer that ends its own session; undefined if it has none, or does not answer. */
export async function findLogoutAddress(settings: OidcSettings, publicUrl: string): Promise<string | undefined> {
  try {
    const { buildEndSessionUrl } = await loadClient()
    const config = await readIssuer(settings)
    if (!config.serverMetadata().end_session_endpoint) return undefined
    return buildEndSessionUrl(config, { post_logout_redirect_uri: `${publicUrl}/console` }).href
  } catch {
    return undefined
  }
}
