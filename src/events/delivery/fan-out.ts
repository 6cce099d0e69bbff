// The birth of a delivery: takes outbox entries, numbers their events in the feed, and inserts a delivery row for each event and each
// destination of its team that wants it, in one transaction. A row for which this process has room, of a destination that it serves or can
// lease, is inserted under its lease and sent at once; the others are due and wait to be claimed.
// Webhook endpoints get neither raw events of providers nor historical ones: H2, H6. Source: events.md 4.11, 5, 6.7, 8.1.
import type { PlainTx } from '../../platform/db/transaction.ts'
import { dbNow, dbNowPlus } from '../../platform/db/leases.ts'
import { eventBody, takeOutboxEntries } from '../../platform/queue/outbox.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql, arrayLiteral } from '../../platform/db/sql.ts'
import { messageId } from '../catalog/message-id.ts'
import { addToFeed, type EventRef, type FindDeletedUsers } from '../feed/feed.ts'
import type { Delivery } from './destination.ts'
import { deliveryKey, insertDeliveries, type NewDelivery } from './delivery-rows.ts'
import { DestinationRow, destinationColumns, destinationTables } from './destination-rows.ts'
import { DESTINATION_LEASE_S, type DeliveryDb, type DestinationLeases } from './leases.ts'
import type { DestinationQueues } from './limits.ts'
import { BatchFaults, type DeliveryFaults } from './sandbox-faults.ts'

/** Number of outbox entries considered at a time. */
const OUTBOX_ENTRIES_MAX = 500
/** Fewer outbox entries are taken if they have many events. */
export const EVENTS_MAX = 2000
/** Fewer are taken from teams with many destinations: while rows are written for one team the others wait. */
const DELIVERIES_MAX = 2000
/** A lease with less than this time left is acquired again. */
const LEASE_REMAINING_S_MIN = 2

export interface FanOutOptions {
  leases: DestinationLeases
  /** What this process can send at once. */
  queues: DestinationQueues
  findDeletedUsers: FindDeletedUsers
  /** The faults of the cell; undefined: none. */
  faults: DeliveryFaults | undefined
  /** The monotonic clock of the process. */
  now_ms: () => number
}

export interface FanOutResult {
  entries: number
  /** Whether there are more outbox entries. */
  hasMore: boolean
  /** The deliveries that this process has leased, in order, and their destinations with the remaining time of their leases. */
  leasedDeliveries: Delivery[]
  destinations: Map<string, DestinationRow & { left_s: number }>
  /** Destination → whether deliveries wait for it. */
  backlogs: Map<string, boolean>
  /** When the destinations were read, by the monotonic clock of the process. */
  asked_ms: number
}

/**
 * Fans out the oldest outbox entries of a cell, alternating between teams. A crash undoes all. Writes feed, delivery, destination.
 * @param events_max the maximum number of events, unless a single outbox entry has more
 */
export async function fanOut(db: DeliveryDb, options: FanOutOptions, events_max: number): Promise<FanOutResult> {
  const nothing: FanOutResult = {
    entries: 0,
    hasMore: false,
    leasedDeliveries: [],
    destinations: new Map(),
    backlogs: new Map(),
    asked_ms: options.now_ms(),
  }
  // By the index: entries that were taken stay in the pages of the table until it is vacuumed.
  const { waiting } = await db.queries.one(
    T.Object({ waiting: T.Boolean() }),
    sql`select (select true from event_outbox order by team_id limit 1) is not null as waiting`,
  )
  if (!waiting) return nothing
  return db.asyncCommitTx(async (tx) => {
    const portion = { entries: OUTBOX_ENTRIES_MAX, events: Math.min(events_max, EVENTS_MAX), deliveries: DELIVERIES_MAX }
    const { entries, isMore } = await takeOutboxEntries(tx, portion, (teams) => countEndpoints(tx, teams))
    const result = { ...nothing, entries: entries.length, hasMore: isMore, asked_ms: options.now_ms() }
    const events = entries.flatMap(({ team_id, event_ids }) => event_ids.map((event_id) => ({ team_id, event_id })))
    if (events.length === 0) return result
    await addToFeed(tx, events)
    return { ...result, ...(await queueDeliveries(tx, options, events, result.asked_ms)) }
  })
}

const Endpoints = T.Object({ team_id: T.String(), n: T.Integer() })

/** The number of endpoints of each team to which an event may go, at least 1. */
async function countEndpoints(tx: PlainTx, teams: string[]): Promise<Map<string, number>> {
  const rows = await tx.many(
    Endpoints,
    sql`select team_id, count(*) as n from webhook where team_id = any (${teams}::uuid[]) and not disabled group by team_id`,
  )
  const counts = new Map(rows.map(({ team_id, n }) => [team_id, n]))
  return new Map(teams.map((team_id) => [team_id, counts.get(team_id) ?? 1]))
}

