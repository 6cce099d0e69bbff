import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { routes } from './routes.ts'
import { eraseReports } from './sync-reports.ts'
import { syncRoutes } from './sync-routes.ts'

export const mobileSdk: Module = {
  name: 'connections/mobile-sdk',
  about: 'what phones send, and ask before they send',
  tag: 'mobile-sdk',
  tables: { ofTeams: ['phone_sync'] },
  operations: [...routes, ...syncRoutes],
  erasers: { user: eraseReports, team: eraseTables('phone_sync') },
}
