// What fails at the destinations of a team, grouped by cause, and the health of each destination.
import type { Tx } from '../../platform/db/transaction.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import { addSeconds, minUuidAt, wireTime } from '../../platform/runtime/clock.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { messageId } from '../catalog/message-id.ts'
import type { NotDeleted } from '../feed/list-events.ts'
import {
  COUNTED_DELIVERIES_MAX,
  GROUPED_ATTEMPTS_MAX,
  DeliveryFailure,
  EndpointHealth,
  type AttemptCounts,
  type DeliveryFailures,
  type HoursQuery,
} from './event-schema.ts'
import { systemTimestamp } from './messages.ts'

const HOUR_S = 3600
const GROUPS_MAX = 200

const Cut = T.Object({ is_cut: T.Boolean() })

/**
 * The failed attempts of the last hours, grouped by destination, status and error: the newest 10,000 of them, without those of events about
 * deleted users.
 */
export async function groupFailures(
  tx: Tx,
  notDeleted: NotDeleted,
  { hours = 24 }: HoursQuery,
): Promise<Static<typeof DeliveryFailures>> {
  const since = minUuidAt(addSeconds(systemTimestamp(tx), -hours * HOUR_S))
  const { is_cut } = await tx.one(
    Cut,
    sql`
    select exists (
      select from delivery_attempt where team_id = ${tx.team} and id >= ${since}::uuid
      order by id desc offset ${GROUPED_ATTEMPTS_MAX} limit 1) as is_cut`,
  )
  const groups = await tx.many(
    DeliveryFailure,
    sql`
    with attempt as materialized (
      select id, destination_id, message_id, at, response_status, error, succeeded from delivery_attempt
      where team_id = ${tx.team} and id >= ${since}::uuid order by id desc limit ${GROUPED_ATTEMPTS_MAX})
    select destination_id, response_status, error, count(*) as attempts, count(distinct message_id) as messages,
           date_trunc('second', min(at)) as first_at, date_trunc('second', max(at)) as last_at,
           (array_agg(message_id order by a.id desc))[1] as last_message_id
    from attempt a left join event e on e.team_id = ${tx.team} and e.id = a.message_id
    where not succeeded and ${notDeleted(tx, sql`e.user_id`)} group by destination_id, response_status, error
    order by attempts desc, last_at desc limit ${GROUPS_MAX}`,
  )
  const data = groups.map((group) => ({ ...group, last_message_id: messageId(group.last_message_id) }))
  return { data, is_complete: !is_cut }
}

/** The state of a destination `x` and, of an endpoint, its webhook `w`. */
const healthState = sql`
  case when w.disabled then 'disabled' when x.unreadable_since is not null then 'unreadable' when x.paused_until > ${dbNow} then 'paused'
       when x.failing_since is not null or x.first_failure_at is not null then 'failing' else 'ok' end`

/** The health of each destination of the team, with the number of its waiting deliveries. */
export async function listEndpointHealth(tx: Tx): Promise<{ data: EndpointHealth[] }> {
  const data = await tx.many(
    EndpointHealth,
    sql`
    select x.id as destination_id, x.kind, ${healthState} as state,
           date_trunc('second', coalesce(x.failing_since, x.first_failure_at)) as failing_since,
           case when x.paused_until > ${dbNow} then date_trunc('second', x.paused_until) end as paused_until, c.*
    from destination x left join webhook w on w.id = x.id and w.team_id = x.team_id
    cross join lateral (
      select count(*) as pending, date_trunc('second', min(created_at)) as oldest_pending_at, count(*) filter (where attempts > 0) as retrying
      from (
        select created_at, attempts from delivery where destination_id = x.id and team_id = ${tx.team} and due_at is not null
        order by due_at limit ${COUNTED_DELIVERIES_MAX}) waiting) c
    where x.team_id = ${tx.team} order by x.kind, x.id`,
  )
  return { data }
}

const STEPS_S = [300, 900, HOUR_S, 6 * HOUR_S]
const INTERVALS_MAX = 60

const CountRow = T.Object({ destination_id: T.String(), at_s: T.Integer(), succeeded: T.Boolean(), n: T.Integer() })

/** The attempts at each destination of the team over the last hours, by outcome, in at most 121 intervals. */
export async function countDestinationAttempts(tx: Tx, { hours = 24 }: HoursQuery): Promise<AttemptCounts> {
  const span_s = hours * HOUR_S
  const step_s = STEPS_S.find((step) => span_s / step <= INTERVALS_MAX) ?? STEPS_S.at(-1)!
  const end_s = Math.floor(systemTimestamp(tx).getTime() / 1000 / step_s) * step_s
  const start_s = end_s - Math.ceil(span_s / step_s) * step_s
  const rows = await tx.many(
    CountRow,
    sql`
    select destination_id, floor(extract(epoch from bucket_start) / ${step_s}::int)::bigint * ${step_s}::int as at_s, succeeded,
           sum(attempts)::bigint as n
    from delivery_attempt_count where team_id = ${tx.team} and bucket_start >= ${addSeconds(new Date(0), start_s)}
    group by 1, 2, 3`,
  )
  const starts = Array.from({ length: (end_s - start_s) / step_s + 1 }, (_, i) => start_s + i * step_s)
  const data = [...new Set(rows.map(({ destination_id }) => destination_id))].toSorted().map((destination_id) => {
    const own = rows.filter((row) => row.destination_id === destination_id)
    const countsOf = (isSuccess: boolean) => {
      const counts = new Map(own.filter(({ succeeded }) => succeeded === isSuccess).map(({ at_s, n }) => [at_s, n]))
      return starts.map((at_s) => counts.get(at_s) ?? 0)
    }
    return { destination_id, delivered: countsOf(true), failed: countsOf(false) }
  })
  return { step_s, starts: starts.map((at_s) => wireTime(at_s * 1000)), data }
}