const Candidate = T.Object({
  ...DestinationRow.properties,
  /** The types that an endpoint gets; null: all. */
  filter_types: Nullable(T.Array(T.String())),
  /** The prefixes of a pipeline. */
  type_prefixes: Nullable(T.Array(T.String())),
  wants_historical: T.Boolean(),
  wants_raw: T.Boolean(),
  /** Whether deliveries may be sent to it now at all. */
  is_open: T.Boolean(),
  /** Whether this process has its lease and will have it for a while, or can acquire it. */
  is_ours: T.Boolean(),
  is_free: T.Boolean(),
  /** The remaining duration of the lease, of this process or another. */
  left_s: T.Number(),
  /** Whether deliveries wait for it. */
  has_backlog: T.Boolean(),
})
type Candidate = Static<typeof Candidate>

const FannedOutEvent = T.Object({
  id: T.String(),
  team_id: T.String(),
  type: T.String(),
  historical: T.Boolean(),
  user_id: Nullable(T.String()),
  object_id: T.String(),
  created_at: T.String(),
  body: Nullable(T.String()),
})
type FannedOutEvent = Static<typeof FannedOutEvent> & { bytes?: Buffer }

async function queueDeliveries(
  tx: PlainTx,
  options: FanOutOptions,
  refs: EventRef[],
  asked_ms: number,
): Promise<Pick<FanOutResult, 'leasedDeliveries' | 'destinations' | 'backlogs'>> {
  const { queues, now_ms, findDeletedUsers, faults } = options
  const candidates = await loadCandidates(tx, [...new Set(refs.map((event) => event.team_id))], options.leases)
  const destinations = new Map(candidates.map((candidate) => [candidate.id, candidate]))
  if (candidates.length === 0) return { leasedDeliveries: [], destinations, backlogs: new Map() }
  // Destination → how many of its deliveries may still be leased: none while older ones wait, which they must not overtake.
  const rooms = new Map(
    candidates.map(({ id, is_open, has_backlog, is_ours, is_free, rate_limit }) => {
      const isSendable = is_open && !has_backlog && (is_ours || is_free) && rate_limit === null
      return [id, isSendable && queues.isSettledSince(id, asked_ms) ? queues.leaseCapacity(id, now_ms()) : 0]
    }),
  )
  const events = await loadEvents(tx, refs, candidates, rooms)
  const users = new Map(events.map(({ team_id, user_id }) => [user_id, { team_id, user_id }]))
  const deleted = users.size ? await findDeletedUsers(tx, [...users.values()]) : new Set<string>()
  const sendable = events.filter(({ user_id }) => user_id === null || !deleted.has(user_id))
  await leaseCandidates(tx, sendable, { candidates, rooms }, options.leases)
  const planned = await planDeliveries(sendable, { candidates, rooms }, queues, new BatchFaults(faults, tx))
  const leases = planned.length ? await insertDeliveries(tx, planned) : new Map<string, string>()
  const leasedDeliveries = planned.flatMap((plan) => {
    const lease = leases.get(deliveryKey(plan.destination_id, plan.event_id))
    // Without its body it is not sent: the next worker stops it.
    return lease === undefined || plan.event.body === null ? [] : toDelivery(plan, lease)
  })
  const backlogs = new Map(candidates.map(({ id, has_backlog }) => [id, has_backlog]))
  for (const { destination_id, isLeased, delay_s } of planned)
    if (!isLeased && delay_s === undefined) backlogs.set(destination_id, true)
  return { leasedDeliveries, destinations, backlogs }
}

/** The enabled destinations of teams. Events of a team whose pipeline does not enable `svix` go to none of its endpoints. */
const loadCandidates = (tx: PlainTx, teams: string[], leases: DestinationLeases): Promise<Candidate[]> =>
  tx.many(
    Candidate,
    sql`
    select ${destinationColumns}, w.filter_types, p.event_type_prefixes as type_prefixes,
           d.kind <> 'webhook' and p.push_historical_data as wants_historical, d.kind <> 'webhook' and p.provider_raw_data as wants_raw,
           t.deleted_at is null and (d.paused_until is null or d.paused_until <= ${dbNow}) as is_open,
           coalesce(d.owner = ${leases.owner}::uuid and d.leased_until > ${dbNowPlus(LEASE_REMAINING_S_MIN)}, false) as is_ours,
           coalesce(d.owner = ${leases.owner}::uuid, false) or d.leased_until is null or d.leased_until <= ${dbNow} as is_free,
           coalesce(extract(epoch from d.leased_until - ${dbNow}), 0)::float8 as left_s,
           exists (select from delivery v where v.team_id = d.team_id and v.destination_id = d.id and v.due_at is not null and (d.keeps_order or v.due_at <= ${dbNow})
                   and (v.leased_until is null or v.leased_until <= ${dbNow}
                        or d.keeps_order and d.owner is distinct from ${leases.owner}::uuid)) as has_backlog
    from ${destinationTables}
    where d.team_id = any (${teams}::uuid[])
      and case when d.kind = 'webhook' then not w.disabled and (p.team_id is null or 'svix' = any (p.enabled)) else p.team_id is not null end
    order by d.team_id, d.id`,
  )

