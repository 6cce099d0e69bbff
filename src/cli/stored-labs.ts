// Orders and results that earlier releases have stored with a fictional laboratory, in production: commands that set identities correct them.
import type { Tx } from '../platform/db/transaction.ts'
import type { Call } from './command-tree.ts'
import type { Place } from './command-input.ts'
import { identifiedLabs } from '../lab/catalog/labs.ts'
import { correctLabOfOrders, type CorrectedBatch } from '../lab/orders/corrected-labs.ts'
import { correctLabOfResults } from '../lab/results/corrected-labs.ts'
import { leaveCommand } from '../platform/access-log/access-line.ts'
import { appendLines } from '../platform/access-log/access-log.ts'
import { loadTenant, teamIdsOfCell } from '../tenancy/teams/teams.ts'

const NIL_ID = '00000000-0000-0000-0000-000000000000'

/**
 * Corrects the orders and results of every team of a production cell that name a fictional laboratory, where its identity is set now: a
 * batch in each transaction, with a line in the access log. Writes lab_order, lab_result.
 * @param operation for the access log
 * @returns what is printed; nothing if there were none
 */
export async function correctStoredLabs(
  { cells, actor }: Pick<Call, 'cells' | 'actor'>,
  { name, db }: Place,
  operation: string,
): Promise<string> {
  const { shown, printed } = await identifiedLabs(db.queries)
  const [orders, results] = [new Set<string>(), new Set<string>()]
  for (const team of await teamIdsOfCell(db.queries)) {
    const tenant = await loadTenant(cells, name, team)
    if (!tenant) continue
    const inBatches = async (corrected: Set<string>, step: (tx: Tx, after: string) => Promise<CorrectedBatch>) => {
      for (let after: string | undefined = NIL_ID; after !== undefined;) {
        const from: string = after
        const batch = await db.tx(tenant, async (tx) => {
          const done = await step(tx, from)
          if (done.corrected.length) leaveCommand(tx, { actor, operation }, { team, org: tenant.org, objects: done.corrected })
          return done
        })
        for (const id of batch.corrected) corrected.add(id)
        after = batch.next
      }
    }
    await inBatches(orders, (tx, after) => correctLabOfOrders(tx, shown, after))
    await inBatches(results, (tx, after) => correctLabOfResults(tx, printed, after))
  }
  if (orders.size + results.size === 0) return ''
  await appendLines(db)
  return `${orders.size} orders and ${results.size} results named a fictional laboratory; corrected.\n`
}
