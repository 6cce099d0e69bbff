import {
  Clearable,
  Fields,
  Int,
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
import { WITHOUT_BODY } from '../feed/schema.ts'
import type { EventCatalog } from '../catalog/event-catalog.ts'

const Limit = Maybe(Int({ minimum: 1, maximum: 250, default: 50 }))
const Cursor = Maybe(Text({ maxLength: 1000 }))

export const Webhook = Fields(
  {
    id: T.String(),
    url: T.String(),
    description: Nullable(T.String()),
    rate_limit: Nullable(T.Integer()),
    disabled: T.Boolean(),
    filter_types: Nullable(T.Array(T.String())),
    created_at: Timestamp,
    updated_at: Timestamp,
    delivery_error: Nullable(
      T.String({
        description:
          'Why nothing is sent although the endpoint is not disabled: the server cannot decrypt its secret or its headers. Events wait meanwhile. Rotating the secret, or setting the headers again, resumes sending at once.',
      }),
    ),
  },
  { title: 'Webhook' },
)
export type Webhook = Static<typeof Webhook>

export const WebhookPage = Fields({ data: T.Array(Webhook), next_cursor: Nullable(T.String()) }, { title: 'WebhookListResponse' })
export const WebhookQuery = Fields({ next_cursor: Cursor, limit: Limit })

/** The name of a type of the catalog. */
const typeName = (catalog: EventCatalog, example?: string) =>
  Text({
    maxLength: 120,
    rule: (name) => (catalog.has(name) ? name : new RuleError('must be an event type of the event catalog')),
    ...(example !== undefined && { example }),
  })

const Url = Text({ minLength: 1, maxLength: 2000, description: 'https; in the sandbox also http.' })
const Description = Text({ maxLength: 2000 })
const RateLimit = Clearable(Int({ minimum: 1, maximum: 65_535, description: 'Messages per second at most.' }))
/** The pattern and its error message never repeat the value: it is a secret. */
const Secret = Text({
  pattern: '^(whsec_)?[a-zA-Z0-9+/=]{32,100}$',
  says: 'be 24 to 75 bytes in base64, with or without whsec_',
  description: '24 to 75 bytes in base64, with or without `whsec_`.',
  rule: (text) => {
    const encoded = text.replace('whsec_', '')
    const bytes = Buffer.from(encoded, 'base64')
    const same = bytes.toString('base64').replace(/=+$/, '') === encoded.replace(/=+$/, '')
    return same && bytes.length >= 24 && bytes.length <= 75 ? text : new RuleError('must be 24 to 75 bytes in base64')
  },
})

/** The bodies of operations on endpoints: they name types of the catalog. */
export function endpointBodies(catalog: EventCatalog) {
  const FilterTypes = Clearable(
    T.Array(typeName(catalog), {
      maxItems: 250,
      description: 'Types that are sent here; null or an empty list: every type.',
    }),
  )
  const changeable = {
    description: Maybe(Description),
    rate_limit: RateLimit,
    disabled: Maybe(T.Boolean()),
    filter_types: FilterTypes,
  }
  return {
    CreateWebhook: Fields({ url: Url, ...changeable, secret: Maybe(Secret) }, { title: 'CreateWebhookBody' }),
    PatchWebhook: Fields({ url: Maybe(Url), ...changeable }, { title: 'PatchWebhookBody' }),
  }
}
type EndpointBodies = ReturnType<typeof endpointBodies>
export type CreateWebhook = Static<EndpointBodies['CreateWebhook']>
export type PatchWebhook = Static<EndpointBodies['PatchWebhook']>

export const WebhookHeaders = Fields(
  { headers: T.Record(T.String(), T.String()), sensitive: T.Array(T.String()) },
  { title: 'WebhookHeadersResponse' },
)
export const PutHeaders = Fields({ headers: T.Record(T.String(), T.String()) }, { title: 'UpdateWebhookHeadersBody' })

export const WebhookSecret = Fields({ key: T.String() }, { title: 'WebhookSecretResponse' })
export const RotateSecret = Fields({ key: Maybe(Secret) }, { title: 'RotateWebhookSecretBody' })

const environments = ['sandbox', 'production'] as const
export const TeamPath = { org_id: Uuid, team_id: Uuid, environment: OpenEnum(environments) }
export const WebhookPath = {
  ...TeamPath,
  webhook_id: Text({ minLength: 1, maxLength: 100, example: 'ep_01890000000070008000000000000001' }),
}
export const MessagePath = {
  ...WebhookPath,
  message_id: Text({ minLength: 1, maxLength: 100, example: 'msg_01890000000070008000000000000001' }),
}

const states = ['pending', 'delivered', 'failed', 'stopped'] as const

export const Message = Fields(
  {
    id: T.String({ description: 'As in the headers `svix-id` and `webhook-id`.' }),
    event_id: Nullable(T.String({ description: 'Null: a sample, or a message about deliveries.' })),
    event_type: T.String(),
    created_at: Timestamp,
    state: OpenEnum(states, {
      description: '`stopped`: the endpoint was disabled, or the user deleted, before it was delivered.',
    }),
    attempts: T.Integer({ description: 'Attempts so far; those of an earlier round are not counted.' }),
    next_attempt_at: Nullable(Timestamp),
  },
  { title: 'WebhookMessage' },
)
export const MessagePage = Fields({ data: T.Array(Message), next_cursor: Nullable(T.String()) }, { title: 'WebhookMessagePage' })
export const MessageBody = Fields(
  { ...Message.properties, body: T.Unknown({ description: `The event as it is sent. ${WITHOUT_BODY}` }) },
  { title: 'WebhookMessageBody' },
)

export const Attempt = Fields(
  {
    id: T.String(),
    message_id: T.String(),
    trigger: OpenEnum(['scheduled', 'manual']),
    at: Timestamp,
    duration_ms: T.Integer(),
    succeeded: T.Boolean(),
    request_headers: T.Record(T.String(), T.String(), { description: 'Values of custom headers are withheld.' }),
    response_status: Nullable(T.Integer()),
    response_body: T.String({ description: 'The first 4 kB.' }),
    error: Nullable(T.String({ description: 'Why there was no answer, or none in time.' })),
  },
  { title: 'WebhookAttempt' },
)
export const AttemptPage = Fields({ data: T.Array(Attempt), next_cursor: Nullable(T.String()) }, { title: 'WebhookAttemptPage' })
export const AttemptQuery = Fields({ next_cursor: Cursor, limit: Limit })

const which = ['missing', 'failed', 'missing_and_failed', 'all'] as const
export const Replay = Fields(
  {
    since: Timestamp,
    until: Maybe(Timestamp),
    which: Maybe(OpenEnum(which, { default: 'missing_and_failed' })),
  },
  { title: 'ReplayWebhookBody' },
)
export const Recover = Fields({ since: Timestamp, until: Maybe(Timestamp) }, { title: 'RecoverWebhookBody' })
export const ReplayStarted = Fields(
  { since: Timestamp, until: Timestamp, which: OpenEnum(which) },
  { title: 'WebhookReplay', description: 'The messages follow in the background.' },
)
export const EventTypeList = Fields(
  {
    data: T.Array(Fields({ name: T.String(), family: T.String(), resource: Nullable(T.String()) }, { title: 'EventType' })),
  },
  { title: 'EventTypeList' },
)
/** The parameters of operations on the delivery log that name types of the catalog. */
export function deliveryLogParameters(catalog: EventCatalog) {
  const TypeName = typeName(catalog)
  return {
    MessageQuery: Fields({ state: Maybe(OpenEnum(states)), event_type: Maybe(TypeName), next_cursor: Cursor, limit: Limit }),
    SendTest: Fields({ event_type: TypeName }, { title: 'TestWebhookBody' }),
    EventTypePath: Fields({ ...TeamPath, event_type: typeName(catalog, 'labtest.order.created') }),
  }
}
export type MessageQuery = Static<ReturnType<typeof deliveryLogParameters>['MessageQuery']>

export const Interval = OpenEnum(['5m', '15m', '1h', '1d'], { default: '1h' })
export const Metric = Fields(
  {
    status: T.Literal('success'),
    data: Fields(
      {
        resultType: T.Literal('matrix'),
        result: T.Array(
          Fields(
            {
              metric: T.Record(T.String(), T.String()),
              values: T.Array(T.Array(T.Union([T.Integer(), T.String()]), { minItems: 2, maxItems: 2 })),
            },
            { title: 'PrometheusQueryResult' },
          ),
        ),
      },
      { title: 'PrometheusQueryData' },
    ),
  },
  { title: 'PrometheusQueryResponse' },
)

export const WebhookManagementUrl = Fields({ url: T.String() }, { title: 'WebhookPageAddress' })
