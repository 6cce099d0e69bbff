// Schemas of embedded dashboards. Source: openapi-management.json; management-auth.md 16.
import { RuleError } from '../../platform/schema/request-validation.ts'
import { Clearable, Email, Fields, Maybe, Nullable, OpenEnum, T, Text, Uuid, type Static } from '../../platform/schema/schema.ts'
import { Bindings, TeamRoleBinding, Url } from '../teams/schema.ts'
import { signedInMember } from '../sign-in/schema.ts'
import { Cursor, Environment, NextCursor, Reference } from '../organizations/management-shapes.ts'
import { browserAddress } from '../../platform/net/browser-address.ts'
import { hostName } from '../../platform/net/host-name.ts'
import { isIP } from 'node:net'

// Origins of pages that may embed a dashboard appear in our response headers, so only plain ones are accepted.
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3})$/

function isValidOrigin({ protocol, hostname, username, password }: URL): boolean {
  const secure = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname))
  const named = LOOPBACK.test(hostname) || hostName(hostname) === hostname || isIP(hostname) === 4
  return secure && named && !username && !password
}

/** An origin as browsers write it. https, except on loopback; no path, wildcard, credentials or IPv6 address. */
function originRule(text: string): string | RuleError {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !isValidOrigin(url) || url.pathname !== '/' || /[?#*]/.test(text))
    return new RuleError('must be an https origin without a path, such as https://app.example.com')
  return url.origin
}

/** A URL for browser redirects. https, except on loopback; no credentials, no fragment. */
function addressRule(text: string): string | RuleError {
  const url = browserAddress(text)
  if (!url || !isValidOrigin(url) || text.includes('#'))
    return new RuleError('must be an https URL without credentials or fragment')
  return url.href
}

const ORIGINS_MAX = 50
/** The limit of a DNS label. */
const SLUG_MAX = 63

const Modality = OpenEnum(['feature_embed', 'link_out'])

/** Duplicates are rejected, because the choice between two continuation URLs would be ambiguous. */
const distinct = (value: Record<string, unknown>) => {
  const origins = (value.origin_configs as { origin: string }[]).map(({ origin }) => origin)
  if (new Set(origins).size === origins.length) return { ...value, modalities: [...new Set(value.modalities as string[])] }
  return { field: 'origin_configs', refusal: new RuleError('contains a duplicate origin') }
}

export const PutEmbedding = Fields(
  {
    slug: Text({
      minLength: 3,
      maxLength: SLUG_MAX,
      pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
      says: 'have only small letters, digits and single hyphens between them',
      description: 'In kebab-case.',
    }),
    modalities: T.Array(Modality, { maxItems: 10 }),
    origin_configs: T.Array(
      Fields(
        {
          origin: Text({ maxLength: 300, rule: originRule }),
          session_continuation_url: Maybe(Text({ maxLength: 2083, rule: addressRule })),
        },
        { title: 'PutOriginConfig' },
      ),
      { maxItems: ORIGINS_MAX },
    ),
  },
  { title: 'PutEmbedding', finish: distinct },
)
export type PutEmbedding = Static<typeof PutEmbedding>

const OriginConfig = Fields({ origin: T.String(), session_continuation_url: Nullable(T.String()) }, { title: 'OriginConfig' })
export const Embedding = Fields(
  { slug: T.String(), modalities: T.Array(Modality), origin_configs: T.Array(OriginConfig) },
  { title: 'Embedding' },
)
export type Embedding = Static<typeof Embedding>

const MemberName = Text({ minLength: 1, maxLength: 200 })
const memberReference = Text({ minLength: 1, maxLength: 256 })
export const EmbeddedMember = Fields(
  {
    id: Uuid,
    integration_member_id: T.String(),
    name: T.String(),
    email: T.String(),
    avatar: Nullable(T.String()),
    team_role_bindings: Nullable(T.Array(TeamRoleBinding, { description: 'null: every team of the organization.' })),
  },
  { title: 'EmbeddedMember' },
)
export type EmbeddedMember = Static<typeof EmbeddedMember>
export const EmbeddedMemberPage = Fields({ data: T.Array(EmbeddedMember), next_cursor: Cursor }, { title: 'EmbeddedMemberPage' })
export const EmbeddedMemberQuery = Fields({ next_cursor: NextCursor })
export const EmbeddedMemberParams = Fields({ org_id: Uuid, member_id: Uuid })
export const CreateEmbeddedMember = Fields(
  {
    integration_member_id: memberReference,
    name: MemberName,
    email: Email,
    avatar: Maybe(Url),
    team_role_bindings: Maybe(Bindings),
  },
  { title: 'CreateEmbeddedMember' },
)
export type CreateEmbeddedMember = Static<typeof CreateEmbeddedMember>
export const PatchEmbeddedMember = Fields(
  { name: Maybe(MemberName), email: Maybe(Email), avatar: Clearable(Url), team_role_bindings: Maybe(Bindings) },
  { title: 'PatchEmbeddedMember' },
)
export type PatchEmbeddedMember = Static<typeof PatchEmbeddedMember>
export const ResolveEmbeddedMember = Fields({ integration_member_id: memberReference }, { title: 'ResolveEmbeddedMember' })

const FEATURE = /^(team_panels|team_config|order_creation|order_creation:ID|order:ID)$/
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const Feature = Text({
  maxLength: 100,
  description: '`order_creation`, `order_creation:{user_id}`, `order:{id}`, `team_panels` or `team_config`.',
  rule: (text) => (FEATURE.test(text.replace(ID, 'ID')) ? text.toLowerCase() : new RuleError('is not a dashboard feature')),
})

/** The purpose of a launch, in a body and in the query of `/auth/launch`. */
export const Launch = Fields(
  {
    member_id: Maybe(Uuid),
    integration_member_id: Maybe(memberReference),
    team_id: Maybe(Uuid),
    integration_team_id: Maybe(Reference),
    feature: Feature,
    modality: Modality,
    environment: Environment,
  },
  { title: 'CreateDashboardUrl' },
)
export type Launch = Static<typeof Launch>
export const LaunchUrl = Fields({ url: T.String(), expires_in: T.Integer() }, { title: 'DashboardUrl' })

export const LaunchSession = Fields(
  {
    ...signedInMember,
    feature: T.String({ description: 'As of the launch. A link-out session begins with it, an embedded one has nothing else.' }),
    modality: Modality,
    origins: T.Array(T.String(), { description: 'The origins whose pages may frame the console.' }),
  },
  { title: 'LaunchSession' },
)
export type LaunchSession = Static<typeof LaunchSession>
