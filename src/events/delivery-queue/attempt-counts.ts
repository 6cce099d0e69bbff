// How many attempts succeeded and failed in each five minutes, for the metric of endpoints. Owns `delivery_attempt_count`.
import { sql, type Sql, arrayLiteral } from '../../platform/db/sql.ts'

/** Every interval of the metric is a multiple. */
const STEP_S = 300

/**
 * A statement that counts attempts per five minutes, for the metric: an index of all attempts would cost more than writing them. In the
 * order of the key, so that two statements do not deadlock. Writes delivery_attempt_count.
 */
export function countAttempts(attempts: { item: { team_id: string }; at: Date; succeeded: boolean }[]): Sql {
  const counts = new Map<string, number>()
  for (const { item, at, succeeded } of attempts) {
    const key = `${item.team_id} ${Math.floor(at.getTime() / 1000 / STEP_S) * STEP_S} ${succeeded}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const keys = [...counts.keys()].sort()
  const columnOf = (i: number) => arrayLiteral(keys.map((key) => key.split(' ')[i]!))
  return sql`
    insert into delivery_attempt_count (team_id, bucket_start, succeeded, attempts)
    select given.team_id, to_timestamp(given.at_s), given.succeeded, given.n
    from unnest(${columnOf(0)}::uuid[], ${columnOf(1)}::bigint[], ${columnOf(2)}::bool[], ${arrayLiteral(keys.map((key) => counts.get(key)!))}::bigint[])
         with ordinality as given (team_id, at_s, succeeded, n, nth)
    join team t on t.id = given.team_id order by given.nth
    on conflict (team_id, bucket_start, succeeded) do update set attempts = delivery_attempt_count.attempts + excluded.attempts`
}
