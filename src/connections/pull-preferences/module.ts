import type { Cells } from '../../platform/db/cells.ts'
import type { Module } from '../../platform/module/module.ts'
import { eraseTeamPulls } from './erase.ts'
import { routes } from './routes.ts'

export const pullPreferences = (needs: { cells: Cells }): Module => ({
  name: 'connections/pull-preferences',
  tag: 'connections',
  tables: { others: ['data_pull_preference'] },
  operations: routes(needs),
  erasers: { team: eraseTeamPulls },
})
