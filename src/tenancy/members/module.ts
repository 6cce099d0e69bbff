import { on } from '../../platform/db/hooks.ts'
import type { Module } from '../../platform/module/module.ts'
import { teamDeleted } from '../teams/team-hooks.ts'
import type { InviteNeeds } from './invites.ts'
import { constraints, unbindMembers } from './members.ts'
import { routes } from './routes.ts'

export const members = (needs: InviteNeeds): Module => ({
  name: 'tenancy/members',
  tag: 'management',
  tables: { others: ['invite', 'member'] },
  operations: routes(needs),
  hooks: [on(teamDeleted, unbindMembers)],
  constraints,
})
