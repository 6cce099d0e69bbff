// What results in mode `shadow` show of a link: order by order, how the laboratory's results differ from those that staff entered.
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { sql } from '../../platform/db/sql.ts'
import { Nullable, T, Timestamp, type Static } from '../../platform/schema/schema.ts'
import { expectedResults } from '../catalog/lab-tests.ts'
import type { DiagnosticReport } from '../links/diagnostic-report.ts'
import { notDeleted } from '../../people/users/users.ts'
import { expectations } from '../results/expected-results.ts'
import { identifyAnalytes } from '../results/identify-analytes.ts'
import { mergeReports } from '../results/merge-reports.ts'
import { compareResults } from './compare-results.ts'
import type { ShadowComparison, ShadowOrder } from './schema.ts'

/** Maximum number of orders, and of messages without an order, that are compared. */
const LISTED_MAX = 200

const MatchedRow = T.Object({
  order_id: T.String(),
  user_id: T.String(),
  lab_test_id: T.String(),
  message_ids: T.Array(T.String()),
  reports: T.Array(T.String()),
  staff_report: Nullable(T.String()),
})
const UnmatchedRow = T.Object({ message_id: T.String(), mismatch: T.String(), created_at: Timestamp })

/**
 * The results of a team that came over the link of an account in mode `shadow`, compared with those in the orders: of the 200 orders with the
 * newest messages, and the 200 newest messages without an order. Errors: 404 the account has no link.
 */
export async function compareShadowResults(tx: Tx, account_id: string): Promise<ShadowComparison> {
  const link = await tx.maybe(T.Object({ mode: T.String() }), sql`select mode from lab_link where account_id = ${account_id}`)
  if (!link) throw notFound('The lab account has no link')
  const matched = await tx.many(
    MatchedRow,
    sql`
    select s.order_id, o.user_id, o.lab_test_id, array_agg(s.message_id::text order by s.created_at, s.id) as message_ids,
           array_agg(s.report order by s.created_at, s.id) as reports,
           (select r.report from lab_result r where r.order_id = s.order_id and r.team_id = ${tx.team}) as staff_report
    from lab_shadow_result s join lab_order o on o.id = s.order_id and o.team_id = ${tx.team}
    where s.link_account_id = ${account_id} and s.team_id = ${tx.team} and ${notDeleted(tx, sql`o.user_id`)}
    group by s.order_id, o.user_id, o.lab_test_id order by max(s.created_at) desc, s.order_id limit ${LISTED_MAX}`,
  )
  const unmatched = await tx.many(
    UnmatchedRow,
    sql`
    select s.message_id, s.mismatch, s.created_at from lab_shadow_result s
    where s.link_account_id = ${account_id} and s.team_id = ${tx.team} and s.order_id is null order by s.created_at desc, s.id limit ${LISTED_MAX}`,
  )
  const orders: ShadowOrder[] = []
  for (const row of matched) orders.push(await compareOrder(tx, row))
  return { ...countOrders(orders), orders, unmatched }
}

async function compareOrder(
  tx: Tx,
  { order_id, user_id, lab_test_id, message_ids, reports, staff_report }: Static<typeof MatchedRow>,
): Promise<ShadowOrder> {
  const place = { order_id, user_id, message_ids }
  if (staff_report === null) return { ...place, outcome: 'not_entered', compared_results: 0, differences: [], same_results: [] }
  const expected = expectations(await expectedResults(tx, lab_test_id))
  const identified = reports.map((text) => identifyAnalytes(JSON.parse(text) as DiagnosticReport, expected))
  const laboratory = identified.reduce(
    (earlier: DiagnosticReport | undefined, report) => mergeReports(earlier, report),
    undefined,
  )!
  const comparison = compareResults(laboratory, JSON.parse(staff_report) as DiagnosticReport)
  return { ...place, outcome: comparison.differences.length ? 'different' : 'same', ...comparison }
}

function countOrders(orders: ShadowOrder[]): Pick<ShadowComparison, 'totals'> {
  const count = (outcome: ShadowOrder['outcome']) => orders.filter((order) => order.outcome === outcome).length
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
  return {
    totals: {
      same: count('same'),
      different: count('different'),
      not_entered: count('not_entered'),
      compared_results: sum(orders.map(({ compared_results }) => compared_results)),
      different_results: sum(orders.map(({ differences }) => differences.length)),
    },
  }
}
