import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { routes, type FaultDependencies } from './routes.ts'

export const faults = (dependencies: FaultDependencies): Module => ({
  name: 'sandbox/faults',
  about: 'faults of requests and deliveries that a team asks for, to test its clients',
  tag: 'simulator',
  tables: { others: ['sandbox_fault'] },
  operations: routes(dependencies),
  erasers: { team: eraseTables('sandbox_fault') },
})
