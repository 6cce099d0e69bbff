import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import type { WorkerPool } from '../../platform/runtime/worker-pool.ts'
import { eraseResults } from './results.ts'
import { routes } from './routes.ts'

export const results = ({ heavy }: { heavy: WorkerPool }): Module => ({
  name: 'lab/results',
  tag: 'results',
  tables: { ofTeams: ['lab_result', 'lab_result_pdf'] },
  operations: routes(heavy),
  erasers: { user: eraseResults, team: eraseTables('lab_result_pdf', 'lab_result') },
})
