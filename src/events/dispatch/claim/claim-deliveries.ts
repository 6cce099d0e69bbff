// The first part of delivery: claims the next deliveries and puts them into the endpoint queues of the process. Deliveries of fresh events
// are inserted under a lease of this process if their endpoint can take them now; all others are claimed from the table of deliveries. Both
// happen one batch after the other, so that no delivery overtakes an older one.
import { messageId } from '../../fan-out/message-id.ts'
import type { CellName } from '../../../platform/db/cell-names.ts'
import { PollInterval } from '../../../platform/queue/queue-loop.ts'
import { errorFields } from '../../../platform/telemetry/log.ts'
import type { Delivery } from '../../delivery-queue/delivery.ts'
import { BatchFaults } from '../../delivery-queue/delivery-fault.ts'
import { claimDue, deleteDeliveries, returnDeliveries, type Claimed } from '../../delivery-queue/delivery-queue.ts'
import { clearUnreadable, ENDPOINT_LEASE_S, pauseUnreadable, type EndpointLeases } from '../../delivery-queue/endpoint-leases.ts'
import { loadEndpoints, SecretsCache, type Endpoint, type SendableEndpoint } from '../../delivery-queue/sendable-endpoint.ts'
import type { EventDestination } from '../../fan-out/destination.ts'
import { EVENTS_MAX, fanOut, type DeliveryDb, type FanOutResult } from '../../fan-out/fan-out.ts'
import { feedDestination } from '../../feed/feed.ts'
import type { DeliveryOptions } from '../dispatch-options.ts'
import type { AttemptRecorder } from '../record/record-outcomes.ts'
import type { EndpointQueues } from '../send/endpoint-queues.ts'
import type { BufferedDelivery, DeliverySender } from '../send/send-deliveries.ts'
import { endpointDestination, type LeasedEndpoint, type ProcessCapacity } from './endpoint-destination.ts'
import type { EndpointLeaseKeeper } from './endpoint-lease-keeper.ts'

/** Maximum time that fan-out waits for endpoints that keep up. */
const FAN_OUT_WAIT_MS = 50
/** Minimum number of events for a transaction, if the events have to wait otherwise. */
const MIN_BATCH_EVENTS = 200
/** Time during which little is fanned out while deliveries wait for all endpoints: a delivery that is leased when it is inserted costs less. */
const CATCH_UP_MS = 1000
const CATCH_UP_EVENTS = 100
/** Interval after which events committed by another process are seen; other processes cannot wake this one. */
const FAN_OUT_POLL_MS = 100
/** The interval while this process finds none: looking at four quiet cells every 100 ms was half of the statements of an idle server. */
const QUIET_POLL_MS = 250
/** How long it must have found none for that. */
const QUIET_AFTER_MS = 10_000

export interface DeliveryClaimsOptions {
  cell: CellName
  db: DeliveryDb
  leases: EndpointLeases
  queues: EndpointQueues<BufferedDelivery>
  sender: DeliverySender
  recorder: AttemptRecorder
  keeper: EndpointLeaseKeeper
  delivery: Pick<DeliveryOptions, 'vault' | 'findDeletedUsers' | 'destinations' | 'log' | 'metrics' | 'faults'>
  /** The monotonic clock of the process. */
  now_ms: () => number
  /** Called if deliveries wait in the database for an endpoint. */
  onBacklog: () => void
  onError: (error: unknown, message: string) => void
}

export class DeliveryClaims {
  readonly #options: DeliveryClaimsOptions
  readonly #secrets: SecretsCache
  readonly #destinations: EventDestination[]
  #last: Promise<unknown> = Promise.resolve()
  #last_fan_out_ms = 0
  /** The time since which each round of fan-out found events; undefined: the last one found none. */
  #backlog_since_ms: number | undefined
  /** Of the loop of `fanOutRound`. */
  readonly fanOutPoll: PollInterval
  /** When the endpoints were read, for the events that are being fanned out. */
  #asked_ms = 0

