// Shapes of link sessions and link codes. Source: users-wearables.md 2, 16.4; openapi.
import {
  Clearable,
  Email,
  Fields,
  Maybe,
  Nullable,
  OpenEnum,
  T,
  Text,
  Timestamp,
  Uuid,
  type Static,
} from '../../platform/schema/schema.ts'
import { RuleError } from '../../platform/schema/request-validation.ts'
import { BROWSER_ADDRESS_MAX, browserAddress } from '../../platform/net/browser-address.ts'
import { providers } from '../../people/users/sources.ts'
import { authTypes } from '../connections/providers.ts'
import { CODE_TEXT_MAX, readCode } from './code-text.ts'
import { ProviderSlug } from '../connections/schema.ts'

const LINK_TOKEN_MAX = 2000
const FILTER_MAX = 100

const linkErrors = [
  'invalid_token',
  'token_expired',
  'token_not_validated',
  'token_consumed',
  'provider_credential_error',
  'provider_password_expired',
  'provider_api_error',
  'unsupported_region',
  'duplicate_connection',
  'required_scopes_not_granted',
  'incorrect_mfa_code',
  'user_cancelled',
] as const
export type LinkError = (typeof linkErrors)[number]

/** Providers that ask for a user name and a password. */
export const passwordProviders = [
  'whoop',
  'renpho',
  'peloton',
  'zwift',
  'eight_sleep',
  'beurer_api',
  'dexcom',
  'hammerhead',
  'my_fitness_pal',
  'kardia',
  'abbott_libreview',
  'tandem_source',
] as const
/** Providers that ask for an e-mail address. */
export const emailProviders = ['freestyle_libre'] as const

const RedirectUrl = Text({
  minLength: 1,
  maxLength: BROWSER_ADDRESS_MAX,
  description:
    'An http or https URL, or one with the scheme of an app, without a user name or password; one of `link_redirect_origins`, if the team has set them. Its query and fragment are kept; it is shown as a browser writes it, with other characters than those of URLs encoded.',
  rule: (text) =>
    browserAddress(text)?.href ??
    new RuleError('must be a URL to which a browser can be redirected, without a user name or password'),
})

const Redirects = (when: string) => Clearable(OpenEnum(['redirect'], { description: when }))

export const CreateLinkToken = Fields(
  {
    user_id: Uuid,
    provider: Clearable(ProviderSlug),
    redirect_url: Clearable(RedirectUrl),
    filter_on_providers: Clearable(T.Array(OpenEnum(providers), { minItems: 1, maxItems: FILTER_MAX })),
    on_error: Redirects('The link page redirects to `redirect_url` instead of showing an error.'),
    on_close: Redirects('The close button of the link page redirects to `redirect_url`.'),
  },
  { title: 'LinkTokenExchange' },
)
export type CreateLinkToken = Static<typeof CreateLinkToken>

export const LinkToken = Fields(
  {
    link_token: T.String({ description: 'For the header `x-vital-link-token`; valid for 60 minutes and for one link.' }),
    link_web_url: T.String({ description: 'The page on which the user connects a source.' }),
  },
  { title: 'LinkTokenExchangeResponse' },
)

export const CreateLinkCode = Fields({
  user_id: Uuid,
  expires_at: Maybe(T.String({ format: 'date-time', description: 'At most 24 hours ahead; default in an hour.' })),
})

export const LinkCode = Fields(
  { code: T.String(), exchange_url: T.String(), expires_at: Timestamp },
  { title: 'VitalTokenCreatedResponse' },
)

export const ExchangeLinkCode = Fields({
  code: Text({
    maxLength: CODE_TEXT_MAX,
    description: 'In upper or lower case, with or without separators.',
    example: 'skus00000000-0000-0000',
    rule: (text) => readCode(text)?.text ?? new RuleError('must be a link code'),
  }),
  grant_type: OpenEnum(['sign_in_token']),
})

export const ExchangedLinkCode = Fields(
  {
    user_id: Uuid,
    sign_in_token: T.String(),
    team: Fields({ name: T.String(), logo_url: Nullable(T.String()) }),
  },
  { title: 'ExchangedLinkCode' },
)

export const LinkConfig = Fields(
  {
    team_id: Uuid,
    user_id: Uuid,
    name: T.String(),
    logo_url: Nullable(T.String()),
    brand_color: Nullable(T.String()),
    environment: OpenEnum(['sandbox', 'production']),
    region: OpenEnum(['us', 'eu']),
    provider: Nullable(ProviderSlug),
    redirect_url: Nullable(T.String()),
    filter_on_providers: Nullable(T.Array(ProviderSlug)),
    on_error: Nullable(T.String()),
    on_close: Nullable(T.String()),
  },
  { title: 'LinkConfig' },
)
export type LinkConfig = Static<typeof LinkConfig>

