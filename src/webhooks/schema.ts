import { Fields, Int, Maybe, Nullable, T, Text, Timestamp, Uuid } from '../platform/schema.ts'

export const EventRecord = Fields(
  {
    id: Uuid,
    type: T.String(),
    object_id: Uuid,
    created_at: Timestamp,
    body: Fields(
      {
        event_type: T.String(),
        data: T.Unknown(),
        team_id: Uuid,
        user_id: Uuid,
        client_user_id: T.String(),
      },
      { description: 'The event as it is sent.' },
    ),
  },
  { title: 'EventRecord' },
)

export const EventPage = Fields({ data: T.Array(EventRecord), next_cursor: Nullable(T.String()) }, { title: 'EventPage' })

export const EventQuery = Fields({
  type: Maybe(Text({ minLength: 1, maxLength: 120 })),
  object_id: Maybe(Uuid),
  limit: Maybe(Int({ minimum: 1, maximum: 250, default: 50 })),
  next_cursor: Maybe(Text({ maxLength: 1000 })),
})
