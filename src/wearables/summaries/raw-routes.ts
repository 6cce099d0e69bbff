import type { Tx } from '../../platform/db/transaction.ts'
import { operation, PreserializedJson } from '../../platform/http/operation.ts'
import { Fields, T, Uuid } from '../../platform/schema/schema.ts'
import { providerFilter, rangeQuery, type RangeQuery } from '../resources/range-query.ts'
import { listRaw, RawProfile, RawRecord, RawWorkout, readRawProfile } from './raw.ts'

const params = Fields({ user_id: Uuid })
const description =
  'By local day, oldest first; samples that came with the records are timeseries. A range has at most 5,000 records and 16 MB; 422 asks for a shorter range.'
const ofUser = { logsAccess: true, method: 'GET', params, userTokens: 'path' } as const
const range = { ...ofUser, query: Fields(rangeQuery), description } as const

const toJson = (body: unknown) => new PreserializedJson<never>(JSON.stringify(body))
const listRawKind =
  (kind: 'activity' | 'body' | 'sleep' | 'workouts') =>
  async (tx: Tx, { params, query }: { params: { user_id: string }; query: RangeQuery }) =>
    toJson({ [kind]: await listRaw(tx, params.user_id, kind, query) })

export const rawRoutes = [
  operation({
    ...range,
    id: 'get_activity_raw',
    path: '/v2/summary/activity/{user_id}/raw',
    summary: 'List days of activity as providers sent them',
    reply: Fields({ activity: T.Array(RawRecord) }, { title: 'RawActivityList' }),
    run: listRawKind('activity'),
  }),
  operation({
    ...range,
    id: 'get_body_raw',
    path: '/v2/summary/body/{user_id}/raw',
    summary: 'List body measurements as providers sent them',
    reply: Fields({ body: T.Array(RawRecord) }, { title: 'RawBodyList' }),
    run: listRawKind('body'),
  }),
  operation({
    ...range,
    id: 'get_sleep_raw',
    path: '/v2/summary/sleep/{user_id}/raw',
    summary: 'List sleep sessions as providers sent them',
    reply: Fields({ sleep: T.Array(RawRecord) }, { title: 'RawSleepList' }),
    run: listRawKind('sleep'),
  }),
  operation({
    ...range,
    id: 'get_workouts_raw',
    path: '/v2/summary/workouts/{user_id}/raw',
    summary: 'List workouts as providers sent them',
    reply: Fields({ workouts: T.Array(RawWorkout) }, { title: 'RawWorkoutList' }),
    run: listRawKind('workouts'),
  }),
  operation({
    ...ofUser,
    id: 'get_profile_raw',
    path: '/v2/summary/profile/{user_id}/raw',
    summary: 'Read the profile of a user as its provider sent it',
    query: Fields({ provider: providerFilter }),
    reply: Fields({ profile: RawProfile }, { title: 'RawProfileReply' }),
    run: async (tx, { params, query }) =>
      toJson({ profile: await readRawProfile(tx, params.user_id, query.provider || undefined) }),
  }),
]
