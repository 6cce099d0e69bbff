import { operation, PreserializedJson } from '../../platform/http/operation.ts'
import { Fields, T, Uuid } from '../../platform/schema/schema.ts'
import { streamFor } from '../resources/mobile-clients.ts'
import { rangeQuery } from '../resources/range-query.ts'
import { Sleep } from '../summaries/schema.ts'
import { listSleepStreams, readSleepStream, SleepStream } from './sleep-streams.ts'
import { readWorkoutStream, WorkoutStream } from './workout-streams.ts'

const deprecated = { deprecated: true, logsAccess: true, method: 'GET' } as const

export const streamsRoutes = [
  operation({
    id: 'get_workout_stream',
    logsAccess: true,
    method: 'GET',
    path: '/v2/timeseries/workouts/{workout_id}/stream',
    userTokens: 'record',
    summary: 'Show the stream of a workout',
    description:
      'Lists of one length, or empty ones. A workout without a stream has empty lists only. The published client for Android, which reads no null, gets a list that has one as an empty list.',
    params: Fields({ workout_id: Uuid }),
    reply: WorkoutStream,
    run: async (tx, { params, user, headers }) => {
      const stream = await readWorkoutStream(tx, params.workout_id, user?.user_id)
      return new PreserializedJson(streamFor(headers, stream), { searchForUsers: false })
    },
  }),
  operation({
    ...deprecated,
    id: 'get_sleep_stream',
    path: '/v2/timeseries/sleep/{sleep_id}/stream',
    userTokens: 'record',
    summary: 'Show the samples of a night',
    description: 'Samples that the source of the night recorded while it lasted, and the stages; read the timeseries instead.',
    params: Fields({ sleep_id: Uuid }),
    reply: SleepStream,
    run: (tx, { params, user }) => readSleepStream(tx, params.sleep_id, user?.user_id),
  }),
  operation({
    ...deprecated,
    id: 'get_sleep_with_streams',
    path: '/v2/summary/sleep/{user_id}/stream',
    userTokens: 'path',
    summary: 'List sleep sessions with their samples',
    description: 'At most 100 nights; read the timeseries instead.',
    params: Fields({ user_id: Uuid }),
    query: Fields(rangeQuery),
    reply: Fields(
      { sleep: T.Array(Fields({ ...Sleep.properties, sleep_stream: SleepStream }, { title: 'SleepWithStream' })) },
      { title: 'SleepWithStreams' },
    ),
    run: (tx, { params, query }) => listSleepStreams(tx, params.user_id, query),
  }),
]
