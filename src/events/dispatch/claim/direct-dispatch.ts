// Fan-out to endpoints: each event to the endpoints of its team that have subscribed to its type. What can be sent at once is dispatched
// directly, as a dispatch batch; for the rest deliveries are inserted. Raw events of providers and historical events are left out: H2, H6.
// Source: events.md 4.11, 6.7.
import type { PlainTx } from '../../../platform/db/transaction.ts'
import { dbNow, dbNowPlus } from '../../../platform/db/leases.ts'
import { Nullable, T, type Static } from '../../../platform/schema/schema.ts'
import { sql, arrayLiteral } from '../../../platform/db/sql.ts'
import { uuid } from '../../../platform/runtime/uuid.ts'
import type { Delivery, DispatchBatch } from '../../delivery-queue/delivery.ts'
import type { FindDeletedUsers, EventDestination, EventRef } from '../../fan-out/destination.ts'
import type { BatchFaults } from '../../delivery-queue/delivery-fault.ts'
import { createDispatchBatch } from '../../delivery-queue/delivery-batches.ts'
import { queueDeliveries, type QueuedDelivery } from '../../delivery-queue/delivery-queue.ts'
import { ENDPOINT_LEASE_S, type EndpointLeases } from '../../delivery-queue/endpoint-leases.ts'
import { messageId } from '../../fan-out/message-id.ts'
import { Endpoint, endpointColumns } from '../../delivery-queue/sendable-endpoint.ts'

