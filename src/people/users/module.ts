import type { Module } from '../../platform/module/module.ts'
import { eraseTables, eraseTablesOfUser } from '../../platform/db/erasure.ts'
import { usersRoutes } from './routes.ts'
import { eraseUserRows } from './user-erasure.ts'
import { userConstraints } from './users.ts'

const eraseDemographics = eraseTablesOfUser('user_demographics')

export const users: Module = {
  name: 'people/users',
  about: 'users, demographics, deletion, names of sources',
  tag: 'users',
  tables: { ofTeams: ['user', 'user_demographics'] },
  operations: usersRoutes,
  constraints: userConstraints,
  erasers: {
    async user(tx, user_id) {
      await eraseDemographics(tx, user_id)
      await eraseUserRows(tx, user_id)
    },
    team: eraseTables('user_demographics', 'user'),
  },
}
