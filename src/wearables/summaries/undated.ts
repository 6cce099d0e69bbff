// Records of the body whose provider knows no time for them, such as the weight in an account. Each belongs to the day on which it was first seen.
import type { User } from '../../people/users/schema.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { localDate } from '../resources/zones.ts'
import type { SummaryKind } from './schema.ts'
import type { IncomingSummary } from './summaries.ts'

const KEY = 'seen '
const Seen = T.Object({ day: T.String(), is_same: T.Boolean() })

/**
 * The records with a day each. One without a day that says what the newest one of this provider said is that one; else it is of today. Other kinds, and records
 * that have a day, are as they were.
 */
export async function withDays<R extends IncomingSummary>(
  tx: Tx,
  { user_id, fallback_time_zone }: User,
  kind: SummaryKind,
  provider: string,
  records: R[],
): Promise<R[]> {
  if (kind !== 'body' || records.every(({ calendar_date }) => calendar_date !== null)) return records
  const dated: R[] = []
  for (const record of records) {
    if (record.calendar_date !== null) {
      dated.push(record)
      continue
    }
    const newest = await tx.maybe(
      Seen,
      sql`
      select calendar_date::text as day, document @> ${JSON.stringify(record.document)}::jsonb as is_same from summary
      where team_id = ${tx.team} and user_id = ${user_id} and kind = ${kind} and provider = ${provider} and starts_with(key, ${KEY})
      order by calendar_date desc limit 1`,
    )
    const day = newest?.is_same ? newest.day : localDate(fallback_time_zone?.id ?? null, tx.now.getTime())
    const document = { date: `${day}T00:00:00+00:00`, calendar_date: day, ...record.document }
    dated.push({ ...record, key: KEY + day, calendar_date: day, document })
  }
  return dated
}
