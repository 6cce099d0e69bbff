import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { rawRoutes } from './raw-routes.ts'
import { summariesRoutes } from './routes.ts'
import { eraseSummaries } from './summaries.ts'

export const summaries: Module = {
  name: 'wearables/summaries',
  about: 'summaries: activity, sleep, workouts, body, …',
  tag: 'summaries',
  tables: { ofTeams: ['summary'] },
  operations: [...summariesRoutes, ...rawRoutes],
  erasers: { user: eraseSummaries, team: eraseTables('summary') },
}
