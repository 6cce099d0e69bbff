import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import type { WorkerPool } from '../../platform/runtime/worker-pool.ts'
import { completionHandler } from './complete-result.ts'
import { eraseResults } from './results.ts'
import { resultsRoutes } from './routes.ts'
import { redraws } from './features.ts'
import { eventTypes } from './event-types.ts'

export const labResults = ({ heavy }: { heavy: WorkerPool }): Module => ({
  name: 'lab/results',
  about: 'result documents, ranges, critical results, PDF',
  tag: 'results',
  eventTypes,
  options: [redraws],
  tables: { ofTeams: ['lab_result', 'lab_result_pdf'] },
  operations: resultsRoutes(heavy),
  jobs: [completionHandler],
  erasers: { user: eraseResults, team: eraseTables('lab_result_pdf', 'lab_result') },
})
