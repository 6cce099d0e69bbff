// The scheduler for the sites of a team.
import type { Tenant } from '../../../platform/db/transaction.ts'
import { operatorScheduler } from './operator.ts'
import { parityScheduler, sandboxScheduler } from './sandbox.ts'
import type { Scheduler } from './scheduler.ts'

/** Production and sandbox differ here, as they do in their links to laboratories. */
export function selectScheduler({ cell, settings }: Tenant): Scheduler {
  if (!cell.startsWith('sandbox')) return operatorScheduler
  return settings.sandbox_parity === true ? parityScheduler : sandboxScheduler
}
