// What rules of retention would delete, counted before they are set.
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { ExpiredData } from '../resources/expiry.ts'
import { countExpiredStreams } from '../streams/workout-streams.ts'
import { countExpiredSummaries } from '../summaries/summaries.ts'
import { countExpiredSamples } from '../timeseries/chunks.ts'
import { createExpiry, FIRST, listUsersWithData } from './expired-data.ts'
import type { ProviderLimits } from './retention-rules.ts'
import { COUNTED_MAX, PREVIEWED_USERS_MAX, type RetentionPreview, type Rules } from './schema.ts'

/**
 * Counts the summaries, the streams and the hours of samples that rules and the operator's limits would delete now: of the first 1,000 users
 * with data, and up to 100,000 of each of the three. Deletes nothing.
 */
export async function previewRetention(tx: Tx, { rules }: Rules, limits: ProviderLimits): Promise<RetentionPreview> {
  const users = await listUsersWithData(tx, FIRST, PREVIEWED_USERS_MAX + 1)
  const user_ids = users.slice(0, PREVIEWED_USERS_MAX)
  const newRules = sql`
    (select * from unnest(${rules.map(({ resource }) => resource)}::text[], ${rules.map(({ days }) => days)}::integer[]) as g (resource, days))`
  const expiry = createExpiry(tx, { rules: newRules, limits, user_ids, rows_max: COUNTED_MAX })
  // One after the other: a request holds one connection at a time.
  const counts: ExpiredData[][] = []
  for (const count of [countExpiredSummaries, countExpiredStreams, countExpiredSamples]) counts.push(await count(tx, expiry))
  const isWhole = counts.every((ofKind) => ofKind.reduce((sum, { rows }) => sum + rows, 0) < COUNTED_MAX)
  return {
    data: counts.flat().map(({ resource, rows, from_ms, to_ms }) => ({
      resource,
      count: rows,
      first_day: dayOf(from_ms),
      last_day: dayOf(to_ms),
    })),
    users: user_ids.length,
    is_complete: isWhole && users.length <= PREVIEWED_USERS_MAX,
  }
}

const dayOf = (instant_ms: number): string => new Date(instant_ms).toISOString().slice(0, 10)
