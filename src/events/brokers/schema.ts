// Shapes of pipelines. Source: openapi-management.json; events.md 8.1; management-auth.md 14.
import { NextCursor } from '../../tenancy/organizations/management-shapes.ts'
import { RuleError, type FinalizeObject } from '../../platform/schema/request-validation.ts'
import { Fields, Maybe, Nullable, OpenEnum, T, Text, Uuid, type Static } from '../../platform/schema/schema.ts'

const TEAMS_MAX = 200
const MATCHERS_MAX = 50
const PREFIXES_MAX = 100

const destinations = ['cloud_pubsub', 'rabbitmq', 'svix', 'azure_amqp'] as const
export type Destination = (typeof destinations)[number]
/** Destinations that are brokers; `svix` means the webhook endpoints of the team. */
export const brokers = ['cloud_pubsub', 'rabbitmq', 'azure_amqp'] as const
export type Broker = (typeof brokers)[number]

const REDACTED = 'Shown without its secret, which stands there as `***`. Sent back as it was shown it stays as it is.'

const Preferences = Fields(
  {
    preferred: OpenEnum(destinations),
    enabled: T.Array(OpenEnum(destinations), {
      maxItems: 10,
      description: 'Every event is written to all of them. Without `svix` webhook endpoints get none.',
    }),
  },
  { title: 'EventDestinationPreferences' },
)

const CloudPubSub = Fields(
  {
    project: Text({
      pattern: '^[a-zA-Z0-9][a-zA-Z0-9.:_-]{0,99}$',
      says: 'begin with a letter or digit and have up to 100 letters, digits and . : _ -',
    }),
    topic: Text({
      pattern: '^[a-zA-Z][a-zA-Z0-9._~%+-]{2,254}$',
      says: 'begin with a letter and have 3 to 255 letters, digits and . _ ~ % + -',
    }),
    message_ordering: T.Boolean(),
  },
  { title: 'EventDestinationCloudPubSubAttributes' },
)

const RabbitMq = Fields(
  { uri: Text({ minLength: 1, maxLength: 2000, description: REDACTED }), exchange: Text({ maxLength: 255 }) },
  { title: 'EventDestinationRabbitMQAttributes' },
)

const regionalOnly: FinalizeObject = (svix) =>
  svix.regional === false ? { field: 'regional', refusal: new RuleError('must be true') } : { regional: true }
const SvixInput = Fields({ regional: Maybe(T.Boolean()) }, { title: 'EventDestinationSvixInput', finish: regionalOnly })
const Svix = Fields({ regional: T.Boolean() }, { title: 'EventDestinationSvixAttributes' })

const ConnectionString = Text({ minLength: 1, maxLength: 2000, description: REDACTED })
const Hub = Text({ minLength: 1, maxLength: 300 })

const BlobStorage = Fields(
  {
    connection_string: ConnectionString,
    container_name: Text({
      pattern: '^(\\$root|[a-z0-9](-?[a-z0-9]){2,62})$',
      says: 'be $root, or 3 to 63 small letters, digits and single hyphens between them',
      maxLength: 63,
    }),
  },
  { title: 'EventDestinationAzureBlobStorage', aliases: { container: 'container_name' } },
)

/** A matcher selects events by one field and a destination by another: it has exactly one field of each pair. */
const exactlyOne: FinalizeObject = (matcher) => {
  for (const [a, b] of [
    ['event_type_prefix', 'event_type_regex'],
    ['event_hub', 'blob_storage'],
  ] as const) {
    const given = [a, b].filter((name) => matcher[name] !== undefined)
    if (given.length !== 1)
      return { field: given.length ? b : a, refusal: new RuleError(`exactly one of ${a} and ${b} is needed`) }
  }
  return matcher
}

