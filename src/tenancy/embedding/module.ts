import { on } from '../../platform/db/hooks.ts'
import type { Module } from '../../platform/module/module.ts'
import { teamDeleted } from '../teams/team-hooks.ts'
import { unbindEmbeddedMembers } from './embedded-members.ts'
import { constraints } from './embedding.ts'
import { launchPages, type LaunchPageNeeds } from './launch-pages.ts'
import { constraints as launchConstraints } from './launches.ts'
import { routes } from './routes.ts'
import { sessionCleanup } from './sessions.ts'

export const embedding = (needs: LaunchPageNeeds): Module => ({
  name: 'tenancy/embedding',
  tag: 'management',
  tables: { others: ['dashboard_session', 'embedded_member', 'embedding'] },
  operations: routes(needs),
  pages: launchPages(needs),
  periodicTasks: [sessionCleanup],
  hooks: [on(teamDeleted, unbindEmbeddedMembers)],
  constraints: { ...constraints, ...launchConstraints },
})
