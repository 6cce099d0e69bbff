// Shapes of running queries over the data of one user. Source: users-wearables.md 15.1; openapi-0.4.687.json, QueryBatch.
import { Fields, Int, Maybe, Nullable, OpenEnum, T, Text, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'
import { Query } from './query-language.ts'
import { QueryConfig } from './schema.ts'
import { Timeframe } from './timeframe.ts'

const QUERIES_MAX = 20

export const UserParams = Fields({ user_id: Uuid })

export const QueryBatch = Fields(
  { timeframe: Timeframe, queries: T.Array(Query, { maxItems: QUERIES_MAX }), config: Maybe(QueryConfig) },
  { title: 'QueryBatch' },
)
export type QueryBatch = Static<typeof QueryBatch>

export const ResultTable = Fields(
  {
    table: T.Record(T.String(), T.Array(T.Unknown()), {
      description: 'Columns by name, in the order of `select`; each has one value for each row.',
    }),
  },
  { title: 'AggregationResult' },
)
export const QueryResults = Fields({ results: T.Array(ResultTable) }, { title: 'AggregationResponse' })

export const QueryOfUserParams = Fields({
  user_id: Uuid,
  query_id_or_slug: Text({
    maxLength: 128,
    pattern: '^[A-Za-z0-9-]{1,128}$',
    says: 'be an id or a slug',
    example: 'weekly-sleep',
  }),
})
export const HistoryQuery = Fields({
  limit: Maybe(Int({ minimum: 1, maximum: 100, default: 50 })),
  next_cursor: Maybe(Text({ maxLength: 1000 })),
})

const Task = Fields(
  {
    query_id: Uuid,
    user_id: Uuid,
    status: OpenEnum(['scheduled', 'started', 'completed', 'error', 'skipped']),
    scheduled_at: Timestamp,
    started_at: Nullable(Timestamp),
    ended_at: Nullable(Timestamp),
    error_details: Nullable(T.String()),
  },
  { title: 'ContinuousQueryTaskHistoryEntry' },
)
export const TaskHistory = Fields(
  { data: T.Array(Task), next_cursor: Nullable(T.String()) },
  { title: 'ContinuousQueryTaskHistoryResponse' },
)
