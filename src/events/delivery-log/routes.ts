import { requiredPlan } from '../../tenancy/organizations/plans.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { iso } from '../../platform/runtime/clock.ts'
import { managementOperation, operation, type Operation } from '../../platform/http/operation.ts'
import { Fields, Maybe, T } from '../../platform/schema/schema.ts'
import type { EventCatalog } from '../catalog/event-catalog.ts'
import type { NotDeleted } from '../feed/list-events.ts'
import { countDestinationAttempts, groupFailures, listEndpointHealth } from './delivery-health.ts'
import { getEventDetails, listEventRows } from './event-rows.ts'
import {
  AttemptCounts,
  DeliveryFailures,
  EndpointEventCounts,
  EndpointEventQuery,
  EndpointHealthList,
  EndpointPath,
  EventDetails,
  EventPath,
  EventRowPage,
  EventRowQuery,
  HoursQuery,
} from './event-schema.ts'
import { getMessage, listAttempts, listMessages, resendMessage, sendTest } from './messages.ts'
import { deliveryMetric, type Interval as MetricInterval } from './delivery-metric.ts'
import { countEndpointEvents, startReplay } from './replay.ts'
import {
  AttemptPage,
  AttemptQuery,
  deliveryLogParameters,
  EventTypeList,
  Interval,
  Message,
  MessageBody,
  MessagePage,
  MessagePath,
  Metric,
  Recover,
  Replay,
  ReplayStarted,
  TeamPath,
  WebhookPath,
} from '../endpoints/schema.ts'

const TEAM = '/v1/org/{org_id}/team/{team_id}/{environment}' as const
const WEBHOOK = `${TEAM}/webhook/{webhook_id}` as const
const bound = { scope: 'team', keyScope: 'bound', entitlement: requiredPlan.webhooks } as const
const webhookParams = Fields(WebhookPath)
const messageParams = Fields(MessagePath)

/** The dependencies of operations on the delivery log. */
export interface DeliveryLogDependencies {
  /** Headers of every attempt. */
  fixedHeaders: Record<string, string>
  catalog: EventCatalog
  notDeleted: NotDeleted
}

const inConsole = { isUnlisted: true, method: 'GET' } as const

/** The log of a team as people look through it. */
export const eventRowRoutes = ({ fixedHeaders, notDeleted }: DeliveryLogDependencies): Operation[] => [
  operation({
    ...inConsole,
    id: 'list_event_rows',
    logsAccess: true,
    path: '/console/v1/events',
    summary: 'List events as rows with the states of their deliveries, page by page',
    description:
      'Without bodies, newest first unless `order_direction` is `asc`. `since` and `until` are of the clock of the server.',
    query: EventRowQuery,
    reply: EventRowPage,
    run: (tx, { query }) => listEventRows(tx, notDeleted, query),
  }),
  operation({
    ...inConsole,
    id: 'get_event_details',
    logsAccess: true,
    path: '/console/v1/events/{event_id}',
    summary: 'Read an event with its destinations and attempts',
    params: EventPath,
    reply: EventDetails,
    run: (tx, { params }) => getEventDetails(tx, notDeleted, params.event_id, fixedHeaders),
  }),
  operation({
    ...inConsole,
    id: 'list_delivery_failures',
    logsAccess: false,
    path: '/console/v1/delivery_failures',
    summary: 'Group failed attempts by destination and cause',
    query: HoursQuery,
    reply: DeliveryFailures,
    run: (tx, { query }) => groupFailures(tx, notDeleted, query),
  }),
  operation({
    ...inConsole,
    id: 'list_endpoint_health',
    logsAccess: false,
    path: '/console/v1/endpoint_health',
    summary: 'Read the health of endpoints and brokers',
    reply: EndpointHealthList,
    run: (tx) => listEndpointHealth(tx),
  }),
  operation({
    ...inConsole,
    id: 'count_delivery_attempts',
    logsAccess: false,
    path: '/console/v1/delivery_attempt_counts',
    summary: 'Count attempts at each endpoint and broker over time',
    query: HoursQuery,
    reply: AttemptCounts,
    run: (tx, { query }) => countDestinationAttempts(tx, query),
  }),
  operation({
    ...inConsole,
    id: 'count_endpoint_events',
    logsAccess: false,
    path: '/console/v1/endpoints/{webhook_id}/event_counts',
    summary: 'Count the events of a span by the state of their delivery to an endpoint',
    description:
      'What `replay_webhook` and `recover_webhook` would send for the same span, and afterwards what came of it. `since` and `until` are of the clock of the team. At most the last 30 days, which it counts without them.',
    params: EndpointPath,
    query: EndpointEventQuery,
    reply: EndpointEventCounts,
    run: (tx, { params, query }) => countEndpointEvents(tx, params.webhook_id, query),
  }),
]

