// Schemas of events as people look through them: rows with the states of their deliveries, failures by cause, health of endpoints.
import { Fields, Int, Maybe, Nullable, OpenEnum, T, Text, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'
import { WITHOUT_BODY } from '../feed/schema.ts'
import { Attempt } from '../endpoints/schema.ts'

/** The most attempts among which failures are looked for. */
export const GROUPED_ATTEMPTS_MAX = 10_000

const destinationKinds = ['webhook', 'rabbitmq', 'azure_amqp', 'cloud_pubsub'] as const
const deliveryStates = ['pending', 'delivered', 'failed', 'stopped'] as const

const DeliveryCounts = Fields(
  { pending: T.Integer(), delivered: T.Integer(), failed: T.Integer(), stopped: T.Integer() },
  { title: 'DeliveryCounts', description: 'The number of destinations by the state of the delivery. All 0: it has none.' },
)

const eventFields = {
  id: Uuid,
  message_id: T.String({ description: 'As in the headers `svix-id` and `webhook-id`.' }),
  type: T.String(),
  object_id: Uuid,
  user_id: Nullable(Uuid),
  created_at: Timestamp,
  deliveries: DeliveryCounts,
}
export const EventRow = Fields(eventFields, { title: 'EventRow' })
export type EventRow = Static<typeof EventRow>
export const EventRowPage = Fields({ data: T.Array(EventRow), next_cursor: Nullable(T.String()) }, { title: 'EventRowPage' })

export const EventRowQuery = Fields({
  type: Maybe(T.Array(Text({ minLength: 1, maxLength: 120 }), { maxItems: 50 })),
  object_id: Maybe(Uuid),
  user_id: Maybe(Uuid),
  delivery_state: Maybe(
    OpenEnum(['pending', 'failed', 'stopped'], { description: 'Only events with a delivery in this state.' }),
  ),
  destination_id: Maybe(
    Text({
      minLength: 1,
      maxLength: 200,
      description: 'Only events for this endpoint or broker; `delivery_state` is then that of its delivery.',
    }),
  ),
  response_status: Maybe(
    Int({
      minimum: 100,
      maximum: 599,
      description: `Only events of which an attempt failed with this status; the newest ${GROUPED_ATTEMPTS_MAX} attempts are looked at.`,
    }),
  ),
  error: Maybe(
    Text({
      minLength: 1,
      maxLength: 500,
      description: 'Only events of which an attempt failed without a response, for this reason.',
    }),
  ),
  since: Maybe(Timestamp),
  until: Maybe(Timestamp),
  order_direction: Maybe(OpenEnum(['asc', 'desc'], { default: 'desc' })),
  limit: Maybe(Int({ minimum: 1, maximum: 250, default: 50 })),
  next_cursor: Maybe(Text({ maxLength: 1000 })),
})
export type EventRowQuery = Static<typeof EventRowQuery>

export const EventPath = Fields({ event_id: Uuid })

/** The most attempts of an event that are shown. */
export const SHOWN_ATTEMPTS_MAX = 100

export const EventDelivery = Fields(
  {
    destination_id: T.String({ description: 'The id of the endpoint; of a broker, its kind and the team.' }),
    kind: OpenEnum(destinationKinds),
    state: OpenEnum(deliveryStates),
    attempts: T.Integer({ description: 'Attempts of the present round.' }),
    next_attempt_at: Nullable(Timestamp),
    created_at: Timestamp,
  },
  { title: 'EventDelivery' },
)
const EventAttempt = Fields({ destination_id: T.String(), ...Attempt.properties }, { title: 'EventAttempt' })
export const EventDetails = Fields(
  {
    ...eventFields,
    body: T.Unknown({ description: `The event as it is sent. ${WITHOUT_BODY}` }),
    destinations: T.Array(EventDelivery),
    attempts: T.Array(EventAttempt, { description: `Newest first, at most ${SHOWN_ATTEMPTS_MAX}.` }),
  },
  { title: 'EventDetails' },
)
export type EventDetails = Static<typeof EventDetails>
export type EventDelivery = Static<typeof EventDelivery>

export const HoursQuery = Fields({
  hours: Maybe(Int({ minimum: 1, maximum: 720, default: 24, description: 'How far back.' })),
})
export type HoursQuery = Static<typeof HoursQuery>

export const DeliveryFailure = Fields(
  {
    destination_id: T.String(),
    response_status: Nullable(T.Integer({ description: 'Null: there was no response.' })),
    error: Nullable(T.String({ description: 'Why there was no response.' })),
    attempts: T.Integer(),
    messages: T.Integer(),
    first_at: Timestamp,
    last_at: Timestamp,
    last_message_id: T.String(),
  },
  { title: 'DeliveryFailure' },
)
export const DeliveryFailures = Fields(
  {
    data: T.Array(DeliveryFailure, { description: 'The most frequent cause first, at most 200.' }),
    is_complete: T.Boolean({ description: `False: only the newest ${GROUPED_ATTEMPTS_MAX} attempts are counted.` }),
  },
  { title: 'DeliveryFailures' },
)

/** The number at which the deliveries of an endpoint are no longer counted. */
export const COUNTED_DELIVERIES_MAX = 10_000

export const EndpointHealth = Fields(
  {
    destination_id: T.String(),
    kind: OpenEnum(destinationKinds),
    state: OpenEnum(['ok', 'failing', 'paused', 'unreadable', 'disabled'], {
      description:
        '`failing`: it has failed several times since it last succeeded; `paused`: nothing is sent for a while after failures; `unreadable`: its secret or headers cannot be decrypted.',
    }),
    failing_since: Nullable(Timestamp),
    paused_until: Nullable(Timestamp),
    pending: T.Integer({ description: `Deliveries that wait; counted up to ${COUNTED_DELIVERIES_MAX}.` }),
    oldest_pending_at: Nullable(Timestamp),
    retrying: T.Integer({ description: 'Of those, the ones whose last attempt failed.' }),
  },
  { title: 'EndpointHealth' },
)
export type EndpointHealth = Static<typeof EndpointHealth>
export const EndpointHealthList = Fields({ data: T.Array(EndpointHealth) }, { title: 'EndpointHealthList' })

export const AttemptCounts = Fields(
  {
    step_s: T.Integer({ description: 'The seconds of an interval.' }),
    starts: T.Array(Timestamp, { description: 'The beginning of each interval, oldest first, without gaps.' }),
    data: T.Array(
      Fields(
        {
          destination_id: T.String(),
          delivered: T.Array(T.Integer(), { description: 'Attempts that succeeded, by interval.' }),
          failed: T.Array(T.Integer(), { description: 'Attempts that failed, by interval.' }),
        },
        { title: 'DestinationAttemptCounts' },
      ),
      { description: 'Destinations with an attempt in the time.' },
    ),
  },
  { title: 'AttemptCounts' },
)
export type AttemptCounts = Static<typeof AttemptCounts>

export const EndpointPath = Fields({
  webhook_id: Text({ minLength: 1, maxLength: 100, example: 'ep_01890000000070008000000000000001' }),
})
export const EndpointEventQuery = Fields({ since: Maybe(Timestamp), until: Maybe(Timestamp) })
export type EndpointEventQuery = Static<typeof EndpointEventQuery>

export const EndpointEventCounts = Fields(
  {
    since: Timestamp,
    until: Timestamp,
    pending: T.Integer(),
    delivered: T.Integer(),
    failed: T.Integer(),
    stopped: T.Integer(),
    missing: T.Integer({
      description: 'Events that match the filter of the endpoint and were never queued for it, and still have their body.',
    }),
    without_body: T.Integer({ description: 'Events whose body is deleted: they cannot be sent again.' }),
    is_complete: T.Boolean({ description: `False: only the oldest ${COUNTED_DELIVERIES_MAX} events are counted.` }),
  },
  { title: 'EndpointEventCounts' },
)
export type EndpointEventCounts = Static<typeof EndpointEventCounts>
