import type { Cells } from '../../platform/db/cells.ts'
import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { routes } from './routes.ts'

export const pullPreferences = (dependencies: { cells: Cells }): Module => ({
  name: 'connections/pull-preferences',
  about: 'how many days of history teams pull from providers',
  tag: 'connections',
  tables: { others: ['data_pull_preference'] },
  operations: routes(dependencies),
  erasers: { team: eraseTables('data_pull_preference') },
})