/** The limits of direct dispatch in a process. */
export interface DirectDispatch {
  leases: EndpointLeases
  /** Called before the endpoints are read. */
  begin(): void
  /** The time of that call, by the monotonic clock of the process. */
  asked_ms(): number
  /** The limit of deliveries of an endpoint. */
  capacity(webhook_id: string): number
  /** The limit of deliveries of a team, for all its endpoints together. */
  capacityOfTeam(team_id: string): number
  /** The faults of this batch. */
  faults(tx: PlainTx): Promise<BatchFaults>
  /** Called after the commit, with the endpoints of the deliveries. */
  onBatch(batch: DispatchBatch, endpoints: Map<string, LeasedEndpoint>): void
  /** Whether deliveries of an endpoint wait. */
  onBacklog(webhook_id: string, isBehind: boolean): void
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
type Matching = Static<typeof Matching>

export const endpointSink = (findDeletedUsers: FindDeletedUsers, hand: DirectDispatch): EventDestination => ({
  async queue(tx, events) {
    hand.begin()
    const candidates = await endpointsOf(tx, [...new Set(events.map((event) => event.team_id))], hand)
    if (candidates.length === 0) return []
    const capacities = new Map(candidates.map((one) => [one.id, one.open && !one.behind ? directCapacity(hand, one) : 0]))
    const direct = new Set(candidates.flatMap(({ id, team_id }) => (capacities.get(id)! > 0 ? [team_id] : [])))
    const matching = await load(tx, events, direct)
    const people = new Map(matching.map(({ team_id, user_id }) => [user_id, { team_id, user_id }]))
    const deleted = people.size ? await findDeletedUsers(tx, [...people.values()]) : new Set<string>()
    const sendableMatches = matching.filter(({ user_id }) => user_id === null || !deleted.has(user_id))
    const { newBatch, waiting } = await splitDirectAndQueued(tx, sendableMatches, candidates, capacities, hand)
    if (newBatch) await createDispatchBatch(tx, newBatch)
    if (waiting.length) await queueDeliveries(tx, waiting)
    tx.afterCommit(() => {
      for (const { id, behind: hasBacklog } of candidates)
        hand.onBacklog(id, hasBacklog || waiting.some(({ webhook_id, delay_s }) => webhook_id === id && delay_s === undefined))
      if (newBatch) hand.onBatch(newBatch, new Map(candidates.map((one) => [one.id, one])))
    })
    return []
  },
})

const directCapacity = (hand: DirectDispatch, { id, mine: ownsLease, free: isUnleased, rate_limit }: Candidate): number =>
  (ownsLease || isUnleased) && rate_limit === null ? hand.capacity(id) : 0

/** A lease with less than this time left is acquired again. */
const LEASE_REMAINING_S_MIN = 2

const endpointsOf = (tx: PlainTx, teams: string[], hand: DirectDispatch): Promise<Candidate[]> =>
  tx.many(
    Candidate,
    sql`
    select ${endpointColumns}, w.filter_types,
           t.deleted_at is null and (l.paused_until is null or l.paused_until <= ${dbNow}) as open,
           coalesce(l.owner = ${hand.leases.owner}::uuid and l.leased_until > ${dbNowPlus(LEASE_REMAINING_S_MIN)}, false) as mine,
           coalesce(l.owner = ${hand.leases.owner}::uuid, false) or l.leased_until is null or l.leased_until <= ${dbNow} as free,
           coalesce(extract(epoch from l.leased_until - ${dbNow}), 0)::float8 as left_s,
           exists (select from delivery d where d.webhook_id = w.id and d.due_at <= ${dbNow}
                   and (d.leased_until is null or d.leased_until <= ${dbNow})) as behind
    from webhook w join team t on t.id = w.team_id join webhook_lease l on l.webhook_id = w.id
    where w.team_id = any (${teams}::uuid[]) and not w.disabled order by w.team_id, w.id`,
  )

/** @param direct teams with an endpoint for direct dispatch: the bodies of their events are read too */
const load = (tx: PlainTx, events: EventRef[], direct: Set<string>): Promise<Matching[]> =>
  tx.many(
    Matching,
    sql`
    select e.id, e.team_id, e.type, e.user_id, e.object_id, case when e.team_id = any (${[...direct]}::uuid[]) then e.body end as body
    from unnest(${arrayLiteral(events.map((e) => e.team_id))}::uuid[], ${arrayLiteral(events.map((e) => e.event_id))}::uuid[]) with ordinality as given (team_id, id, n)
    join event e on e.team_id = given.team_id and e.id = given.id and not e.historical and not starts_with(e.type, 'raw.')
    order by given.n`,
  )

/** Selects the events for direct dispatch. Once an event of an endpoint has to wait, all later ones wait too. */
async function splitDirectAndQueued(
  tx: PlainTx,
  events: Matching[],
  candidates: Candidate[],
  capacities: Map<string, number>,
  hand: DirectDispatch,
): Promise<{ newBatch: DispatchBatch | undefined; waiting: QueuedDelivery[] }> {
  const of = Map.groupBy(candidates, ({ team_id }) => team_id)
  const wants = new Map(candidates.map(({ id, filter_types }) => [id, filter_types && new Set(filter_types)]))
  const asking = candidates.filter(
    ({ id, mine: ownsLease, team_id }) =>
      !ownsLease &&
      capacities.get(id)! > 0 &&
      events.some((event) => event.team_id === team_id && (wants.get(id)?.has(event.type) ?? true)),
  )
  const ids = asking.map(({ id }) => id)
  const got = ids.length ? await hand.leases.acquire(tx, ids) : new Map<string, string>()
  for (const id of ids) if (!got.has(id)) capacities.set(id, 0)
  for (const one of asking) Object.assign(one, { left_s: ENDPOINT_LEASE_S, url: got.get(one.id) ?? one.url })
  const faults = await hand.faults(tx)
  const items: Delivery[] = []
  const waiting: QueuedDelivery[] = []
  const left = new Map<string, number>()
  const newBatch: DispatchBatch = { id: uuid(), taken_ms: hand.asked_ms(), items, left: 0 }
  for (const event of events) {
    let bytes: Buffer | undefined
    const msg = messageId(event.id)
    let ofTeam = left.get(event.team_id) ?? hand.capacityOfTeam(event.team_id)
    for (const { id } of of.get(event.team_id) ?? []) {
      if (!(wants.get(id)?.has(event.type) ?? true)) continue
      const delay_s = faults.isFaulty(event.team_id) ? await faults.delay_s(event.team_id, event.type) : undefined
      if (delay_s !== undefined) {
        waiting.push({ team_id: event.team_id, webhook_id: id, event_id: event.id, delay_s })
        continue
      }
      const room = ofTeam > 0 ? capacities.get(id)! : 0
      capacities.set(id, Math.max(0, room - 1))
      if (room > 0) ofTeam--
      if (room > 0) items.push(deliveryOf(event, msg, id, (bytes ??= Buffer.from(event.body!)), newBatch))
      else waiting.push({ team_id: event.team_id, webhook_id: id, event_id: event.id })
    }
    left.set(event.team_id, ofTeam)
  }
  for (const item of items) if (faults.isFaulty(item.team_id)) item.copies = await faults.copies(item.team_id, item.type)
  newBatch.left = items.length
  return { newBatch: items.length ? newBatch : undefined, waiting }
}

const deliveryOf = (event: Matching, msg: string, webhook_id: string, body: Buffer, batch: DispatchBatch): Delivery => ({
  has_row: false,
  batch,
  team_id: event.team_id,
  webhook_id,
  message_id: event.id,
  is_event: true,
  msg,
  attempts: 0,
  trigger: 'scheduled',
  last_report: null,
  type: event.type,
  body,
  object_id: event.object_id,
  taken_ms: batch.taken_ms,
  lease: null,
})
