// What needs the attention of a team's people, as counts. Each statement reads few rows of an index and stops at 1,000.
import { countOpenReviews } from '../../lab/result-matching/reviews.ts'
import { countStaffWork } from '../../lab/fulfillment/work-list.ts'
import { notDeleted } from '../../people/users/users.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import { attentionKinds, COUNTED_MAX, type Attention, type AttentionKind } from './schema.ts'

type Count = (tx: Tx, max: number) => Promise<number>

const Counted = T.Object({ n: T.Integer() })

/** Counts the rows of `from …`, up to a number. */
const countRows =
  (rowsOf: (tx: Tx) => Sql): Count =>
  async (tx, max) => {
    const { n } = await tx.one(Counted, sql`select count(*) as n from (select ${rowsOf(tx)} limit ${max}) counted`)
    return n
  }

const counts: Record<AttentionKind, Count> = {
  endpoints_failing: countRows(
    (tx) => sql`
    from destination x left join webhook w on w.id = x.id and w.team_id = x.team_id
    where x.team_id = ${tx.team} and w.disabled is not true
      and (x.unreadable_since is not null or x.paused_until > ${dbNow} or coalesce(x.failing_since, x.first_failure_at) is not null)`,
  ),
  endpoints_disabled: countRows(
    (tx) => sql`
    from webhook w join destination x on x.id = w.id and x.team_id = w.team_id
    where w.team_id = ${tx.team} and w.disabled and x.failing_since is not null`,
  ),
  deliveries_failed: countRows(
    (tx) => sql`from delivery where team_id = ${tx.team} and state = 'failed' and state in ('failed', 'stopped')`,
  ),
  jobs_failed: countRows((tx) => sql`from job where team_id = ${tx.team} and failed_at is not null`),
  results_to_review: countOpenReviews,
  lab_reports_to_review: countRows(
    (tx) =>
      sql`from parsing_job j where j.team_id = ${tx.team} and j.status = 'pending_review' and ${notDeleted(tx, sql`j.user_id`)}`,
  ),
  orders_waiting_for_staff: countStaffWork,
  connections_failing: countRows(
    (tx) => sql`from connection c where c.team_id = ${tx.team} and c.status = 'error' and ${notDeleted(tx, sql`c.user_id`)}`,
  ),
  messages_failed: countRows((tx) => sql`from patient_message p where p.team_id = ${tx.team} and p.state = 'failed'`),
}

/** The number of things that need attention, by kind; each is counted up to 1,000. */
export async function countAttention(tx: Tx): Promise<Attention> {
  const data: Attention['data'] = []
  // One after the other: a request holds one connection at a time.
  for (const kind of attentionKinds) {
    const count = await counts[kind](tx, COUNTED_MAX)
    data.push({ kind, count, is_exact: count < COUNTED_MAX })
  }
  return { data }
}
