import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { eraseOrderNumbers } from './order-numbers.ts'
import { eraseRawResults } from './raw-results.ts'
import { unassignedCleanup } from './operator-reviews.ts'
import { resultMatchingRoutes } from './routes.ts'
import { unmatchedResults } from './features.ts'
import { eventTypes } from './event-types.ts'

export const resultMatching: Module = {
  name: 'lab/result-matching',
  about: 'incoming results, matching, reviews',
  tag: 'matching',
  eventTypes,
  features: [unmatchedResults],
  tables: { ofTeams: ['raw_result', 'lab_order_number'], views: ['raw_result_of_team'] },
  operations: resultMatchingRoutes,
  periodicTasks: [unassignedCleanup],
  erasers: {
    user: async (tx, user_id) => {
      await eraseRawResults(tx, user_id)
      await eraseOrderNumbers(tx, user_id)
    },
    team: eraseTables('raw_result', 'lab_order_number'),
  },
}
