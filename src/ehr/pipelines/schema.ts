// Shapes of EHR pipelines. Source: openapi-management.json; management-auth.md 14.
import { Environment, NextCursor, Region } from '../../tenancy/organizations/management-shapes.ts'
import { RuleError } from '../../platform/schema/request-validation.ts'
import { isMask, MASK } from '../../platform/crypto/api-keys.ts'
import { Email, Fields, Maybe, Nullable, OneOf, OpenEnum, T, Text, Uuid, type Static } from '../../platform/schema/schema.ts'

export const EhrType = OpenEnum(['fhir', 'hint_health'])
export type EhrType = Static<typeof EhrType>

const Url = Text({
  minLength: 1,
  maxLength: 2083,
  rule: (text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (!url || !/^https?:$/.test(url.protocol)) return new RuleError('must be an http or https URL')
    return url.username || url.password ? new RuleError('must not contain credentials') : text
  },
})

const Secret = Text({
  minLength: 1,
  maxLength: 4096,
  rule: (text) => (isMask(text) ? new RuleError('must be the secret itself, not its mask') : text),
  description: `Kept encrypted; shown as \`${MASK}\`.`,
})

export const Authentication = OneOf(
  'type',
  [
    Fields(
      {
        type: T.Literal('client_credentials'),
        client_id: Text({ minLength: 1, maxLength: 500 }),
        client_secret: Secret,
        token_url: Url,
      },
      { title: 'EHRPipelineOAuth2ClientCredentials' },
    ),
    Fields(
      {
        type: T.Literal('google_iam'),
        service_account_email: Email,
        audience: OpenEnum(['https://healthcare.googleapis.com/']),
      },
      { title: 'EHRPipelineGoogleIAM' },
    ),
    Fields({ type: T.Literal('api_key'), api_key: Secret }, { title: 'EHRPipelineAPIKey' }),
  ],
  { title: 'EHRPipelineAuthentication' },
)
export type Authentication = Static<typeof Authentication>

const Mappers = T.Array(Text({ minLength: 1, maxLength: 200 }), {
  maxItems: 200,
  description: 'Absent or empty: all of them.',
})

export const Pipeline = Fields(
  {
    team_id: Uuid,
    type: OpenEnum(['native', 'ehr_linked']),
    ehr_type: EhrType,
    base_url: T.String(),
    authentication: Authentication,
    allowed_mappers: Nullable(T.Array(T.String())),
  },
  { title: 'TeamEHRPipeline' },
)
export type Pipeline = Static<typeof Pipeline>

export const PipelinePage = Fields(
  { data: T.Array(Pipeline), next_token: Nullable(T.String()) },
  { title: 'TeamEHRPipelineResponse' },
)

/** Maximum number of teams in one request, given or implied. */
export const TEAMS_MAX = 1000

export const UpsertPipelines = Fields(
  {
    team_ids: Maybe(
      T.Array(Uuid, { minItems: 1, maxItems: TEAMS_MAX, description: 'Absent: all teams in this cell that the key can access.' }),
    ),
    ehr_type: EhrType,
    base_url: Url,
    authentication: Authentication,
    allowed_mappers: Maybe(Mappers),
  },
  { title: 'UpsertTeamEHRPipelines' },
)
export type UpsertPipelines = Static<typeof UpsertPipelines>

export const PipelinesParams = Fields({ org_id: Uuid, environment: Environment, region: Region })
export const PipelinesQuery = Fields({ team_id: Maybe(Uuid), next_cursor: NextCursor })
export const DeletePipelinesQuery = Fields({
  team_id: Maybe(
    T.Array(Uuid, {
      minItems: 1,
      maxItems: TEAMS_MAX,
      description: 'Absent: all teams in this cell that the key can access.',
      example: ['01890000-0000-7000-8000-000000000001'],
    }),
  ),
  ehr_type: EhrType,
})