/** The events that a destination may want; with the bodies of events that this process may send at once. */
function loadEvents(
  tx: PlainTx,
  refs: EventRef[],
  candidates: Candidate[],
  rooms: Map<string, number>,
): Promise<FannedOutEvent[]> {
  const served = new Set(candidates.flatMap(({ id, team_id }) => (rooms.get(id)! > 0 ? [team_id] : [])))
  const wanting = new Set(
    candidates.flatMap((candidate) => (candidate.wants_historical || candidate.wants_raw ? [candidate.team_id] : [])),
  )
  return tx.many(
    FannedOutEvent,
    sql`
    select e.id, e.team_id, e.type, e.historical, e.user_id, e.object_id, e.created_at,
           case when e.team_id = any (${[...served]}::uuid[]) then ${eventBody(sql`e.team_id`)} end as body
    from unnest(${arrayLiteral(refs.map((e) => e.team_id))}::uuid[], ${arrayLiteral(refs.map((e) => e.event_id))}::uuid[]) with ordinality as given (team_id, id, n)
    join event e on e.team_id = given.team_id and e.id = given.id
    where not e.historical and not starts_with(e.type, 'raw.') or e.team_id = any (${[...wanting]}::uuid[])
    order by given.n`,
  )
}

interface Rooms {
  candidates: Candidate[]
  rooms: Map<string, number>
}

function isWanted({ filter_types, type_prefixes, wants_historical, wants_raw, kind }: Candidate, event: FannedOutEvent): boolean {
  const { type, historical } = event
  if ((historical && !wants_historical) || (type.startsWith('raw.') && !wants_raw)) return false
  if (kind === 'webhook') return filter_types === null || filter_types.includes(type)
  return !type_prefixes?.length || type_prefixes.some((prefix) => type.startsWith(prefix))
}

/**
 * Acquires the leases of destinations that this process does not serve yet, and reads them again: they may have been disabled or changed
 * before. Those that it does not get have no room.
 */
async function leaseCandidates(
  tx: PlainTx,
  events: FannedOutEvent[],
  { candidates, rooms }: Rooms,
  leases: DestinationLeases,
): Promise<void> {
  const missing = candidates.filter(
    (candidate) =>
      !candidate.is_ours &&
      rooms.get(candidate.id)! > 0 &&
      events.some((event) => event.team_id === candidate.team_id && isWanted(candidate, event)),
  )
  if (missing.length === 0) return
  const acquired = await leases.acquire(tx, missing)
  const teams = [...new Set(missing.map(({ team_id }) => team_id))]
  const current = acquired.length ? new Map((await loadCandidates(tx, teams, leases)).map((row) => [row.id, row])) : new Map()
  for (const one of missing) {
    const row = acquired.includes(one.id) ? current.get(one.id) : undefined
    if (row?.is_open) Object.assign(one, row, { left_s: DESTINATION_LEASE_S, has_backlog: one.has_backlog })
    else rooms.set(one.id, 0)
  }
}

interface PlannedDelivery extends NewDelivery {
  event: FannedOutEvent
  copies: number
}

/** A delivery for each event and destination. Once an event of a destination has to wait, all later ones wait too. */
async function planDeliveries(
  events: FannedOutEvent[],
  { candidates, rooms }: Rooms,
  queues: DestinationQueues,
  faults: BatchFaults,
): Promise<PlannedDelivery[]> {
  const byTeam = Map.groupBy(candidates, ({ team_id }) => team_id)
  const teamRooms = new Map<string, number>()
  const planned: PlannedDelivery[] = []
  for (const event of events) {
    const { id: event_id, team_id, type } = event
    for (const destination of byTeam.get(team_id) ?? []) {
      if (!isWanted(destination, event)) continue
      const isWebhook = destination.kind === 'webhook'
      const order_key = destination.keeps_order ? (event.user_id ?? team_id) : null
      const one = { event, team_id, destination_id: destination.id, event_id, order_key, copies: 1 }
      const delay_s = isWebhook ? await faults.delay_s(team_id, type) : undefined
      if (delay_s !== undefined) {
        planned.push({ ...one, delay_s, isLeased: false })
        continue
      }
      const teamRoom = teamRooms.get(team_id) ?? queues.teamCapacity(team_id)
      const room = teamRoom > 0 ? rooms.get(destination.id)! : 0
      rooms.set(destination.id, Math.max(0, room - 1))
      teamRooms.set(team_id, room > 0 ? teamRoom - 1 : teamRoom)
      const copies = isWebhook && room > 0 ? await faults.copies(team_id, type) : 1
      planned.push({ ...one, copies, isLeased: room > 0 })
    }
  }
  return planned
}

const toDelivery = ({ event, destination_id, copies }: PlannedDelivery, lease: string): Delivery => ({
  team_id: event.team_id,
  destination_id,
  message_id: event.id,
  is_event: true,
  msg: messageId(event.id),
  attempts: 0,
  trigger: 'scheduled',
  last_report: null,
  type: event.type,
  // All destinations share the bytes of an event.
  body: (event.bytes ??= Buffer.from(event.body!)),
  object_id: event.object_id,
  user_id: event.user_id,
  created_at: event.created_at,
  lease,
  ...(copies > 1 && { copies }),
})
