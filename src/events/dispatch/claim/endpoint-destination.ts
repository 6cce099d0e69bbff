// The destination of events that are endpoints: each event gets a delivery for each endpoint of its team that has subscribed to its type.
// Deliveries for which this process has room, of endpoints that it serves or can lease, are inserted under its lease and sent at once; the
// others are due. Raw events of providers and historical events are left out: H2, H6. Source: events.md 4.11, 6.7.
import type { PlainTx } from '../../../platform/db/transaction.ts'
import { dbNow, dbNowPlus } from '../../../platform/db/leases.ts'
import { Nullable, T, type Static } from '../../../platform/schema/schema.ts'
import { sql, arrayLiteral } from '../../../platform/db/sql.ts'
import type { Delivery } from '../../delivery-queue/delivery.ts'
import type { FindDeletedUsers, EventDestination, EventRef } from '../../fan-out/destination.ts'
import type { BatchFaults } from '../../delivery-queue/delivery-fault.ts'
import { deliveryKey, insertDeliveries, type NewDelivery } from '../../delivery-queue/delivery-queue.ts'
import { ENDPOINT_LEASE_S, type EndpointLeases } from '../../delivery-queue/endpoint-leases.ts'
import { messageId } from '../../fan-out/message-id.ts'
import { Endpoint, endpointColumns } from '../../delivery-queue/sendable-endpoint.ts'

/** What a process can send at once, and where its leased deliveries go. */
export interface ProcessCapacity {
  leases: EndpointLeases
  /** Called before the endpoints are read. @returns the time, by the monotonic clock of the process */
  begin(): number
  /** The number of deliveries of an endpoint that may be leased now. */
  ofEndpoint(webhook_id: string): number
  /** The number of deliveries of a team, for all its endpoints together. */
  ofTeam(team_id: string): number
  /** The faults of this batch. */
  faults(tx: PlainTx): Promise<BatchFaults>
  /** Called after the commit with the leased deliveries, in order, and their endpoints. */
  onLeased(deliveries: Delivery[], endpoints: Map<string, LeasedEndpoint>): void
  /** Called after the commit: whether deliveries wait for an endpoint. */
  onBacklog(webhook_id: string, hasBacklog: boolean): void
}

/** An endpoint whose lease the process has, with the duration of the lease counted from the time of the request. */
export interface LeasedEndpoint extends Endpoint {
  left_s: number
}

const Candidate = T.Object({
  ...Endpoint.properties,
  filter_types: Nullable(T.Array(T.String())),
  /** Whether deliveries may be sent to it now at all. */
  open: T.Boolean(),
  /** Whether this process has its lease and will have it for a while, or can acquire it. */
  mine: T.Boolean(),
  free: T.Boolean(),
  /** The remaining duration of the lease, of this process or another. */
  left_s: T.Number(),
  /** Whether deliveries wait for it. */
  behind: T.Boolean(),
})
type Candidate = Static<typeof Candidate>

const Matching = T.Object({
  id: T.String(),
  team_id: T.String(),
  type: T.String(),
  user_id: Nullable(T.String()),
  object_id: T.String(),
  body: Nullable(T.String()),
})
type Matching = Static<typeof Matching> & { bytes?: Buffer }

export const endpointDestination = (findDeletedUsers: FindDeletedUsers, capacity: ProcessCapacity): EventDestination => ({
  async queue(tx, events) {
    const begun_ms = capacity.begin()
    const candidates = await endpointsOf(tx, [...new Set(events.map((event) => event.team_id))], capacity.leases)
    if (candidates.length === 0) return []
    const rooms = new Map(candidates.map((one) => [one.id, roomFor(one, capacity)]))
    const served = new Set(candidates.flatMap(({ id, team_id }) => (rooms.get(id)! > 0 ? [team_id] : [])))
    const matching = await load(tx, events, served)
    const people = new Map(matching.map(({ team_id, user_id }) => [user_id, { team_id, user_id }]))
    const deleted = people.size ? await findDeletedUsers(tx, [...people.values()]) : new Set<string>()
    const sendable = matching.filter(({ user_id }) => user_id === null || !deleted.has(user_id))
    await leaseEndpoints(tx, sendable, { candidates, rooms }, capacity)
    const planned = await planDeliveries(sendable, { candidates, rooms }, { capacity, faults: await capacity.faults(tx) })
    const leases = planned.length ? await insertDeliveries(tx, planned) : new Map<string, string>()
    const leased = planned.flatMap(
      (one) => leasedDelivery(one, leases.get(deliveryKey(one.webhook_id, one.event_id)), begun_ms) ?? [],
    )
    tx.afterCommit(() => {
      for (const { id, behind } of candidates) {
        const waits = planned.some(({ webhook_id, isLeased, delay_s }) => webhook_id === id && !isLeased && delay_s === undefined)
        capacity.onBacklog(id, behind || waits)
      }
      if (leased.length) capacity.onLeased(leased, new Map(candidates.map((one) => [one.id, one])))
    })
    return []
  },
})

/** The number of deliveries for an endpoint that this process may lease; 0 while older ones wait, which they must not overtake. */
const roomFor = ({ id, open, behind, mine, free, rate_limit }: Candidate, capacity: ProcessCapacity): number =>
  open && !behind && (mine || free) && rate_limit === null ? capacity.ofEndpoint(id) : 0

/** A lease with less than this time left is acquired again. */
const LEASE_REMAINING_S_MIN = 2

