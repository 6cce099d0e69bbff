import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { routes } from './routes.ts'
import { stageHandler } from './stages.ts'

export const unmatchedResults: Module = {
  name: 'sandbox/unmatched-results',
  tag: 'simulator',
  tables: { ofTeams: ['unmatched_result_test'] },
  operations: routes,
  jobs: [stageHandler],
  erasers: { team: eraseTables('unmatched_result_test') },
}
