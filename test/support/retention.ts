// Runs the deletion of expired health data, as the periodic task does.
import { expiredDataCleanup } from '../../src/wearables/retention/expired-data.ts'
import { cells, provider_retention } from './server.ts'

/** Deletes what has expired of every team. Other tests have teams with rules as well. */
export async function deleteExpiredData(): Promise<void> {
  const cleanup = expiredDataCleanup({ cells, provider_retention })
  const db = cells.db('sandbox-us')
  while ((await cleanup.overdueFor(db, cells.control)) !== undefined) await cleanup.remove(db, cells.control, () => false)
}