const endpointsOf = (tx: PlainTx, teams: string[], leases: EndpointLeases): Promise<Candidate[]> =>
  tx.many(
    Candidate,
    sql`
    select ${endpointColumns}, w.filter_types,
           t.deleted_at is null and (l.paused_until is null or l.paused_until <= ${dbNow}) as open,
           coalesce(l.owner = ${leases.owner}::uuid and l.leased_until > ${dbNowPlus(LEASE_REMAINING_S_MIN)}, false) as mine,
           coalesce(l.owner = ${leases.owner}::uuid, false) or l.leased_until is null or l.leased_until <= ${dbNow} as free,
           coalesce(extract(epoch from l.leased_until - ${dbNow}), 0)::float8 as left_s,
           exists (select from delivery d where d.webhook_id = w.id and d.due_at <= ${dbNow}
                   and (d.leased_until is null or d.leased_until <= ${dbNow})) as behind
    from webhook w join team t on t.id = w.team_id join webhook_lease l on l.webhook_id = w.id
    where w.team_id = any (${teams}::uuid[]) and not w.disabled order by w.team_id, w.id`,
  )

/** @param served teams with an endpoint that this process serves: the bodies of their events are read too */
const load = (tx: PlainTx, events: EventRef[], served: Set<string>): Promise<Matching[]> =>
  tx.many(
    Matching,
    sql`
    select e.id, e.team_id, e.type, e.user_id, e.object_id, case when e.team_id = any (${[...served]}::uuid[]) then e.body end as body
    from unnest(${arrayLiteral(events.map((e) => e.team_id))}::uuid[], ${arrayLiteral(events.map((e) => e.event_id))}::uuid[]) with ordinality as given (team_id, id, n)
    join event e on e.team_id = given.team_id and e.id = given.id and not e.historical and not starts_with(e.type, 'raw.')
    order by given.n`,
  )

interface Rooms {
  candidates: Candidate[]
  /** Endpoint → how many of its deliveries may still be leased. */
  rooms: Map<string, number>
}

const isSubscribed = ({ filter_types }: Candidate, type: string): boolean => filter_types === null || filter_types.includes(type)

/** Acquires the leases of endpoints that this process does not serve yet; those that it does not get have no room. */
async function leaseEndpoints(
  tx: PlainTx,
  events: Matching[],
  { candidates, rooms }: Rooms,
  { leases }: ProcessCapacity,
): Promise<void> {
  const missing = candidates.filter(
    (one) =>
      !one.mine &&
      rooms.get(one.id)! > 0 &&
      events.some(({ team_id, type }) => team_id === one.team_id && isSubscribed(one, type)),
  )
  if (missing.length === 0) return
  const acquired = await leases.acquire(
    tx,
    missing.map(({ id }) => id),
  )
  for (const one of missing) {
    const url = acquired.get(one.id)
    if (url === undefined) rooms.set(one.id, 0)
    else Object.assign(one, { left_s: ENDPOINT_LEASE_S, url })
  }
}

interface PlannedDelivery extends NewDelivery {
  event: Matching
  copies: number
}

/** A delivery for each event and subscribed endpoint. Once an event of an endpoint has to wait, all later ones wait too. */
async function planDeliveries(
  events: Matching[],
  { candidates, rooms }: Rooms,
  { capacity, faults }: { capacity: ProcessCapacity; faults: BatchFaults },
): Promise<PlannedDelivery[]> {
  const byTeam = Map.groupBy(candidates, ({ team_id }) => team_id)
  const teamRooms = new Map<string, number>()
  const planned: PlannedDelivery[] = []
  for (const event of events) {
    const { id: event_id, team_id, type } = event
    const isFaulty = faults.isFaulty(team_id)
    for (const endpoint of byTeam.get(team_id) ?? []) {
      if (!isSubscribed(endpoint, type)) continue
      const one = { event, team_id, webhook_id: endpoint.id, event_id, copies: 1 }
      const delay_s = isFaulty ? await faults.delay_s(team_id, type) : undefined
      if (delay_s !== undefined) {
        planned.push({ ...one, delay_s, isLeased: false })
        continue
      }
      const teamRoom = teamRooms.get(team_id) ?? capacity.ofTeam(team_id)
      const room = teamRoom > 0 ? rooms.get(endpoint.id)! : 0
      rooms.set(endpoint.id, Math.max(0, room - 1))
      teamRooms.set(team_id, room > 0 ? teamRoom - 1 : teamRoom)
      const copies = isFaulty && room > 0 ? await faults.copies(team_id, type) : 1
      planned.push({ ...one, copies, isLeased: room > 0 })
    }
  }
  return planned
}

/** A delivery that was inserted under a lease, to be buffered; undefined for another. */
const leasedDelivery = (
  { event, webhook_id, copies }: PlannedDelivery,
  lease: string | undefined,
  taken_ms: number,
): Delivery | undefined =>
  lease === undefined
    ? undefined
    : {
        team_id: event.team_id,
        webhook_id,
        message_id: event.id,
        is_event: true,
        msg: messageId(event.id),
        attempts: 0,
        trigger: 'scheduled',
        last_report: null,
        type: event.type,
        // All endpoints share the bytes of an event.
        body: (event.bytes ??= Buffer.from(event.body!)),
        object_id: event.object_id,
        taken_ms,
        lease,
        ...(copies > 1 && { copies }),
      }
