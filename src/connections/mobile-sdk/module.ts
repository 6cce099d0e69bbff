import type { Module } from '../../platform/module/module.ts'
import { eraseTables, eraseTablesOfUser } from '../../platform/db/erasure.ts'
import { defineHook } from '../../platform/db/hooks.ts'
import { providerDataErased } from '../../wearables/ingestion/provider-data.ts'
import { mobileSdkRoutes } from './routes.ts'
import { syncRoutes } from './sync-routes.ts'

const eraseReports = eraseTablesOfUser('phone_sync')

export const mobileSdk: Module = {
  name: 'connections/mobile-sdk',
  about: 'requests of phones',
  tag: 'mobile-sdk',
  tables: { ofTeams: ['phone_sync'] },
  hooks: [defineHook(providerDataErased, eraseReports)],
  operations: [...mobileSdkRoutes, ...syncRoutes],
  erasers: { user: eraseReports, team: eraseTables('phone_sync') },
}
