// Queries over the data of one user, over HTTP.
import { operation, type Operation } from '../../platform/http/operation.ts'
import { QueryBatch, QueryResults, UserParams } from './batch-schema.ts'
import { runQueries } from './run-query.ts'

export const userRoutes: Operation[] = [
  operation({
    id: 'query_one',
    patients: true,
    method: 'POST',
    path: '/aggregate/v1/user/{user_id}/query',
    reads: true,
    answersJsonOnly: true,
    summary: 'Run queries over the data of a user',
    description:
      'At most 20 queries, each over one table or timeseries; results are columns, in the order of the queries. See docs/QUERIES.md.',
    params: UserParams,
    body: QueryBatch,
    reply: QueryResults,
    example: {
      timeframe: { type: 'relative', anchor: '2026-01-31', past: { value: 1, unit: 'week' } },
      queries: [
        {
          select: [{ group_key: '*' }, { func: 'mean', arg: { timeseries: 'heartrate', field: 'value' } }],
          group_by: [{ date_trunc: { value: 1, unit: 'day' }, arg: { index: 'timeseries' } }],
        },
      ],
    },
    run: async (tx, { params, body }) => ({
      results: (await runQueries(tx, params.user_id, body)).map((table) => ({ table })),
    }),
  }),
]
