// The modules of the sandbox, from the bottom up.
import type { RecentRequests } from './request-log/recent-requests.ts'
import type { Module } from '../platform/module/module.ts'
import type { ClockDependencies } from './clock/clock.ts'
import { clock } from './clock/module.ts'
import { demoData } from './demo-data/module.ts'
import { faults } from './faults/module.ts'
import type { FaultDependencies } from './faults/routes.ts'
import { requestLog } from './request-log/module.ts'
import { simulator } from './simulator/module.ts'
import type { AppointmentStart } from './simulator/simulate.ts'
import { unmatchedResults } from './unmatched-results/module.ts'

/** What the modules need of the process, and of visits. */
export interface SandboxDependencies extends ClockDependencies, FaultDependencies {
  appointmentStart: AppointmentStart
  requests: RecentRequests
}

export const sandbox = (dependencies: SandboxDependencies): Module[] => [
  clock(dependencies),
  faults(dependencies),
  requestLog(dependencies.requests),
  simulator(dependencies),
  unmatchedResults,
  demoData,
]
