import { eraseTables } from '../../platform/db/erasure.ts'
import type { Module } from '../../platform/module/module.ts'
import { demoHandlers, eraseDemoConnections } from './demo-connections.ts'
import { demoDataRoutes } from './routes.ts'

export const demoData: Module = {
  name: 'sandbox/demo-data',
  about: 'demo connections and their data',
  tag: 'link',
  tables: { ofTeams: ['demo_connection'] },
  operations: demoDataRoutes,
  jobs: demoHandlers,
  erasers: { user: eraseDemoConnections, team: eraseTables('demo_connection') },
}
