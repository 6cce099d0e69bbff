import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { rawRoutes } from './raw-routes.ts'
import { summariesRoutes } from './routes.ts'
import { eraseSummaries } from './summaries.ts'

export const summaries: Module = {
  name: 'wearables/summaries',
  about: 'activity, sleep, workouts, body, profile, meals, menstrual cycles, electrocardiograms',
  tag: 'summaries',
  tables: { ofTeams: ['summary'] },
  operations: [...summariesRoutes, ...rawRoutes],
  erasers: { user: async (tx, user_id) => void (await eraseSummaries(tx, user_id)), team: eraseTables('summary') },
}
