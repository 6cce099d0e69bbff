// What sources say of summaries and no summary shows: columns of queries alone. Source: users-wearables.md 15.3.
import type { Tx } from '../../platform/db/transaction.ts'
import { sql } from '../../platform/db/sql.ts'
import type { SummaryKind } from './schema.ts'

/** By the name of the column; what is absent stays as it was. */
export type QueryValues = Record<string, number | string>

/**
 * Stores what only queries show of summaries that are stored. Writes summary.
 * @returns of how many it was new or different
 */
export async function writeQueryValues(
  tx: Tx,
  user_id: string,
  kind: SummaryKind,
  provider: string,
  records: { key: string; query_values?: QueryValues }[],
): Promise<number> {
  const given = new Map(records.flatMap(({ key, query_values }) => (query_values ? [[key, query_values]] : [])))
  if (!given.size) return 0
  const json = JSON.stringify([...given].map(([key, values]) => ({ key, values })))
  return tx.run(sql`
    update summary s set query_values = coalesce(s.query_values, '{}') || g.values
    from jsonb_to_recordset(${json}::jsonb) as g (key text, values jsonb)
    where s.team_id = ${tx.team} and s.user_id = ${user_id} and s.kind = ${kind} and s.provider = ${provider} and s.key = g.key
      and coalesce(s.query_values, '{}') || g.values <> coalesce(s.query_values, '{}')`)
}
