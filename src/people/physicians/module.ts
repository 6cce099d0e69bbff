import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { routes } from './routes.ts'

export const physicians: Module = {
  name: 'people/physicians',
  about: 'physicians of a team; not who signed an order',
  tag: 'physicians',
  tables: { ofTeams: ['team_physician'] },
  operations: routes,
  erasers: { team: eraseTables('team_physician') },
}