  constructor(options: DeliveryClaimsOptions) {
    const { cell, delivery } = options
    this.#options = options
    const quiet = { quiet_ms: QUIET_POLL_MS, quiet_after_ms: QUIET_AFTER_MS }
    this.fanOutPoll = new PollInterval({ busy_ms: FAN_OUT_POLL_MS, ...quiet, now_ms: options.now_ms })
    this.#secrets = new SecretsCache(delivery.vault)
    const endpoints = endpointDestination(delivery.findDeletedUsers, this.#capacity())
    this.#destinations = [feedDestination, ...(delivery.destinations?.(cell) ?? []), endpoints]
  }

  /** Fans out as many new events as is useful now. @returns whether there may be more */
  async fanOutRound(): Promise<boolean> {
    const now_ms = this.#options.now_ms()
    const events_max = this.#options.recorder.hasBacklog ? 0 : this.#fanOutLimit(now_ms)
    if (events_max === 0) return true
    this.#last_fan_out_ms = now_ms
    const { entries, hasMore } = await this.fanOut(events_max)
    if (entries === 0) this.#backlog_since_ms = undefined
    else {
      this.#backlog_since_ms ??= now_ms
      this.fanOutPoll.recordFound()
    }
    return hasMore
  }

  /**
   * Number of events to fan out now; 0: none yet. Events wait a moment for endpoints without room, but not for slow endpoints.
   */
  #fanOutLimit(now_ms: number): number {
    const fanOutBudget = this.#options.queues.fanOutBudget(now_ms)
    const waited_ms = now_ms - this.#last_fan_out_ms
    if (fanOutBudget !== undefined) {
      if (fanOutBudget.all >= MIN_BATCH_EVENTS) return fanOutBudget.all
      return waited_ms >= FAN_OUT_WAIT_MS ? Math.max(fanOutBudget.some, 1) : 0
    }
    if (this.#backlog_since_ms === undefined) return EVENTS_MAX
    if (now_ms - this.#backlog_since_ms >= CATCH_UP_MS) return EVENTS_MAX
    return waited_ms >= FAN_OUT_WAIT_MS ? CATCH_UP_EVENTS : 0
  }

  /** Fans out events: inserts their deliveries, and begins to send those that this process has leased. */
  fanOut(events_max: number = EVENTS_MAX): Promise<FanOutResult> {
    return this.#serialize(() => fanOut(this.#options.db, this.#destinations, events_max))
  }

  /** Claims due deliveries, as many as there is room for, and begins to send them. @returns their number */
  claim(): Promise<number> {
    return this.#serialize(() => this.#claimDue())
  }

  #capacity(): ProcessCapacity {
    const { cell, delivery, leases, queues, keeper, now_ms, onBacklog } = this.#options
    return {
      leases,
      begin: () => {
        this.#asked_ms = now_ms()
        keeper.returnLapsed(this.#asked_ms)
        return this.#asked_ms
      },
      faults: (tx) => BatchFaults.of(delivery.faults, cell, tx),
      ofEndpoint: (id) => (queues.isSettledSince(id, this.#asked_ms) ? queues.leaseCapacity(id, now_ms()) : 0),
      ofTeam: (team) => queues.capacityOfTeam(team),
      onLeased: (deliveries, endpoints) => this.#buffer(deliveries, endpoints),
      onBacklog: (id, hasBacklog) => {
        queues.setBacklogged(id, hasBacklog)
        if (hasBacklog) onBacklog()
      },
    }
  }

  /** Puts leased deliveries into the endpoint queues, and begins to send them. */
  #buffer(deliveries: Delivery[], endpoints: Map<string, LeasedEndpoint>): void {
    const { queues, sender } = this.#options
    const ids = [...new Set(deliveries.map(({ webhook_id }) => webhook_id))]
    const { ready, unreadable } = this.#decrypt(ids.map((id) => endpoints.get(id)!))
    const unsent: Delivery[] = []
    for (const item of deliveries) {
      const endpoint = ready.get(item.webhook_id)
      if (endpoint) queues.add(endpoint.id, { item, endpoint, taken_ms: item.taken_ms }, endpoint, item.taken_ms)
      else unsent.push(item)
    }
    for (const id of ready.keys()) {
      const isLeased = queues.hold(id, this.#asked_ms, endpoints.get(id)!.left_s * 1000)
      // Older deliveries were returned to the database since, and must not be overtaken.
      if (!isLeased || !queues.isSettledSince(id, this.#asked_ms)) void sender.returnDeliveries(id)
      else sender.sendQueued(id)
    }
    // Before anything else is fanned out or claimed, so that no later delivery overtakes it.
    if (unsent.length) void this.#serialize(() => this.#postpone(unsent, unreadable))
  }

  #decrypt(endpoints: Endpoint[]): { ready: Map<string, SendableEndpoint>; unreadable: string[] } {
    const { db, onError } = this.#options
    const { ready, unreadable, again } = this.#secrets.openAll(endpoints, (one, cause) => this.#reportUnreadable(one, cause))
    if (again.length) void clearUnreadable(db.queries, again).catch((error: unknown) => onError(error, 'delivery loop failed'))
    return { ready, unreadable }
  }

  #reportUnreadable({ id, team_id }: Endpoint, cause: unknown): void {
    const { cell, delivery } = this.#options
    delivery.metrics.unreadable(cell, 'webhook')
    const fields = { cell, 'team.id': team_id, 'webhook.id': id, causes: errorFields(cause) }
    delivery.log.error(
      fields,
      'the secret or the headers of an endpoint cannot be decrypted; nothing is sent to it until they can be',
    )
  }

  /** Deliveries for endpoints that cannot be decrypted wait in the database, and nothing is sent to these endpoints for a while. */
  async #postpone(items: Delivery[], unreadable: string[]): Promise<void> {
    const { db, recorder, onError } = this.#options
    try {
      await pauseUnreadable(db.queries, unreadable)
      await recorder.returnDeliveries(items)
    } catch (error) {
      onError(error, 'failed to return deliveries to the queue')
    }
  }

  #serialize<R>(task: () => Promise<R>): Promise<R> {
    const done = this.#last.then(task)
    this.#last = done.catch(() => {})
    return done
  }

  async #claimDue(): Promise<number> {
    const { cell, db, leases, queues, sender, keeper, delivery } = this.#options
    const asked_ms = this.#options.now_ms()
    keeper.returnLapsed(asked_ms)
    const capacity = queues.claimLimits(asked_ms)
    if (capacity.total <= 0) return 0
    const claimed = await claimDue(db, leases, capacity)
    const counts = new Map<string, number>()
    for (const { webhook_id } of claimed) counts.set(webhook_id, (counts.get(webhook_id) ?? 0) + 1)
    for (const [id, asked] of capacity.endpoints) if (asked > 0) queues.setBacklogged(id, (counts.get(id) ?? 0) >= asked)
    if (claimed.length === 0) return 0
    const people = claimed.flatMap(({ team_id, user_id }) => (user_id === null ? [] : [{ team_id, user_id }]))
    const [endpoints, deleted] = await Promise.all([
      loadEndpoints(db.queries, [...counts.keys()]),
      people.length ? delivery.findDeletedUsers(db.queries, people) : new Set<string>(),
    ])
    const { ready, unreadable } = this.#decrypt(endpoints)
    const faults = await BatchFaults.of(delivery.faults, cell, db.queries)
    const unwanted: Claimed[] = []
    const unsent: Claimed[] = []
    for (const row of claimed) {
      const endpoint = ready.get(row.webhook_id)
      const item = row.user_id !== null && deleted.has(row.user_id) ? undefined : deliveryOf(row, asked_ms)
      if (endpoint && item?.is_event && faults.isFaulty(item.team_id)) item.copies = await faults.copies(item.team_id, item.type)
      if (endpoint && item) queues.add(endpoint.id, { item, endpoint, taken_ms: asked_ms }, endpoint, asked_ms)
      else if (item && unreadable.includes(row.webhook_id)) unsent.push(row)
      else unwanted.push(row)
    }
    // First of all: an error below must not keep buffered deliveries from being sent.
    for (const id of ready.keys()) if (!queues.hold(id, asked_ms, ENDPOINT_LEASE_S * 1000)) void sender.returnDeliveries(id)
    for (const id of queues.inUse) sender.sendQueued(id)
    if (unreadable.length) {
      await pauseUnreadable(db.queries, unreadable)
      await returnDeliveries(db, unsent)
    }
    await deleteDeliveries(db.queries, unwanted)
    return claimed.length
  }
}

/** Undefined: there is nothing to send any more. */
function deliveryOf(row: Claimed, taken_ms: number): Delivery | undefined {
  const { body, type, user_id: _, ...rest } = row
  if (body === null || type === null) return undefined
  const msg = messageId(row.message_id)
  return { ...rest, msg, type, body: Buffer.from(body), taken_ms }
}
