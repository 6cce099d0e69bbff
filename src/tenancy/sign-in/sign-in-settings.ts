// How members sign in, as the settings of the server say. An operator changes them.
import type { SignInDependencies } from './browser-sign-in.ts'
import type { OidcSettings } from '../../settings/config.ts'
import { CALLBACK_PATH } from './openid.ts'
import { PASSWORD_LENGTH_MIN } from './passwords.ts'
import type { SignInSettings } from './schema.ts'

/** The settings, without the secret of the client. */
export const readSignInSettings = ({
  openId,
  demo,
  limits,
  publicUrl,
  sendsMail,
}: Pick<SignInDependencies, 'openId' | 'demo' | 'limits' | 'publicUrl' | 'sendsMail'>): SignInSettings => ({
  demo,
  password_length_min: PASSWORD_LENGTH_MIN,
  session_idle_s: limits.idle_s,
  session_s: limits.total_s,
  sends_mail: sendsMail,
  oidc: openId ? toWire(openId, publicUrl()) : null,
})

const toWire = (
  { issuer, client_id, client_secret, label, allowed_domains, role_claim, roles }: OidcSettings,
  publicUrl: string,
): SignInSettings['oidc'] => ({
  issuer,
  client_id,
  has_client_secret: client_secret !== undefined,
  label,
  redirect_uri: publicUrl + CALLBACK_PATH,
  allowed_domains: [...allowed_domains],
  role_claim: role_claim ?? null,
  roles: [...roles].map(([value, role]) => ({ value, role })),
})
