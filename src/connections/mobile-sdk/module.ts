import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { defineHook } from '../../platform/db/hooks.ts'
import { providerDataErased } from '../../wearables/ingestion/provider-data.ts'
import { mobileSdkRoutes } from './routes.ts'
import { eraseReports } from './sync-reports.ts'
import { syncRoutes } from './sync-routes.ts'

export const mobileSdk: Module = {
  name: 'connections/mobile-sdk',
  about: 'requests of phones',
  tag: 'mobile-sdk',
  tables: { ofTeams: ['phone_sync'] },
  hooks: [defineHook(providerDataErased, eraseReports)],
  operations: [...mobileSdkRoutes, ...syncRoutes],
  erasers: { user: eraseReports, team: eraseTables('phone_sync') },
}
