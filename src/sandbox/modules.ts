// The modules of the sandbox, from the bottom up.
import type { RecentRequests } from './request-log/recent-requests.ts'
import type { Module } from '../platform/module/module.ts'
import type { ClockDependencies } from './clock/team-clock.ts'
import { eraseTables } from '../platform/db/erasure.ts'
import { clockRoutes } from './clock/routes.ts'
import { demoData } from './demo-data/module.ts'
import { faultsRoutes } from './faults/routes.ts'
import type { FaultDependencies } from './faults/routes.ts'
import { requestLogRoutes } from './request-log/routes.ts'
import { simulator } from './simulator/module.ts'
import type { AppointmentStart } from './simulator/simulate.ts'
import { unmatchedResults } from './unmatched-results/module.ts'

/** What the modules need of the process, and of visits. */
export interface SandboxDependencies extends ClockDependencies, FaultDependencies {
  appointmentStart: AppointmentStart
  requests: RecentRequests
}

export const sandbox = (dependencies: SandboxDependencies): Module[] => [
  {
    name: 'sandbox/clock',
    about: 'clock of sandbox teams',
    tag: 'simulator',
    tables: { others: ['clock_move'] },
    operations: clockRoutes(dependencies),
    erasers: { team: eraseTables('clock_move') },
  },
  {
    name: 'sandbox/faults',
    about: 'requested faults, to test clients',
    tag: 'simulator',
    tables: { others: ['sandbox_fault'] },
    operations: faultsRoutes(dependencies),
    erasers: { team: eraseTables('sandbox_fault') },
  },
  {
    name: 'sandbox/request-log',
    about: 'newest requests of sandbox teams',
    tag: 'simulator',
    operations: requestLogRoutes(dependencies.requests),
  },
  simulator(dependencies),
  unmatchedResults,
  {
    name: 'sandbox/lab-peer',
    about: 'simulated laboratory that exchanges messages in HL7',
  },
  demoData,
]
