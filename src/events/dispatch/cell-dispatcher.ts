// The loop that delivers, one per cell and process: fans out what was announced, claims what is due, sends it, writes down what came
// of it. At least once: nothing is marked before it has happened, and what is not marked is sent again.
import type { CellName } from '../../platform/db/cell-names.ts'
import { errorFields } from '../../platform/telemetry/log.ts'
import { claimDue, deleteDeliveries, returnDeliveries, type Claimed } from '../delivery-queue/delivery-queue.ts'
import type { Delivery, DispatchBatch } from '../delivery-queue/delivery.ts'
import type { DeliveryOptions } from './dispatch-options.ts'
import { endpointSink, type DirectDispatch, type Held } from './endpoint-destination.ts'
import { EVENTS_MAX, fanOut, type DeliveryDb, type FanOutResult } from '../fan-out/fan-out.ts'
import type { Sink } from '../fan-out/destination.ts'
import { feedSink } from '../feed/feed.ts'
import { InFlightDeliveries, type BufferedDelivery } from './in-flight.ts'
import { recoverExpiredBatches } from '../delivery-queue/delivery-batches.ts'
import { clearUnreadable, EndpointLeases, ENDPOINT_LEASE_S, pauseUnreadable } from '../delivery-queue/endpoint-leases.ts'
import { LaneKeeper } from './lease-keeper.ts'
import { EndpointQueues, type Address, type PageCheckpoint } from './endpoint-loads.ts'
import { loadEndpoints, SecretsCache, type Endpoint, type SendableEndpoint } from '../delivery-queue/sendable-endpoint.ts'
import { messageId } from '../fan-out/message-id.ts'
import { AttemptRecorder } from './outcome-recorder.ts'
import { QueueLoop } from '../../platform/queue/queue-loop.ts'
import { Sender, type SenderOptions } from './http-sender.ts'

/** What another process announces is seen after so long, without being told. */
const FAN_OUT_POLL_MS = 100
/** What falls due by the clock. */
const CLAIM_POLL_MS = 500
/** While there is more, rounds are this far apart, so that each takes a batch. */
const PACE_MS = 5
/** As far as rounds are apart that find nothing: most transactions leave nothing to deliver. */
const IDLE_PACE_MS = 25
const RECOVER_MS = 1500
/** Whoever deletes or disables an endpoint waits until its owner has seen that. */
const RECALL_POLL_MS = 200
/** What is announced waits no longer for endpoints that take all that is sent to them. */
const FAN_OUT_WAIT_MS = 50
/** So many events at a time, if they have to wait, are worth a transaction. */
const MIN_BATCH_EVENTS = 200
/** So long little is announced while deliveries wait for all endpoints: what is sent straight from the hand costs much less. */
const CATCH_UP_MS = 1000
const CATCH_UP_EVENTS = 100

/** Delivers in one cell. */
export class CellDelivery {
  readonly #cell: CellName
  readonly #db: DeliveryDb
  readonly #options: DeliveryOptions
  readonly #leases: EndpointLeases
  readonly #directDispatch: DirectDispatch
  readonly #now_ms: () => number
  readonly #endpointQueues = new EndpointQueues<BufferedDelivery>()
  readonly #opener: SecretsCache
  readonly #brokers: Sink[]
  readonly #sender: Pick<Sender, 'post' | 'close'>
  readonly #recorder: AttemptRecorder
  readonly #flights: InFlightDeliveries
  readonly #keeper: LaneKeeper
  readonly #fanOutLoop = this.#rounds(() => this.#fanOutRound(), FAN_OUT_POLL_MS)
  readonly #claimLoop = this.#rounds(() => this.#send(), CLAIM_POLL_MS)
  /** Apart from the others, so that lanes are kept while one of those waits for the database. */
  readonly #keeping = this.#rounds(() => this.#keeper.keep().then(() => false), RECALL_POLL_MS)
  /** What comes into hand comes one batch after the other, so that nothing overtakes what is older. */
  #buffering: Promise<unknown> = Promise.resolve()
  #mark: PageCheckpoint = this.#endpointQueues.snapshot()
  #stopped = false
  #last_fan_out_ms = 0
  /** Since when each time something was announced; undefined: nothing was. */
  #backlog_since_ms: number | undefined
  #recovered_ms = -Infinity
  /** When the endpoints were asked for, of the announcements that are being taken. */
  #asked_ms = 0

