import type { Module } from '../../platform/module/module.ts'
import type { TeamNeeds } from './managed-teams.ts'
import { ownTeamRoutes } from './own-team-routes.ts'
import { routes } from './routes.ts'

export const teams = (needs: TeamNeeds): Module => ({
  name: 'tenancy/teams',
  tag: 'management',
  tables: { others: ['team'] },
  operations: [...routes(needs), ...ownTeamRoutes(needs)],
})
