import { Fields, Int, Maybe, Nullable, OpenEnum, T, Text, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'

const outcomes = ['success', 'client_error', 'server_error'] as const
export type Outcome = (typeof outcomes)[number]

const requestFields = {
  id: T.String({ description: 'Of the request, as in the header `x-request-id` and in the log of the server.' }),
  at: Timestamp,
  method: T.String(),
  path: T.String({ description: 'The path of the operation, with the names of its parameters.' }),
  operation: T.String({ description: 'The id of the operation.' }),
  status: T.Integer(),
  duration_ms: T.Number(),
  key_id: T.String({ description: 'The key; `session:` and an id for a member in the console.' }),
  member_id: Nullable(Uuid),
  error: Nullable(
    T.String({ description: 'Why the request was refused; in production the fields and kinds of invalid values.' }),
  ),
}
export const LoggedTeamRequest = Fields(requestFields, { title: 'LoggedTeamRequest' })
export type LoggedTeamRequest = Static<typeof LoggedTeamRequest>
export const LoggedTeamRequestPage = Fields(
  { data: T.Array(LoggedTeamRequest), next_cursor: Nullable(T.String()) },
  { title: 'LoggedTeamRequestPage' },
)

export const RequestQuery = Fields({
  operation: Maybe(T.Array(Text({ minLength: 1, maxLength: 100 }), { maxItems: 50 })),
  method: Maybe(OpenEnum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])),
  outcome: Maybe(OpenEnum(outcomes, { description: '`client_error`: 4xx; `server_error`: 5xx; `success`: the others.' })),
  status: Maybe(Int({ minimum: 100, maximum: 599 })),
  key: Maybe(Text({ minLength: 1, maxLength: 100, description: 'The id of a key.' })),
  member: Maybe(Text({ minLength: 1, maxLength: 100, description: 'The id of a member.' })),
  since: Maybe(Timestamp),
  until: Maybe(Timestamp),
  limit: Maybe(Int({ minimum: 1, maximum: 250, default: 50 })),
  next_cursor: Maybe(Text({ maxLength: 1000 })),
})
export type RequestQuery = Static<typeof RequestQuery>

export const RequestPath = Fields({ request_id: Text({ minLength: 1, maxLength: 100 }) })

export const RequestCountQuery = Fields({ since: Maybe(Timestamp), until: Maybe(Timestamp) })
export type RequestCountQuery = Static<typeof RequestCountQuery>
export const RequestCounts = Fields(
  {
    step_s: T.Integer({ description: 'The seconds of an interval.' }),
    data: T.Array(
      Fields(
        {
          at: Timestamp,
          success: T.Integer(),
          client_error: T.Integer(),
          server_error: T.Integer(),
          mean_duration_ms: Nullable(T.Number()),
        },
        { title: 'RequestCount' },
      ),
      { description: 'Oldest first, without gaps. Every request is counted, also one that is not among the listed ones.' },
    ),
  },
  { title: 'RequestCounts' },
)
export type RequestCounts = Static<typeof RequestCounts>
