import { eraseTables } from '../../platform/db/erasure.ts'
import type { Module } from '../../platform/module/module.ts'
import { routes } from './routes.ts'
import { eraseStreams } from './workout-streams.ts'

export const streams: Module = {
  name: 'wearables/streams',
  about: 'streams of workouts, and the deprecated ones of nights',
  tag: 'streams',
  tables: { ofTeams: ['workout_stream'] },
  operations: routes,
  erasers: { user: async (tx, user_id) => void (await eraseStreams(tx, user_id)), team: eraseTables('workout_stream') },
}
