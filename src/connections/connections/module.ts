import type { Module } from '../../platform/module/module.ts'
import { eraseTables, eraseTablesOfUser } from '../../platform/db/erasure.ts'
import { defineHook } from '../../platform/db/hooks.ts'
import { userDeleted } from '../../people/users/users.ts'
import { deregisterAll, endIngestionHandler } from './connections.ts'
import { eventTypes } from './event-types.ts'
import { connectionsRoutes } from './routes.ts'

export const userConnections: Module = {
  name: 'connections/connections',
  about: 'connections of users, providers',
  tag: 'connections',
  eventTypes,
  tables: { ofTeams: ['connection'] },
  operations: connectionsRoutes,
  jobs: [endIngestionHandler],
  hooks: [defineHook(userDeleted, deregisterAll)],
  erasers: { user: eraseTablesOfUser('connection'), team: eraseTables('connection') },
}