  constructor(cell: CellName, db: DeliveryDb, options: DeliveryOptions) {
    this.#cell = cell
    this.#db = db
    this.#leases = new EndpointLeases(db)
    this.#directDispatch = this.#handOf()
    this.#options = options
    const { targets, product, attempt_ms_max, clock, schedule_s, log, metrics, gather_ms } = options
    const now_ms = (this.#now_ms = options.now_ms ?? (() => performance.now()))
    this.#opener = new SecretsCache(options.vault)
    this.#brokers = options.sinks?.(cell) ?? []
    const sandbox = cell.startsWith('sandbox')
    const endpointQueues = this.#endpointQueues
    const mayBegin = (endpoint: Address) => endpointQueues.isOurs(endpoint, now_ms())
    this.#sender = (options.sender ?? senderOf)({
      targets,
      sandbox,
      product,
      mayBegin,
      ...(attempt_ms_max !== undefined && { attempt_ms_max }),
    })
    const onError = (error: unknown, message: string) => this.#report(error, message)
    this.#recorder = new AttemptRecorder(db, {
      owner: this.owner,
      now_ms,
      gather_ms,
      onError: (error) => onError(error, 'recording deliveries failed'),
      onWritten: (count) => endpointQueues.release(count),
    })
    const means = { sender: this.#sender, clock, now_ms, schedule_s, throttles: (id: string) => endpointQueues.throttles(id) }
    const onCapacity = (id: string) => this.#hasCapacityFor(id)
    const recorder = this.#recorder
    this.#flights = new InFlightDeliveries({ cell, lanes: endpointQueues, recorder, means, log, metrics, onCapacity, onError })
    this.#keeper = new LaneKeeper({ db, leases: this.#leases, lanes: endpointQueues, flights: this.#flights, now_ms })
  }

  start(): void {
    this.#db.onEventNotification = () => {
      this.#fanOutLoop.wake()
      this.#claimLoop.wake()
    }
    this.#fanOutLoop.start()
    this.#claimLoop.start()
    this.#keeping.start()
  }

  /** Claim nothing more, wait for what is in the air, let others have the lanes. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all([this.#fanOutLoop.stop(), this.#claimLoop.stop()])
    for (const id of this.#endpointQueues.inUse) await this.#flights.returnDeliveries(id)
    await this.#flights.whenIdle()
    await this.#keeping.stop()
    await this.#leases.endAllLeases().catch(() => 0)
    this.#sender.close()
  }

  /** Who it is in leases. */
  get owner(): string {
    return this.#leases.owner
  }

  /** One round of the work that `start` begins, for a simulation that decides what happens when. */
  async runRound(kind: 'fan out' | 'send' | 'keep' | 'write'): Promise<void> {
    if (kind === 'fan out') await this.#fanOutRound()
    else if (kind === 'send') await this.#send()
    else if (kind === 'keep') await this.#keeper.keep()
    else await this.#recorder.flush()
  }

  /** Deliver what is due, and what falls due meanwhile, and return. */
  async drain(): Promise<void> {
    await recoverExpiredBatches(this.#db.asyncCommit)
    const keeping = setInterval(() => void this.#keeper.keep().catch(() => {}), RECALL_POLL_MS)
    try {
      for (;;) {
        const { announcements } = await this.#fanOut(EVENTS_MAX)
        const claimed = await this.#claim()
        await this.#flights.whenIdle()
        if (announcements === 0 && claimed === 0) break
      }
    } finally {
      clearInterval(keeping)
    }
    await this.#leases.endAllLeases()
  }

  /** Queue deliveries of what was announced, or take them into hand. @returns whether there may be more */
  async #fanOutRound(): Promise<boolean> {
    const now_ms = this.#now_ms()
    const events_max = this.#recorder.hasBacklog ? 0 : this.#fanOutLimit(now_ms)
    if (events_max === 0) return true
    this.#last_fan_out_ms = now_ms
    const { announcements, hasMore } = await this.#fanOut(events_max)
    if (announcements === 0) this.#backlog_since_ms = undefined
    else this.#backlog_since_ms ??= now_ms
    return hasMore
  }

  /** How many events to take now; 0: none yet. What is announced may wait a moment for room, but not for endpoints that are slow. */
  #fanOutLimit(now_ms: number): number {
    const fanOutBudget = this.#endpointQueues.appetite(now_ms)
    const waited_ms = now_ms - this.#last_fan_out_ms
    if (fanOutBudget !== undefined) {
      if (fanOutBudget.all >= MIN_BATCH_EVENTS) return fanOutBudget.all
      return waited_ms >= FAN_OUT_WAIT_MS ? Math.max(fanOutBudget.some, 1) : 0
    }
    if (this.#backlog_since_ms === undefined) return EVENTS_MAX
    if (now_ms - this.#backlog_since_ms >= CATCH_UP_MS) return EVENTS_MAX
    return waited_ms >= FAN_OUT_WAIT_MS ? CATCH_UP_EVENTS : 0
  }

  #fanOut(events_max: number): Promise<FanOutResult> {
    const sinks = [feedSink, ...this.#brokers, endpointSink(this.#options.findDeletedUsers, this.#directDispatch)]
    return this.#serialize(() => fanOut(this.#db, sinks, events_max))
  }

  #handOf(): DirectDispatch {
    return {
      leases: this.#leases,
      acquireObject: () => {
        this.#mark = this.#endpointQueues.snapshot()
        this.#asked_ms = this.#now_ms()
        this.#keeper.putBackLapsed(this.#asked_ms)
      },
      asked_ms: () => this.#asked_ms,
      capacity: (id) =>
        this.#endpointQueues.isUnchangedSince(id, this.#mark) ? this.#endpointQueues.directCapacity(id, this.#now_ms()) : 0,
      roomOfTeam: (team) => this.#endpointQueues.roomOfTeam(team),
      onBatch: (batch, endpoints) => this.#bufferClaimed(batch, endpoints),
      onBacklog: (id, isBehind) => {
        this.#endpointQueues.setBacklogged(id, isBehind)
        if (isBehind) this.#claimLoop.wake(true)
      },
    }
  }

  #bufferClaimed(batch: DispatchBatch, endpoints: Map<string, Held>): void {
    this.#recorder.track(batch)
    const { ready, unreadable } = this.#open(
      [...new Set(batch.items.map((item) => item.webhook_id))].map((id) => endpoints.get(id)!),
    )
    const moved = new Set<string>()
    const unsent: Delivery[] = []
    for (const item of batch.items) {
      const { webhook_id } = item
      const endpoint = ready.get(webhook_id)
      if (!endpoint) {
        unsent.push(item)
        continue
      }
      this.#endpointQueues.add(webhook_id, { item, endpoint, taken_ms: batch.taken_ms }, endpoint, batch.taken_ms)
      if (!this.#endpointQueues.isUnchangedSince(webhook_id, this.#mark)) moved.add(webhook_id)
    }
    for (const id of ready.keys()) {
      const isHeld = this.#endpointQueues.hold(id, this.#asked_ms, endpoints.get(id)!.left_s * 1000)
      if (moved.has(id) || !isHeld) void this.#flights.returnDeliveries(id)
      else this.#flights.sendQueued(id)
    }
    // Before anything else is taken or claimed, so that nothing overtakes it.
    if (unsent.length) void this.#serialize(() => this.#leave(unsent, unreadable))
  }

  #open(endpoints: Endpoint[]): { ready: Map<string, SendableEndpoint>; unreadable: string[] } {
    const { ready, unreadable, again } = this.#opener.openAll(endpoints, (one, cause) => this.#reportUnreadable(one, cause))
    if (again.length)
      void clearUnreadable(this.#db.queries, again).catch((error: unknown) => this.#report(error, 'delivering failed'))
    return { ready, unreadable }
  }

  #reportUnreadable({ id, team_id }: Endpoint, cause: unknown): void {
    const { log, metrics } = this.#options
    metrics.unreadable(this.#cell, 'webhook')
    const fields = { cell: this.#cell, 'team.id': team_id, 'webhook.id': id, causes: errorFields(cause) }
    log.error(fields, 'the secret or the headers of an endpoint cannot be decrypted; nothing is sent to it until they can be')
  }

  /** Deliveries of endpoints that cannot be opened wait in the database, and the endpoints are left alone. */
  async #leave(items: Delivery[], unreadable: string[]): Promise<void> {
    try {
      await pauseUnreadable(this.#db.queries, unreadable)
      await this.#recorder.returnDeliveries(items)
    } catch (error) {
      this.#report(error, 'putting deliveries back failed')
    }
  }

  async #send(): Promise<boolean> {
    await this.#recover()
    await this.#recorder.persistOldDeliveries()
    const claimed = await this.#claim()
    for (const id of this.#endpointQueues.takeBlocked()) this.#flights.sendQueued(id)
    return claimed > 0
  }

  #hasCapacityFor(id: string): void {
    if (this.#endpointQueues.needsRefillFromDatabase(id)) this.#claimLoop.wake(true)
  }

  #serialize<R>(task: () => Promise<R>): Promise<R> {
    const done = this.#buffering.then(task)
    this.#buffering = done.catch(() => {})
    return done
  }

  #rounds(round: () => Promise<boolean>, poll_ms: number): QueueLoop {
    const onError = (error: unknown) => this.#report(error, 'delivering failed')
    return new QueueLoop({ round, poll_ms, pace_ms: PACE_MS, idle_pace_ms: IDLE_PACE_MS, onError })
  }

  /** What nobody has in hand any more falls due. */
  async #recover(): Promise<void> {
    const now_ms = this.#now_ms()
    if (now_ms - this.#recovered_ms < RECOVER_MS) return
    this.#recovered_ms = now_ms
    await recoverExpiredBatches(this.#db.asyncCommit)
  }

  #report(error: unknown, message: string): void {
    if (!this.#stopped) this.#options.log.error({ cell: this.#cell, causes: errorFields(error) }, message)
  }

  #claim(): Promise<number> {
    return this.#serialize(() => this.#claimNow())
  }

  /** Claim what there is room for and send it. @returns how many */
  async #claimNow(): Promise<number> {
    const asked_ms = this.#now_ms()
    this.#keeper.putBackLapsed(asked_ms)
    const capacity = this.#endpointQueues.room(asked_ms)
    if (capacity.total <= 0) return 0
    const claimed = await claimDue(this.#db, this.#leases, capacity)
    const counts = new Map<string, number>()
    for (const { webhook_id } of claimed) counts.set(webhook_id, (counts.get(webhook_id) ?? 0) + 1)
    for (const [id, asked] of capacity.lanes)
      if (asked > 0) this.#endpointQueues.setBacklogged(id, (counts.get(id) ?? 0) >= asked)
    if (claimed.length === 0) return 0
    const people = claimed.flatMap(({ team_id, user_id }) => (user_id === null ? [] : [{ team_id, user_id }]))
    const [endpoints, deleted] = await Promise.all([
      loadEndpoints(this.#db.queries, [...counts.keys()]),
      people.length ? this.#options.findDeletedUsers(this.#db.queries, people) : new Set<string>(),
    ])
    const { ready, unreadable } = this.#open(endpoints)
    const dropped: Claimed[] = []
    const unsent: Claimed[] = []
    for (const row of claimed) {
      const endpoint = ready.get(row.webhook_id)
      const item = row.user_id !== null && deleted.has(row.user_id) ? undefined : deliveryOf(row, asked_ms)
      if (endpoint && item) this.#endpointQueues.add(endpoint.id, { item, endpoint, taken_ms: asked_ms }, endpoint, asked_ms)
      else if (item && unreadable.includes(row.webhook_id)) unsent.push(row)
      else dropped.push(row)
    }
    // First of all: nothing that fails below may keep from being sent what is in hand.
    for (const id of ready.keys())
      if (!this.#endpointQueues.hold(id, asked_ms, ENDPOINT_LEASE_S * 1000)) void this.#flights.returnDeliveries(id)
    for (const id of this.#endpointQueues.inUse) this.#flights.sendQueued(id)
    if (unreadable.length) {
      await pauseUnreadable(this.#db.queries, unreadable)
      await returnDeliveries(this.#db, unsent)
    }
    await deleteDeliveries(this.#db.queries, dropped)
    return claimed.length
  }
}

/** Undefined: there is nothing to send any more. */
function deliveryOf(row: Claimed, created_ms: number): Delivery | undefined {
  const { body, type, user_id: _, ...rest } = row
  if (body === null || type === null) return undefined
  const msg = messageId(row.message_id)
  return { ...rest, has_row: true, handful: undefined, msg, type, body: Buffer.from(body), taken_ms: created_ms }
}

const senderOf = (options: SenderOptions): Sender => new Sender(options)