export function logRoutes({ fixedHeaders, catalog, notDeleted }: DeliveryLogDependencies): Operation[] {
  const { MessageQuery, SendTest, EventTypePath } = deliveryLogParameters(catalog)
  return [
    managementOperation({
      ...bound,
      id: 'list_webhook_messages',
      logsAccess: true,
      method: 'GET',
      path: `${WEBHOOK}/message`,
      summary: 'List messages of an endpoint, newest first',
      description: 'Kept for 30 days.',
      params: webhookParams,
      query: MessageQuery,
      reply: MessagePage,
      run: (tx, { params, query }) => listMessages(tx, notDeleted, params.webhook_id, query),
    }),
    managementOperation({
      ...bound,
      id: 'get_webhook_message',
      logsAccess: true,
      method: 'GET',
      path: `${WEBHOOK}/message/{message_id}`,
      summary: 'Read a message and the body that is sent',
      params: messageParams,
      reply: MessageBody,
      run: (tx, { params }) => getMessage(tx, notDeleted, params.webhook_id, params.message_id),
    }),
    managementOperation({
      ...bound,
      id: 'list_webhook_attempts',
      logsAccess: true,
      method: 'GET',
      path: `${WEBHOOK}/message/{message_id}/attempt`,
      summary: 'List the attempts to deliver a message, newest first',
      params: messageParams,
      query: AttemptQuery,
      reply: AttemptPage,
      run: (tx, { params, query }) => listAttempts(tx, notDeleted, params.webhook_id, params.message_id, query, fixedHeaders),
    }),
    managementOperation({
      ...bound,
      id: 'resend_webhook_message',
      logsAccess: true,
      method: 'POST',
      path: `${WEBHOOK}/message/{message_id}/resend`,
      summary: 'Send a message again: same id, same bytes, new timestamp',
      params: messageParams,
      reply: Message,
      run: (tx, { params }) => resendMessage(tx, notDeleted, params.webhook_id, params.message_id),
    }),
    managementOperation({
      ...bound,
      id: 'replay_webhook',
      logsAccess: false,
      method: 'POST',
      path: `${WEBHOOK}/replay`,
      summary: 'Replay events since a time',
      description:
        '`missing`: messages that were never queued for the endpoint, such as events from before it existed; `failed`: failed and stopped messages; `all`: all messages. The filter of the endpoint applies. At most the last 30 days, without events whose body is deleted.',
      params: webhookParams,
      body: Replay,
      reply: ReplayStarted,
      example: { since: '2026-01-01T00:00:00+00:00', which: 'missing_and_failed' },
      run: (tx, { params, body }) => startReplay(tx, params.webhook_id, body, body.which ?? 'missing_and_failed'),
    }),
    managementOperation({
      ...bound,
      id: 'recover_webhook',
      logsAccess: false,
      method: 'POST',
      path: `${WEBHOOK}/recover`,
      summary: 'Recover failed messages since a time',
      params: webhookParams,
      body: Recover,
      reply: ReplayStarted,
      example: { since: '2026-01-01T00:00:00+00:00' },
      run: (tx, { params, body }) => startReplay(tx, params.webhook_id, body, 'failed'),
    }),
    managementOperation({
      ...bound,
      id: 'test_webhook',
      logsAccess: false,
      method: 'POST',
      path: `${WEBHOOK}/test`,
      summary: 'Send a sample event to an endpoint',
      params: webhookParams,
      body: SendTest,
      reply: Message,
      example: { event_type: 'labtest.order.created' },
      run: (tx, { params, body }) => sendTest(tx, { notDeleted, catalog }, params.webhook_id, body.event_type),
    }),
    managementOperation({
      ...bound,
      id: 'list_event_types',
      logsAccess: false,
      method: 'GET',
      path: `${TEAM}/event_type`,
      summary: 'List event types',
      params: Fields(TeamPath),
      reply: EventTypeList,
      run: async () => ({
        data: catalog.list().map(({ name, family, resource = null }) => ({ name, family, resource })),
      }),
    }),
    managementOperation({
      ...bound,
      id: 'get_event_type_sample',
      logsAccess: false,
      method: 'GET',
      path: `${TEAM}/event_type/{event_type}/sample`,
      summary: 'Get a sample body of an event type',
      params: EventTypePath,
      reply: T.Record(T.String(), T.Unknown()),
      run: async (tx: Tx, { params }) => catalog.exampleBody(params.event_type, { team_id: tx.team, at_text: iso(tx.now) }),
    }),
    managementOperation({
      ...bound,
      id: 'get_team_event_delivery_metric',
      logsAccess: false,
      method: 'GET',
      path: `${TEAM}/event_delivery_metric`,
      summary: 'Get delivery metrics',
      description: 'Attempts per interval, of the last 24 hours, 3, 7 or 30 days.',
      params: Fields(TeamPath),
      query: Fields({ interval: Maybe(Interval) }),
      reply: Metric,
      run: (tx, { query }) => deliveryMetric(tx, (query.interval ?? '1h') as MetricInterval),
    }),
  ]
}
