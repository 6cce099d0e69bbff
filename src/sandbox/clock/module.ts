import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import type { ClockNeeds } from './clock.ts'
import { routes } from './routes.ts'

export const clock = (needs: ClockNeeds): Module => ({
  name: 'sandbox/clock',
  tag: 'simulator',
  tables: { others: ['clock_move'] },
  operations: routes(needs),
  erasers: { team: eraseTables('clock_move') },
})
