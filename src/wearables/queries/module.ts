import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { constraints } from './continuous-queries.ts'
import { routes } from './routes.ts'
import { userRoutes } from './user-routes.ts'
import { continuousQueries } from './features.ts'
import { eventTypes } from './event-types.ts'

export const queries: Module = {
  name: 'wearables/queries',
  about: 'the query language and continuous queries',
  tag: 'wearables',
  eventTypes,
  features: [continuousQueries],
  tables: { ofTeams: ['continuous_query'] },
  operations: [...routes, ...userRoutes],
  constraints,
  erasers: { team: eraseTables('continuous_query') },
}
