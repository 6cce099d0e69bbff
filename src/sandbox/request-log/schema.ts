import { Fields, Maybe, Nullable, T, Text, Timestamp, type Static } from '../../platform/schema/schema.ts'

const LoggedRequest = Fields(
  {
    id: T.String({ description: 'Of the request, as in the log of the server.' }),
    at: Timestamp,
    method: T.String(),
    path: T.String({
      description: 'Ids as they were requested; any other part of a path stands as its name, and a query is left out.',
    }),
    operation: T.String({ description: 'The id of the operation.' }),
    status: T.Integer({ description: 'The status of the response.' }),
    duration_ms: T.Number({ description: 'How long the server took, in milliseconds.' }),
    error: Nullable(T.String({ description: 'Why the request was refused.' })),
  },
  { title: 'LoggedRequest' },
)
/** A request that was answered. */
export type LoggedRequest = Static<typeof LoggedRequest>

export const LoggedRequests = Fields(
  {
    data: T.Array(LoggedRequest, { description: 'Oldest first.' }),
    next_cursor: T.String({ description: 'Where to go on, also when there was nothing.' }),
  },
  { title: 'LoggedRequests' },
)

export const LoggedRequestQuery = Fields({ next_cursor: Maybe(Text({ maxLength: 100 })) })