export const ValidateLinkToken = Fields(
  { token: Text({ minLength: 1, maxLength: LINK_TOKEN_MAX }) },
  { title: 'LinkTokenValidationRequest' },
)
export const ValidatedLinkToken = Fields(
  { is_valid: T.Boolean(), error_type: Nullable(OpenEnum(linkErrors)) },
  { title: 'ValidatedLinkToken' },
)

export const StartLink = Fields(
  { link_token: Text({ minLength: 1, maxLength: LINK_TOKEN_MAX }), provider: ProviderSlug },
  { title: 'BeginLinkTokenRequest' },
)
export const StartedLink = Fields(
  { success: T.Boolean(), provider: ProviderSlug, auth_type: OpenEnum(authTypes) },
  { title: 'StartedLink' },
)

export const LinkState = Fields(
  {
    session_id: Uuid,
    user_id: Uuid,
    state: OpenEnum(['created', 'started', 'success', 'error', 'expired']),
    provider: Nullable(ProviderSlug),
    redirect_url: Nullable(T.String()),
    error_type: Nullable(OpenEnum(linkErrors)),
    error: Nullable(T.String()),
    expires_at: Timestamp,
  },
  { title: 'LinkState' },
)

/** A number for clients that insist on one: the position in the list of providers. */
export const sourceId = (provider: string): number => providers.indexOf(provider as never) + 1

export const LinkSource = Fields(
  {
    name: T.String(),
    slug: T.String(),
    description: T.String(),
    logo: T.String(),
    group: Nullable(T.String()),
    oauth_url: Nullable(T.String({ description: 'Where the browser of the user goes.' })),
    auth_type: OpenEnum(authTypes),
    source_type: OpenEnum(['app', 'review', 'device', 'lab']),
    is_active: T.Boolean(),
    backfill_num_days: Nullable(T.Integer()),
    id: T.Integer(),
  },
  { title: 'Source' },
)

export const OfferedSource = Fields(
  {
    id: T.Integer(),
    name: T.String(),
    slug: T.String(),
    description: T.String(),
    logo: T.String(),
    oauth_url: Nullable(T.String()),
    auth_type: OpenEnum(authTypes),
    form_components: T.Object({}),
  },
  { title: 'SourceLink' },
)

const regions =
  'us eu de fr ca br ar cl co mx gb ie au nz nl at be bh ch cz dk eg es fi gr hr il it jo kw lb lu no om pl pt qa sa se si sk tr za in sg hk kr ph tw'
const ProviderRegion = OpenEnum(regions.split(' '), { title: 'ProviderRegion' })

export const PasswordProvider = OpenEnum(passwordProviders, { title: 'PasswordProviders' })
export const EmailProvider = OpenEnum(emailProviders, { title: 'EmailProviders' })

const Secret = Text({ minLength: 1, maxLength: 1000 })

export const PasswordLink = Fields(
  { username: Secret, password: Secret, region: Clearable(ProviderRegion) },
  { title: 'IndividualProviderData' },
)
export const CompleteMfa = Fields(
  { mfa_code: Text({ minLength: 1, maxLength: 100 }) },
  { title: 'CompletePasswordProviderMFABody' },
)
export const EmailLink = Fields(
  { email: Email, provider: Clearable(ProviderSlug), region: Clearable(ProviderRegion) },
  { title: 'EmailProviderAuthLink' },
)
export const OldPasswordLink = Fields(
  { username: Secret, password: Secret, provider: PasswordProvider, auth_type: Clearable(OpenEnum(authTypes)) },
  { title: 'PasswordAuthLink' },
)
export const OldEmailLink = Fields(
  { email: Email, provider: EmailProvider, auth_type: Clearable(OpenEnum(authTypes)), region: Clearable(ProviderRegion) },
  { title: 'EmailAuthLink' },
)

/** What has come of an attempt to link; the status is 200 for an error, too. */
export const LinkResult = Fields(
  {
    state: OpenEnum(['success', 'error', 'pending_provider_mfa']),
    redirect_url: Nullable(T.String()),
    error_type: Nullable(OpenEnum(linkErrors)),
    error: Nullable(T.String()),
    provider_mfa: Nullable(Fields({ method: OpenEnum(['sms', 'email']), hint: T.String() }, { title: 'ProviderMFARequest' })),
    provider: T.String(),
    connected: T.Boolean(),
    provider_id: Nullable(T.String()),
  },
  { title: 'ProviderLinkResponse' },
)
export type LinkResult = Static<typeof LinkResult>
