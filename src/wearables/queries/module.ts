import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { constraints } from './continuous-queries.ts'
import { routes } from './routes.ts'

export const queries: Module = {
  name: 'wearables/queries',
  tag: 'wearables',
  tables: { ofTeams: ['continuous_query'] },
  operations: routes,
  constraints,
  erasers: { team: eraseTables('continuous_query') },
}
