import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { unmatchedResultsRoutes } from './routes.ts'
import { stageHandler } from './stages.ts'
import { unmatchedResultTests } from './features.ts'
import { eraseTestRuns } from './unmatched-result-tests.ts'

export const unmatchedResults: Module = {
  name: 'sandbox/unmatched-results',
  about: 'tests of unmatched results',
  tag: 'simulator',
  features: [unmatchedResultTests],
  tables: { ofTeams: ['unmatched_result_test'] },
  operations: unmatchedResultsRoutes,
  jobs: [stageHandler],
  erasers: { user: eraseTestRuns, team: eraseTables('unmatched_result_test') },
}
