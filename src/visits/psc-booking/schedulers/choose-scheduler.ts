// Which scheduler offers times at the sites that a team sees.
import type { Tenant } from '../../../platform/db/transaction.ts'
import { operatorScheduler } from './operator.ts'
import { sandboxScheduler } from './sandbox.ts'
import type { Scheduler } from './scheduler.ts'

/** Production and sandbox differ here, as they do in their links to laboratories. */
export const selectScheduler = (tenant: Tenant): Scheduler =>
  tenant.cell.startsWith('sandbox') ? sandboxScheduler : operatorScheduler
