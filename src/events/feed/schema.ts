import {
  describedAs,
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

/** What API descriptions say of a body that is null. */
export const WITHOUT_BODY =
  'Null: it is deleted, as of events of health data and connections some days after they were delivered; read the object. Other events keep theirs.'

const EventRecord = Fields(
  {
    id: Uuid,
    type: T.String(),
    object_id: Uuid,
    created_at: Timestamp,
    body: describedAs(
      Nullable(
        Fields({
          event_type: T.String(),
          data: T.Unknown(),
          team_id: Uuid,
          user_id: T.Optional(Uuid),
          client_user_id: T.Optional(T.String()),
        }),
      ),
      `The event as it is sent. ${WITHOUT_BODY}`,
    ),
  },
  { title: 'EventRecord' },
)

export const EventPage = Fields({ data: T.Array(EventRecord), next_cursor: Nullable(T.String()) }, { title: 'EventPage' })

const Limit = Maybe(Int({ minimum: 1, maximum: 250, default: 50 }))
const Cursor = Maybe(Text({ maxLength: 1000 }))

export const EventQuery = Fields({
  type: Maybe(Text({ minLength: 1, maxLength: 120 })),
  object_id: Maybe(Uuid),
  limit: Limit,
  next_cursor: Cursor,
})

export const FeedEvent = Fields(
  {
    id: T.String({ description: 'As in the headers `svix-id` and `webhook-id` of a delivery.' }),
    type: T.String(),
    object_id: Uuid,
    created_at: Timestamp,
    body: describedAs(Nullable(T.String()), `The event as it is sent: JSON, byte for byte. ${WITHOUT_BODY}`),
  },
  { title: 'FollowedEvent' },
)
export const FeedEventPage = Fields(
  {
    data: T.Array(FeedEvent),
    next_cursor: T.String({ description: 'Where to go on, also when there was nothing.' }),
    epoch: Int({
      description:
        'Of the last event. It increases after a failover, a recovery, a restored backup or a restart of PostgreSQL: the cursor stays valid, and events just before may come again under the same ids.',
    }),
  },
  { title: 'FollowedPage' },
)

const WAIT_S_MAX = 25
export const FeedQuery = Fields({
  type: Maybe(
    T.Array(Text({ minLength: 1, maxLength: 120 }), {
      maxItems: 250,
      description: 'Types that are wanted; every type when not given.',
    }),
  ),
  start: Maybe(OpenEnum(['oldest', 'newest'], { default: 'oldest', description: 'Where to begin when there is no cursor yet.' })),
  wait_s: Maybe(
    Int({ minimum: 0, maximum: WAIT_S_MAX, default: 0, description: 'How long to wait for an event when there is none.' }),
  ),
  limit: Limit,
  next_cursor: Cursor,
})
export type FeedQuery = Static<typeof FeedQuery>
