// Recovery and replay of missed or failed messages: a job reads the team's events, one page per transaction. Source: events.md
// 6.7.
import { iso, addSeconds, minUuidAt } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { invalidField } from '../../platform/http/errors.ts'
import { enqueue, defineHandler, defineJob, eventBody } from '../../platform/queue/outbox.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { resendDeliveries, RETENTION_S } from '../delivery/delivery-rows.ts'
import { getEnabledEndpoint, getEndpoint } from '../endpoints/endpoints.ts'
import type { Recover, ReplayStarted } from '../endpoints/schema.ts'
import { COUNTED_DELIVERIES_MAX, type EndpointEventCounts, type EndpointEventQuery } from './event-schema.ts'

const PAGE = 500
/** Ids are created shortly before the commit, by clocks that differ a little. */
const CLOCK_SKEW_S = 60

type Which = Static<typeof ReplayStarted>['which']

const replayEvents = defineJob(
  'webhooks.replay',
  T.Object({ webhook_id: T.String(), since: T.String(), until: T.String(), which: T.String(), after: T.String() }),
)

/**
 * Sends again, in the background, the events from `since` to `until`. Queues webhooks.replay.
 * Covers at most the last 30 days: the delivery log goes back no further. Events whose body is gone are not sent.
 * 400: the endpoint is disabled. 404: no such endpoint. 422: the bounds are reversed.
 */
export async function startReplay(
  tx: Tx,
  webhook_id: string,
  body: Static<typeof Recover>,
  selection: Which,
): Promise<Static<typeof ReplayStarted>> {
  await getEnabledEndpoint(tx, webhook_id)
  const { after, ...span } = replaySpan(tx, body, 'body')
  const given = { ...span, which: selection }
  enqueue(tx, replayEvents, { webhook_id, ...given, after })
  return given
}

/** The times that a replay covers, and the id after which its events are. */
function replaySpan(tx: Tx, { since: sinceText, until: untilText }: EndpointEventQuery, part: 'body' | 'query') {
  const until = untilText === undefined ? tx.now : new Date(untilText)
  const kept = addSeconds(tx.now, -RETENTION_S)
  const since = sinceText === undefined ? kept : new Date(sinceText)
  if (until < since) throw invalidField([part, 'until'], 'must not be before since')
  const from = since < kept ? kept : since
  // The id of an event was created by the system clock, and the team's clock is never behind it.
  const after = minUuidAt(addSeconds(from, -tx.tenant.clock_offset_s - CLOCK_SKEW_S))
  return { since: iso(from), until: iso(until), after }
}

const EventRow = T.Object({ id: T.String(), state: Nullable(T.String()), is_whole: T.Boolean() })

const matches = (selection: string, state: string | null): boolean => {
  if (state === null) return selection !== 'failed'
  if (state === 'failed' || state === 'stopped') return selection !== 'missing'
  return selection === 'all' && state === 'delivered'
}

export const replayHandler = defineHandler(replayEvents, (context, payload) => context.tx((tx) => replayPage(tx, payload)))

/** One page, and a job for the next. Writes delivery. */
async function replayPage(tx: Tx, payload: Static<typeof replayEvents.payload>): Promise<void> {
  const { webhook_id, since, until, which, after } = payload
  // The endpoint is neither deleted nor disabled before the commit.
  await tx.locking.run(sql`select id from webhook where id = ${webhook_id} and team_id = ${tx.team} for share`)
  const events = await tx.many(EventRow, selectEvents(tx, { webhook_id, since, until, after }, sql`not w.disabled`, PAGE))
  const replayed = events.filter(({ state }) => matches(which, state))
  await resendDeliveries(
    tx,
    webhook_id,
    replayed.map(({ id }) => id),
  )
  const last = events.at(-1)
  if (last && events.length === PAGE) enqueue(tx, replayEvents, { ...payload, after: last.id })
}

/** The events of a span that an endpoint takes, with the state of their delivery to it and whether they have a body, oldest first. */
const selectEvents = (
  tx: Tx,
  { webhook_id, since, until, after }: Omit<Static<typeof replayEvents.payload>, 'which'>,
  condition: Sql,
  limit: number,
): Sql => sql`
  select e.id, d.state, ${eventBody(tx.team)} is not null as is_whole
  from webhook w
  join event e on e.team_id = w.team_id and (w.filter_types is null or e.type = any (w.filter_types))
  left join delivery d on d.destination_id = w.id and d.message_id = e.id and d.team_id = ${tx.team}
  where w.id = ${webhook_id} and w.team_id = ${tx.team} and ${condition}
    and e.team_id = ${tx.team} and e.id > ${after} and not e.historical and not starts_with(e.type, 'raw.') and e.created_at >= ${since} and e.created_at <= ${until}
  order by e.id limit ${limit}`

const StateCount = T.Object({ state: Nullable(T.String()), is_whole: T.Boolean(), n: T.Integer() })

/**
 * How many events of a span an endpoint has got, and how many it has not: what a replay of the span would send, and afterwards what came of
 * it. Covers at most the last 30 days. 404: no such endpoint. 422: the bounds are reversed.
 */
export async function countEndpointEvents(tx: Tx, webhook_id: string, query: EndpointEventQuery): Promise<EndpointEventCounts> {
  await getEndpoint(tx, webhook_id)
  const { after, since, until } = replaySpan(tx, query, 'query')
  const events = selectEvents(tx, { webhook_id, since, until, after }, sql`true`, COUNTED_DELIVERIES_MAX + 1)
  const rows = await tx.many(StateCount, sql`select state, is_whole, count(*) as n from (${events}) found group by 1, 2`)
  const countOf = (state: string | null): number =>
    rows.reduce((sum, row) => (row.state === state && (row.is_whole || state !== null) ? sum + row.n : sum), 0)
  return {
    since,
    until,
    pending: countOf('pending'),
    delivered: countOf('delivered'),
    failed: countOf('failed'),
    stopped: countOf('stopped'),
    missing: countOf(null),
    without_body: rows.reduce((sum, { is_whole, n }) => (is_whole ? sum : sum + n), 0),
    is_complete: rows.reduce((sum, { n }) => sum + n, 0) <= COUNTED_DELIVERIES_MAX,
  }
}
