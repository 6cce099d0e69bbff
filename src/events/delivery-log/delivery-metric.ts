// Delivery outcomes of a team over time, in the format of Prometheus ranges. Source: management-auth.md 17.
import { addSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { systemTimestamp } from './messages.ts'
import type { Metric } from '../endpoints/schema.ts'
import { DAY_S } from '../../platform/runtime/durations.ts'

const HOUR_S = 3600
/** Interval → its length and how far back the response goes. */
const intervals = {
  '5m': { step_s: 300, window_s: DAY_S },
  '15m': { step_s: 900, window_s: 3 * DAY_S },
  '1h': { step_s: HOUR_S, window_s: 7 * DAY_S },
  '1d': { step_s: DAY_S, window_s: 30 * DAY_S },
}
export type Interval = keyof typeof intervals

const Bucket = T.Object({ at_s: T.Integer(), succeeded: T.Boolean(), n: T.Integer() })

/** Attempts at webhook endpoints per interval and outcome; intervals without one are 0, an outcome that never occurred is omitted. */
export async function deliveryMetric(tx: Tx, interval: Interval): Promise<Static<typeof Metric>> {
  const { step_s, window_s } = intervals[interval]
  const now = systemTimestamp(tx)
  const end_s = Math.floor(now.getTime() / 1000 / step_s) * step_s
  const start_s = end_s - window_s + step_s
  const buckets = await tx.many(
    Bucket,
    sql`
    select floor(extract(epoch from bucket_start) / ${step_s}::int)::bigint * ${step_s}::int as at_s, succeeded, sum(attempts)::bigint as n
    from delivery_attempt_count where team_id = ${tx.team} and bucket_start >= ${addSeconds(new Date(0), start_s)} and starts_with(destination_id, 'ep_')
    group by 1, 2`,
  )
  const result = [true, false].flatMap((isSuccess) => {
    const counts = new Map(buckets.filter((bucket) => bucket.succeeded === isSuccess).map(({ at_s, n }) => [at_s, n]))
    if (counts.size === 0) return []
    const values: [number, string][] = []
    for (let at_s = start_s; at_s <= end_s; at_s += step_s) values.push([at_s, String(counts.get(at_s) ?? 0)])
    return [{ metric: { destination: 'webhook', outcome: isSuccess ? 'success' : 'failure' }, values }]
  })
  return { status: 'success', data: { resultType: 'matrix', result } }
}
