import type { Module } from '../../platform/module/module.ts'
import { eraseTeamPhysicians } from './physicians.ts'
import { routes } from './routes.ts'

export const physicians: Module = {
  name: 'people/physicians',
  tag: 'physicians',
  tables: { ofTeams: ['team_physician'] },
  operations: routes,
  erasers: { team: eraseTeamPhysicians },
}
