import type { Module } from '../../platform/module/module.ts'
import type { TeamDependencies } from './managed-teams.ts'
import { ownTeamRoutes } from './own-team-routes.ts'
import { teamsRoutes } from './routes.ts'

export const teams = (dependencies: TeamDependencies): Module => ({
  name: 'tenancy/teams',
  about: 'teams, settings, features, teams of a key, roles, erasure',
  tag: 'management',
  tables: { others: ['team'] },
  operations: [...teamsRoutes(dependencies), ...ownTeamRoutes(dependencies)],
})
