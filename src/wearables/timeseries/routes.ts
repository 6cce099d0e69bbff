import { operation } from '../../platform/http/operation.ts'
import { Fields, Maybe, Nullable, OpenEnum, T, Text, Timestamp, Uuid } from '../../platform/schema/schema.ts'
import { DataSource } from '../resources/data-source.ts'
import { rangeQuery } from '../resources/range-query.ts'
import { plainListNames, timeseriesNames } from '../resources/timeseries.ts'
import { readGrouped, readPlain } from './read.ts'

export const Sample = Fields(
  {
    id: T.Null(),
    timestamp: Timestamp,
    timezone_offset: Nullable(T.Integer()),
    type: Nullable(T.String()),
    unit: T.String(),
    value: T.Optional(T.Number()),
    systolic: T.Optional(T.Number()),
    diastolic: T.Optional(T.Number()),
    grouping: T.Optional(T.Array(Nullable(T.String()), { maxItems: 4 })),
    start: T.Optional(Timestamp),
    end: T.Optional(Timestamp),
  },
  {
    title: 'Sample',
    description:
      'Blood pressure has `systolic` and `diastolic`, every other timeseries `value`. `start` and `end` stand where a sample covers an interval.',
  },
)

const Grouped = Fields(
  {
    groups: T.Record(T.String(), T.Array(Fields({ source: DataSource, data: T.Array(Sample) }))),
    next: Nullable(T.String()),
    next_cursor: Nullable(T.String()),
  },
  { title: 'GroupedSamples' },
)

export const routes = [
  operation({
    id: 'get_timeseries_grouped',
    patients: true,
    method: 'GET',
    path: '/v2/timeseries/{user_id}/{resource}/grouped',
    userTokens: 'path',
    summary: 'List samples of a timeseries by provider and source',
    description: 'A page has at most 10,000 samples. A date without a time means the whole day in UTC.',
    params: Fields({ user_id: Uuid, resource: OpenEnum(timeseriesNames, { example: 'heartrate' }) }),
    query: Fields({ ...rangeQuery, next_cursor: Maybe(Text({ maxLength: 300 })), cursor: Maybe(Text({ maxLength: 300 })) }),
    reply: Grouped,
    run: (tx, { params, query }) => readGrouped(tx, params.user_id, params.resource, query),
  }),
  operation({
    id: 'get_timeseries',
    patients: true,
    method: 'GET',
    path: '/v2/timeseries/{user_id}/{resource}',
    userTokens: 'path',
    summary: 'List samples of a timeseries without their sources',
    description: 'At most 100,000 samples, without pages.',
    deprecated: true,
    params: Fields({ user_id: Uuid, resource: OpenEnum(plainListNames, { example: 'heartrate' }) }),
    query: Fields(rangeQuery),
    reply: T.Array(Sample),
    run: (tx, { params, query }) => readPlain(tx, params.user_id, params.resource, query),
  }),
]
