// The modules of people, from the bottom up.
import type { Module } from '../platform/module/module.ts'
import { insurance } from './insurance/module.ts'
import { eraseTables } from '../platform/db/erasure.ts'
import { physiciansRoutes } from './physicians/routes.ts'
import { users } from './users/module.ts'

export const people: Module[] = [
  {
    name: 'people/person',
    about: 'schemas of name, address, guarantor, country',
  },
  users,
  insurance,
  {
    name: 'people/physicians',
    about: 'physicians of a team',
    tag: 'physicians',
    tables: { ofTeams: ['team_physician'] },
    operations: physiciansRoutes,
    erasers: { team: eraseTables('team_physician') },
  },
]
