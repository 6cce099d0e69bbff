import type { Module } from '../../platform/module/module.ts'
import { routes } from './routes.ts'
import { stageHandler } from './stages.ts'
import { eraseTeamUnmatchedResultTests } from './unmatched-result-tests.ts'

export const unmatchedResults: Module = {
  name: 'sandbox/unmatched-results',
  tag: 'simulator',
  tables: { ofTeams: ['unmatched_result_test'] },
  operations: routes,
  jobs: [stageHandler],
  erasers: { team: eraseTeamUnmatchedResultTests },
}
