import { defineHook } from '../../platform/db/hooks.ts'
import type { Module } from '../../platform/module/module.ts'
import { teamDeleted } from '../teams/team-hooks.ts'
import { memberConstraints, unbindMembers } from './members.ts'
import { membersRoutes, type MemberDependencies } from './routes.ts'

export const members = (dependencies: MemberDependencies): Module => ({
  name: 'tenancy/members',
  about: 'members and invites',
  tag: 'management',
  tables: { others: ['invite', 'member'] },
  operations: membersRoutes(dependencies),
  hooks: [defineHook(teamDeleted, unbindMembers)],
  constraints: memberConstraints,
})
