// What fails at the destinations of a team, grouped by cause, and the health of each destination.
import type { Tx } from '../../platform/db/transaction.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import { addSeconds, minUuidAt } from '../../platform/runtime/clock.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { messageId } from '../catalog/message-id.ts'
import {
  COUNTED_DELIVERIES_MAX,
  GROUPED_ATTEMPTS_MAX,
  type DeliveryFailures,
  type EndpointHealth,
  type FailureQuery,
} from './event-schema.ts'
import { systemTimestamp } from './messages.ts'

const HOUR_S = 3600
const GROUPS_MAX = 200

const Group = T.Object({
  destination_id: T.String(),
  response_status: Nullable(T.Integer()),
  error: Nullable(T.String()),
  attempts: T.Integer(),
  messages: T.Integer(),
  first_at: T.String(),
  last_at: T.String(),
  last_message_id: T.String(),
})

const Cut = T.Object({ is_cut: T.Boolean() })

/** The failed attempts of the last hours, grouped by destination, status and error: the newest 10,000 of them. */
export async function groupFailures(tx: Tx, { hours = 24 }: FailureQuery): Promise<Static<typeof DeliveryFailures>> {
  const since = minUuidAt(addSeconds(systemTimestamp(tx), -hours * HOUR_S))
  const { is_cut } = await tx.one(
    Cut,
    sql`
    select exists (
      select from delivery_attempt where team_id = ${tx.team} and id >= ${since}::uuid
      order by id desc offset ${GROUPED_ATTEMPTS_MAX} limit 1) as is_cut`,
  )
  const groups = await tx.many(
    Group,
    sql`
    with attempt as materialized (
      select id, destination_id, message_id, at, response_status, error, succeeded from delivery_attempt
      where team_id = ${tx.team} and id >= ${since}::uuid order by id desc limit ${GROUPED_ATTEMPTS_MAX})
    select destination_id, response_status, error, count(*) as attempts, count(distinct message_id) as messages,
           date_trunc('second', min(at)) as first_at, date_trunc('second', max(at)) as last_at,
           (array_agg(message_id order by id desc))[1] as last_message_id
    from attempt where not succeeded group by destination_id, response_status, error
    order by attempts desc, last_at desc limit ${GROUPS_MAX}`,
  )
  const data = groups.map((group) => ({ ...group, last_message_id: messageId(group.last_message_id) }))
  return { data, is_complete: !is_cut }
}

const HealthRow = T.Object({
  destination_id: T.String(),
  kind: T.String(),
  state: T.String(),
  failing_since: Nullable(T.String()),
  paused_until: Nullable(T.String()),
  pending: T.Integer(),
  oldest_pending_at: Nullable(T.String()),
  retrying: T.Integer(),
})

/** The state of a destination `x` and, of an endpoint, its webhook `w`. */
const healthState = sql`
  case when w.disabled then 'disabled' when x.unreadable_since is not null then 'unreadable' when x.paused_until > ${dbNow} then 'paused'
       when x.failing_since is not null or x.first_failure_at is not null then 'failing' else 'ok' end`

/** The health of each destination of the team, with the number of its waiting deliveries. */
export async function listEndpointHealth(tx: Tx): Promise<{ data: EndpointHealth[] }> {
  const data = await tx.many(
    HealthRow,
    sql`
    select x.id as destination_id, x.kind, ${healthState} as state,
           date_trunc('second', coalesce(x.failing_since, x.first_failure_at)) as failing_since,
           case when x.paused_until > ${dbNow} then date_trunc('second', x.paused_until) end as paused_until, c.*
    from destination x left join webhook w on w.id = x.id and w.team_id = x.team_id
    cross join lateral (
      select count(*) as pending, date_trunc('second', min(created_at)) as oldest_pending_at, count(*) filter (where attempts > 0) as retrying
      from (
        select created_at, attempts from delivery where destination_id = x.id and team_id = x.team_id and due_at is not null
        order by due_at limit ${COUNTED_DELIVERIES_MAX}) waiting) c
    where x.team_id = ${tx.team} order by x.kind, x.id`,
  )
  return { data: data as EndpointHealth[] }
}
