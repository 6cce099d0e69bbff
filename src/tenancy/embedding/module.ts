import { defineHook } from '../../platform/db/hooks.ts'
import type { Module } from '../../platform/module/module.ts'
import { teamDeleted } from '../teams/team-hooks.ts'
import { unbindEmbeddedMembers } from './embedded-members.ts'
import { embeddingConstraints } from './embedding.ts'
import { launchPages, type LaunchPageDependencies } from './launch-pages.ts'
import { launchConstraints } from './launches.ts'
import { embeddingRoutes, type RouteDependencies } from './routes.ts'
import { sessionCleanup } from './dashboard-sessions.ts'

export const embedding = (dependencies: LaunchPageDependencies & RouteDependencies): Module => ({
  name: 'tenancy/embedding',
  about: 'launch URLs, dashboard sessions, integration-managed members',
  tag: 'management',
  tables: { others: ['dashboard_embedding', 'dashboard_session', 'integration_member'] },
  operations: embeddingRoutes(dependencies),
  pages: launchPages(dependencies),
  periodicTasks: [sessionCleanup],
  hooks: [defineHook(teamDeleted, unbindEmbeddedMembers)],
  constraints: { ...embeddingConstraints, ...launchConstraints },
})
