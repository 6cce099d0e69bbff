import type { Module } from '../../platform/module/module.ts'
import { eraseTables, eraseTablesOfUser } from '../../platform/db/erasure.ts'
import { defineHook } from '../../platform/db/hooks.ts'
import { sql } from '../../platform/db/sql.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { dataChanged } from '../ingestion/ingest.ts'
import { prioritiesChanged } from '../../tenancy/teams/team-hooks.ts'
import { dataDeleted } from '../resources/expiry.ts'
import { constraints } from './continuous-queries.ts'
import { queriesRoutes } from './routes.ts'
import { userRoutes } from './user-routes.ts'
import { continuousQueries } from './features.ts'
import { handlers } from './evaluate.ts'
import { scheduleAfterDeletion } from './stored-results.ts'
import { eventTypes } from './event-types.ts'
import { restartEvaluations, scheduleEvaluations } from './query-tasks.ts'

/** Retention of evaluations that have begun. */
const HISTORY_S = 30 * 86_400

export const queries: Module = {
  name: 'wearables/queries',
  about: 'query language, continuous queries',
  tag: 'wearables',
  eventTypes,
  features: [continuousQueries],
  tables: { ofTeams: ['continuous_query', 'query_task', 'query_result'] },
  hooks: [
    defineHook(dataChanged, scheduleEvaluations),
    defineHook(dataDeleted, scheduleAfterDeletion),
    defineHook(prioritiesChanged, restartEvaluations),
  ],
  jobs: handlers,
  periodicTasks: [
    cleanup({
      table: 'query_task',
      column: 'created_at',
      retention_s: HISTORY_S,
      condition: sql`t.status <> 'scheduled'`,
    }),
  ],
  operations: [...queriesRoutes, ...userRoutes],
  constraints,
  erasers: {
    user: eraseTablesOfUser('query_task', 'query_result'),
    team: eraseTables('query_task', 'query_result', 'continuous_query'),
  },
}
