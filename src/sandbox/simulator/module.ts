import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { routes } from './routes.ts'
import { orderHooks, stepHandler, wakeHandler } from './simulate.ts'

export const simulator: Module = {
  name: 'sandbox/simulator',
  tag: 'simulator',
  tables: { ofTeams: ['simulation'] },
  operations: routes,
  jobs: [stepHandler, wakeHandler],
  hooks: orderHooks,
  erasers: { team: eraseTables('simulation') },
}
