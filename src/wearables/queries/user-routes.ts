// Queries over the data of one user, over HTTP.
import { acceptedFormat } from '../../platform/http/errors.ts'
import { multiTransactionOperation, operation, type Operation } from '../../platform/http/operation.ts'
import { HistoryQuery, QueryBatch, QueryOfUserParams, QueryResults, ResultTable, TaskHistory, UserParams } from './schema.ts'
import { archiveOf, createFile, PARQUET, PARQUET_ARCHIVE } from './parquet.ts'
import { readResultTable } from './stored-results.ts'
import { continuousQueries } from './features.ts'
import { listTasks } from './query-tasks.ts'
import { runQueries } from './run-query.ts'

const ofQuery = { logsAccess: true, method: 'GET', feature: continuousQueries, params: QueryOfUserParams } as const

export const userRoutes: Operation[] = [
  multiTransactionOperation({
    id: 'query_one',
    logsAccess: true,
    method: 'POST',
    path: '/aggregate/v1/user/{user_id}/query',
    reads: true,
    formats: [PARQUET_ARCHIVE],
    summary: 'Run queries over the data of a user',
    description:
      'At most 20 queries, each over one table or timeseries; results are columns, in the order of the queries. As an archive it has a Parquet file for each query. See [the guide](guides/QUERIES).',
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
    async run(context, { params, body, headers }) {
      const { queries } = body
      const tables = await runQueries(context, params.user_id, body)
      if (acceptedFormat(headers.accept, [PARQUET_ARCHIVE]) === PARQUET_ARCHIVE)
        return archiveOf(tables.map((table, i) => ({ query: queries[i]!, table })))
      return { results: tables.map((table) => ({ table })) }
    },
  }),
  operation({
    ...ofQuery,
    id: 'get_result_table_for_continuous_query',
    path: '/aggregate/v1/user/{user_id}/continuous_query/{query_id_or_slug}/result_table',
    formats: [PARQUET],
    summary: 'Read the result of a continuous query for a user',
    description:
      'As it was last evaluated; without rows before the first time. Also as a Parquet file. See [the guide](guides/QUERIES).',
    reply: ResultTable,
    async run(tx, { params, headers }) {
      const { query, slug, table } = await readResultTable(tx, params.user_id, params.query_id_or_slug)
      return acceptedFormat(headers.accept, [PARQUET]) === PARQUET ? createFile(slug, { query, table }) : { table }
    },
  }),
  operation({
    ...ofQuery,
    id: 'get_task_history_for_continuous_query',
    path: '/aggregate/v1/user/{user_id}/continuous_query/{query_id_or_slug}/task_history',
    summary: 'List the evaluations of a continuous query for a user, newest first',
    description: 'Evaluations that ended more than 30 days ago are not kept.',
    query: HistoryQuery,
    reply: TaskHistory,
    run: (tx, { params, query }) => listTasks(tx, params, query),
  }),
]
