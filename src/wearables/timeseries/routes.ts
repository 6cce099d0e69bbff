import type { Tx } from '../../platform/db/transaction.ts'
import { operation } from '../../platform/http/operation.ts'
import { Fields, Maybe, Nullable, OpenEnum, T, Text, Timestamp, Uuid } from '../../platform/schema/schema.ts'
import { DataSource } from '../resources/data-source.ts'
import { assertServesLegacy, endedList, groupedPath, stagesPath } from '../resources/legacy.ts'
import { isAndroid } from '../resources/mobile-clients.ts'
import { rangeQuery } from '../resources/range-query.ts'
import {
  bolusPurposes,
  deliveryForms,
  deliveryModes,
  intensities,
  noteTags,
  sensorLocations,
} from '../resources/sample-details.ts'
import { plainListNames, timeseriesNames, type TimeseriesName } from '../resources/timeseries.ts'
import { readGrouped, readPlain, type SampleQuery } from './read.ts'

export const Sample = Fields(
  {
    id: T.Null(),
    timestamp: Timestamp,
    timezone_offset: Nullable(T.Integer()),
    type: Nullable(T.String()),
    unit: T.String(),
    value: T.Optional(T.Union([T.Number(), T.String()])),
    systolic: T.Optional(T.Number()),
    diastolic: T.Optional(T.Number()),
    grouping: T.Optional(T.Array(Nullable(T.String()), { maxItems: 4 })),
    start: T.Optional(Timestamp),
    end: T.Optional(Timestamp),
    sensor_location: T.Optional(Nullable(OpenEnum(sensorLocations))),
    intensity: T.Optional(Nullable(OpenEnum(intensities))),
    delivery_mode: T.Optional(Nullable(OpenEnum(deliveryModes))),
    delivery_form: T.Optional(Nullable(OpenEnum(deliveryForms))),
    bolus_purpose: T.Optional(Nullable(OpenEnum(bolusPurposes))),
    tags: T.Optional(Nullable(T.Array(OpenEnum(noteTags)))),
  },
  {
    title: 'Sample',
    description:
      'Blood pressure has `systolic` and `diastolic`, every other timeseries `value`, which is the text of a `note` and a number otherwise. `start` and `end` stand where a sample covers an interval. Temperatures have `sensor_location`, `workout_duration` has `intensity`, `insulin_injection` has `delivery_mode`, `delivery_form` and `bolus_purpose`, a `note` has `tags`.',
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

const pages = { next_cursor: Maybe(Text({ maxLength: 300 })), cursor: Maybe(Text({ maxLength: 300 })) }
const ended =
  'A server with `LEGACY_TIMESERIES=off` answers 404. The published Android client, which is known by its header `x-vital-android-sdk-version`, gets groups and pages, as from the path that takes its place.'

/** What the deprecated lists have in common. */
const plain = {
  logsAccess: true,
  method: 'GET',
  userTokens: 'path',
  deprecated: true,
  query: Fields({ ...rangeQuery, ...pages }),
  reply: T.Union([T.Array(Sample), Grouped]),
} as const

/** The published client for Android requests the deprecated paths and expects what the others show. Source: users-wearables.md 19 D1. */
async function answerPlain(
  tx: Tx,
  user_id: string,
  resource: TimeseriesName,
  { query, headers, type }: { query: SampleQuery; headers: Record<string, unknown>; type?: string },
) {
  assertServesLegacy(tx)
  return (isAndroid(headers) ? readGrouped : readPlain)(tx, user_id, resource, query, type)
}

/** The place of a deprecated list is taken by groups, of sleep stages by the lists of stages. */
const successorPath = (user_id: string, resource: string) =>
  resource === 'hypnogram' ? stagesPath(user_id) : groupedPath(user_id, resource)

/** Phones post blood pressures to a path of their own, which would hide a list with a parameter in its place. */
const plainListsByName = plainListNames.filter((name) => name !== 'blood_pressure')

export const timeseriesRoutes = [
  operation({
    id: 'get_timeseries_grouped',
    logsAccess: true,
    method: 'GET',
    path: '/v2/timeseries/{user_id}/{resource}/grouped',
    userTokens: 'path',
    summary: 'List samples of a timeseries by provider and source',
    description:
      'A page has at most 10,000 samples. A date without a time means the whole day in UTC. `hypnogram` is deprecated: a server with `LEGACY_TIMESERIES=off` answers 404.',
    params: Fields({ user_id: Uuid, resource: OpenEnum(timeseriesNames, { example: 'heartrate' }) }),
    query: Fields({ ...rangeQuery, ...pages }),
    deprecation: ({ user_id, resource }) => (resource === 'hypnogram' ? endedList(stagesPath(user_id)) : undefined),
    reply: Grouped,
    async run(tx, { params, query }) {
      if (params.resource === 'hypnogram') assertServesLegacy(tx)
      return readGrouped(tx, params.user_id, params.resource, query)
    },
  }),
  operation({
    ...plain,
    id: 'get_timeseries',
    path: '/v2/timeseries/{user_id}/{resource}',
    summary: 'List samples of a timeseries without their sources',
    description: `At most 100,000 samples, without pages. ${ended}`,
    params: Fields({ user_id: Uuid, resource: OpenEnum(plainListsByName, { example: 'heartrate' }) }),
    deprecation: ({ user_id, resource }) => endedList(successorPath(user_id, resource)),
    run: (tx, { params, ...request }) => answerPlain(tx, params.user_id, params.resource, request),
  }),
  operation({
    ...plain,
    id: 'get_timeseries_blood_pressure',
    path: '/v2/timeseries/{user_id}/blood_pressure',
    summary: 'List samples of blood pressure without their sources',
    description: `At most 100,000 samples, without pages. ${ended}`,
    params: Fields({ user_id: Uuid }),
    deprecation: ({ user_id }) => endedList(groupedPath(user_id, 'blood_pressure')),
    run: (tx, { params, ...request }) => answerPlain(tx, params.user_id, 'blood_pressure', request),
  }),
  ...(['ldl', 'hdl', 'total', 'triglycerides'] as const).map((kind) =>
    operation({
      ...plain,
      id: `get_timeseries_cholesterol_${kind}`,
      path: `/v2/timeseries/{user_id}/cholesterol/${kind}`,
      summary: `List samples of cholesterol of the type ${kind} without their sources`,
      description: `The samples of \`cholesterol\` whose \`type\` is \`cholesterol/${kind}\`; at most 100,000, without pages. ${ended}`,
      params: Fields({ user_id: Uuid }),
      deprecation: ({ user_id }) => endedList(groupedPath(user_id, 'cholesterol')),
      run: (tx, { params, ...request }) =>
        answerPlain(tx, params.user_id, 'cholesterol', { ...request, type: `cholesterol/${kind}` }),
    }),
  ),
]
