import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import type { ClockDependencies } from './clock.ts'
import { routes } from './routes.ts'

export const clock = (dependencies: ClockDependencies): Module => ({
  name: 'sandbox/clock',
  about: 'the clock of sandbox teams, which can be moved forward',
  tag: 'simulator',
  tables: { others: ['clock_move'] },
  operations: routes(dependencies),
  erasers: { team: eraseTables('clock_move') },
})
