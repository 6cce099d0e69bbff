import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { eraseRawResults } from './raw-results.ts'
import { unassignedCleanup } from './operator-reviews.ts'
import { routes } from './routes.ts'

export const resultMatching: Module = {
  name: 'lab/result-matching',
  tag: 'matching',
  tables: { ofTeams: ['raw_result'], views: ['raw_result_of_team'] },
  operations: routes,
  periodicTasks: [unassignedCleanup],
  erasers: { user: eraseRawResults, team: eraseTables('raw_result') },
}