const MatcherInput = Fields(
  {
    event_type_prefix: Maybe(Text({ maxLength: 120 })),
    event_type_regex: Maybe(Text({ minLength: 1, maxLength: 200, description: 'RE2; it may match anywhere in the type.' })),
    event_hub: Maybe(Hub),
    blob_storage: Maybe(BlobStorage),
  },
  { title: 'EventDestinationEventHubMatcherInput', finish: exactlyOne },
)
const Matcher = Fields(
  {
    event_type_prefix: Nullable(T.String()),
    event_type_regex: Nullable(T.String()),
    event_hub: Nullable(T.String()),
    blob_storage: Nullable(BlobStorage),
  },
  { title: 'EventDestinationEventHubMatcher' },
)

const compressions = ['always', 'auto'] as const
const AzureAmqpInput = Fields(
  {
    connection_string: ConnectionString,
    default_event_hub: Hub,
    event_hub_matchers: Maybe(T.Array(MatcherInput, { maxItems: MATCHERS_MAX, description: 'The first that matches counts.' })),
    compression: Maybe(OpenEnum(compressions, { default: 'auto' })),
  },
  { title: 'EventDestinationAzureAMQPInput' },
)
const AzureAmqp = Fields(
  {
    connection_string: ConnectionString,
    default_event_hub: T.String(),
    event_hub_matchers: T.Array(Matcher),
    compression: OpenEnum(compressions),
  },
  { title: 'EventDestinationAzureAMQPAttributes' },
)

/** The configuration of each destination, with secrets; the API returns it without them. */
export const Configured = {
  cloud_pubsub: Nullable(CloudPubSub),
  rabbitmq: Nullable(RabbitMq),
  svix: Nullable(Svix),
  azure_amqp: Nullable(AzureAmqp),
}
const ConfiguredFields = T.Object(Configured)
export type Configured = Static<typeof ConfiguredFields>
export type AzureAmqp = NonNullable<Configured['azure_amqp']>
export type Matcher = AzureAmqp['event_hub_matchers'][number]

export const Pipeline = Fields(
  {
    team_id: Uuid,
    push_historical_data: T.Boolean(),
    provider_raw_data: T.Boolean(),
    preferences: Preferences,
    ...Configured,
    event_type_prefixes: Nullable(T.Array(T.String(), { description: 'null and the empty list both mean: every type.' })),
    delivery_error: Nullable(
      T.String({
        description:
          'Why nothing is sent: the server cannot decrypt the credentials of the brokers. Events wait meanwhile. Setting the destinations again resumes sending at once.',
      }),
    ),
  },
  { title: 'ClientFacingETLPipeline' },
)
export type Pipeline = Static<typeof Pipeline>
export const PipelinePage = Fields(
  { pipelines: T.Array(Pipeline), next_cursor: Nullable(T.String()) },
  { title: 'TeamETLPipelinesResponse' },
)

export const PipelineQuery = Fields({ team_id: Maybe(Uuid), next_cursor: NextCursor })
export const DeletePipelinesQuery = Fields({ team_id: T.Array(Uuid, { minItems: 1, maxItems: TEAMS_MAX }) })

/** Samples in public send `team_id`: a list of one. */
const withTeams: FinalizeObject = ({ team_id, ...body }) => {
  if (body.team_ids !== undefined) return body
  if (team_id === undefined) return { field: 'team_ids', refusal: new RuleError('is required') }
  return { ...body, team_ids: [team_id] }
}

export const UpsertPipelines = Fields(
  {
    team_ids: Maybe(T.Array(Uuid, { minItems: 1, maxItems: TEAMS_MAX })),
    team_id: Maybe(T.String({ format: 'uuid', description: 'Instead of `team_ids`: one team.' })),
    push_historical_data: Maybe(T.Boolean()),
    provider_raw_data: Maybe(T.Boolean()),
    preferences: Maybe(Preferences),
    cloud_pubsub: Maybe(CloudPubSub),
    rabbitmq: Maybe(RabbitMq),
    svix: Maybe(SvixInput),
    azure_amqp: Maybe(AzureAmqpInput),
    event_type_prefixes: Maybe(T.Array(Text({ minLength: 1, maxLength: 120 }), { maxItems: PREFIXES_MAX })),
  },
  { title: 'UpsertTeamETLPipelinesBody', finish: withTeams },
)
export type UpsertPipelines = Static<typeof UpsertPipelines>
