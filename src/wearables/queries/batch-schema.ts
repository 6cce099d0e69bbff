// Shapes of running queries over the data of one user. Source: users-wearables.md 15.1; openapi-0.4.687.json, QueryBatch.
import { Fields, Maybe, T, Uuid, type Static } from '../../platform/schema/schema.ts'
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
