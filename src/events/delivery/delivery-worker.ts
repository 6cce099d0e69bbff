// Delivers messages to webhook endpoints and brokers in one cell. Start to read here. Three loops run:
// - fan out: outbox entries become delivery rows (fan-out.ts); deliveries that can be sent now are leased to this process and buffered;
// - claim: due deliveries, of earlier failures and of destinations without room, are leased and buffered (delivery-rows.ts);
// - keep: the leases of destinations are renewed, and revoked ones released (leases.ts).
// What is buffered is sent within limits, and its outcome recorded (deliver.ts).
import type { CellName } from '../../settings/cells.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import { QueueLoop } from '../../platform/queue/queue-loop.ts'
import { errorFields, type Log } from '../../platform/telemetry/log.ts'
import type { Metrics } from '../../platform/telemetry/metrics.ts'
import { Brokers } from '../brokers/adapters/adapters.ts'
import type { PubSubProjects } from '../brokers/pipelines.ts'
import { messageId } from '../catalog/message-id.ts'
import type { FindDeletedUsers } from '../feed/feed.ts'
import { BrokerDestination } from './broker-destination.ts'
import { DeliverySender } from './deliver.ts'
import { claimDue, returnDeliveries, stopClaimed, type Claimed } from './delivery-rows.ts'
import type { Delivery, Destination, Target } from './destination.ts'
import { clearUnreadable, loadDestinations, pauseUnreadable, type DestinationRow } from './destination-rows.ts'
import { EVENTS_MAX, fanOut, type FanOutResult } from './fan-out.ts'
import { Sender, type SenderOptions } from './http-sender.ts'
import { acknowledgeRevocations, DestinationLeases, DESTINATION_LEASE_S, listRevoked, type DeliveryDb } from './leases.ts'
import { DestinationQueues } from './limits.ts'
import { AttemptRecorder } from './record-outcomes.ts'
import { BROKER_SCHEDULE_S } from './retry-schedule.ts'
import { BatchFaults, type DeliveryFaults } from './sandbox-faults.ts'
import { WebhookDestination } from './webhook-destination.ts'

/** Interval for deliveries that become due by the clock. */
const CLAIM_POLL_MS = 500
/** While there is more, rounds are this far apart, so that each claims a batch. */
const PACE_MS = 5
/** Time between rounds that find nothing: most transactions leave nothing to deliver. */
const IDLE_PACE_MS = 25
/** Interval after which events committed by another process are seen; other processes cannot wake this one. */
const FAN_OUT_POLL_MS = 250
/** Maximum time that fan-out waits for endpoints that keep up. */
const FAN_OUT_WAIT_MS = 50
/** Minimum number of events for a transaction, if the events have to wait otherwise. */
const MIN_BATCH_EVENTS = 200
/** Time during which little is fanned out while deliveries wait for all endpoints: a delivery that is leased when it is inserted costs less. */
const CATCH_UP_MS = 1000
const CATCH_UP_EVENTS = 100
/**
 * Interval in which revoked leases are checked: a request that deletes or disables an endpoint waits for the owner of its
 * lease.
 */
const REVOCATION_POLL_MS = 200
const RENEW_MS = 1500
const BROKER_CONNECTIONS_MAX = 100

/** The dependencies of delivery, and the replacements for clocks and network that tests may pass. */
export interface DeliveryOptions {
  vault: Vault
  targets: TargetPolicy
  findDeletedUsers: FindDeletedUsers
  /** The system clock, for signatures and displayed times. Due times and leases go by the database's clock. */
  clock: () => Date
  /** A monotonic clock; that of the process by default. */
  now_ms?: () => number
  /** Creates the sender of requests to receivers; that of `http-sender.ts` by default. */
  sender?: (options: SenderOptions) => Pick<Sender, 'post' | 'close'>
  /** As in `RecorderOptions`. */
  gather_ms?: number
  schedule_s: readonly number[]
  /** Seconds between the attempts at a broker; `BROKER_SCHEDULE_S` by default. */
  broker_schedule_s?: readonly number[]
  /** The faults that sandbox teams ask for; none by default. */
  faults?: DeliveryFaults
  pubsub_projects: PubSubProjects
  /** Host and port of a Pub/Sub emulator that replaces the service. */
  pubsub_emulator_host: string | undefined
  log: Log
  metrics: Metrics
  product: string
  attempt_ms_max?: number
}

/** Delivers in one cell. */
export class CellDelivery {
  readonly #cell: CellName
  readonly #db: DeliveryDb
  readonly #options: DeliveryOptions
  readonly #now_ms: () => number
  readonly #leases: DestinationLeases
  readonly #queues = new DestinationQueues()
  readonly #recorder: AttemptRecorder
  readonly #sender: DeliverySender
  readonly #http: Pick<Sender, 'post' | 'close'>
  readonly #brokers: Brokers
  readonly #webhookDestination: Destination
  readonly #brokerDestination: Destination
  readonly #fanOutLoop = this.#loop(() => this.#fanOutRound(), FAN_OUT_POLL_MS)
  readonly #claimLoop = this.#loop(() => this.#claimRound(), CLAIM_POLL_MS)
  /** Separate from the other loops, so that leases are renewed while one of those waits for the database. */
  readonly #keepLoop = this.#loop(() => this.#keep().then(() => false), REVOCATION_POLL_MS)
  /** Fan-out and claims run one after the other, so that no delivery overtakes an older one. */
  #lastTask: Promise<unknown> = Promise.resolve()
  #last_fan_out_ms = 0
  /** The time since which each round of fan-out found events; undefined: the last one found none. */
  #backlog_since_ms: number | undefined
  #renewed_ms = -Infinity
  #isStopped = false

  constructor(cell: CellName, db: DeliveryDb, options: DeliveryOptions) {
    const { vault, targets, product, attempt_ms_max, clock, schedule_s, log, metrics, gather_ms } = options
    const { pubsub_projects, pubsub_emulator_host } = options
    const queues = this.#queues
    const sandbox = cell.startsWith('sandbox')
    const now_ms = (this.#now_ms = options.now_ms ?? (() => performance.now()))
    const onError = (error: unknown, message: string) => this.#report(error, message)
    this.#cell = cell
    this.#db = db
    this.#options = options
    this.#leases = new DestinationLeases(db)
    const mayBegin = (id: string, address: string) => queues.isOurs(id, address, now_ms())
    const sender = (this.#http = (options.sender ?? createSender)({
      targets,
      sandbox,
      product,
      mayBegin: ({ id, url }) => mayBegin(id, url),
      ...(attempt_ms_max !== undefined && { attempt_ms_max }),
    }))
    this.#webhookDestination = new WebhookDestination({ vault, sender, clock, schedule_s })
    const brokers = (this.#brokers = new Brokers({
      targets,
      pubsub_emulator_host,
      sandbox,
      connections_max: BROKER_CONNECTIONS_MAX,
    }))
    this.#brokerDestination = new BrokerDestination({
      vault,
      brokers,
      pubsub_projects,
      clock,
      now_ms,
      schedule_s: options.broker_schedule_s ?? BROKER_SCHEDULE_S,
      mayBegin: ({ id, address }) => mayBegin(id, address),
    }) as Destination
    const recorder = (this.#recorder = new AttemptRecorder(db, {
      owner: this.#leases.owner,
      queues,
      gather_ms,
      onError: (error) => onError(error, 'failed to record delivery attempts'),
    }))
    this.#sender = new DeliverySender({
      cell,
      queues,
      recorder,
      clock,
      now_ms,
      schedule_s,
      log,
      metrics,
      onError,
      destinationFor: (target) => this.#destinationFor(target),
      onRoom: () => this.#claimLoop.wake(true),
    })
  }

  start(): void {
    this.#db.onEventNotification = () => {
      this.#fanOutLoop.wake()
      this.#claimLoop.wake()
    }
    this.#fanOutLoop.start()
    this.#claimLoop.start()
    this.#keepLoop.start()
  }

  /** Claims nothing more, waits for attempts in flight, and ends the leases of this process. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all([this.#fanOutLoop.stop(), this.#claimLoop.stop()])
    for (const id of this.#queues.inUse) await this.#sender.returnDeliveries(id)
    await this.#sender.whenIdle()
    await this.#keepLoop.stop()
    await this.#leases.endAllLeases().catch(() => 0)
    this.#http.close()
    this.#brokers.close()
  }

  /** The owner in its leases. */
  get owner(): string {
    return this.#leases.owner
  }

  /** One round of the work that `start` begins, for a simulation that decides what happens when. */
  async runRound(kind: 'fan out' | 'send' | 'keep' | 'write'): Promise<void> {
    if (kind === 'fan out') await this.#fanOutRound()
    else if (kind === 'send') await this.#claimRound()
    else if (kind === 'keep') await this.#keep()
    else await this.#recorder.flush()
  }

  /** Delivers what is due or becomes due meanwhile, and returns. */
  async drain(): Promise<void> {
    // The next renewal repeats one that failed.
    const keeping = setInterval(() => void this.#keep().catch(() => {}), REVOCATION_POLL_MS)
    try {
      for (;;) {
        const { entries } = await this.#fanOut(EVENTS_MAX)
        const claimed = await this.#claim()
        await this.#sender.whenIdle()
        if (entries === 0 && claimed === 0) break
      }
    } finally {
      clearInterval(keeping)
    }
    await this.#leases.endAllLeases()
  }

  /** Fans out as many new events as is useful now. @returns whether there may be more */
  async #fanOutRound(): Promise<boolean> {
    const now_ms = this.#now_ms()
    const events_max = this.#recorder.hasBacklog ? 0 : this.#fanOutLimit(now_ms)
    if (events_max === 0) return true
    this.#last_fan_out_ms = now_ms
    const { entries, hasMore } = await this.#fanOut(events_max)
    if (entries === 0) this.#backlog_since_ms = undefined
    else this.#backlog_since_ms ??= now_ms
    return hasMore
  }

  /** Number of events to fan out now; 0: none yet. Events wait a moment for endpoints without room, but not for slow endpoints. */
  #fanOutLimit(now_ms: number): number {
    const budget = this.#queues.fanOutBudget(now_ms)
    const waited_ms = now_ms - this.#last_fan_out_ms
    if (budget !== undefined) {
      if (budget.forAll >= MIN_BATCH_EVENTS) return budget.forAll
      return waited_ms >= FAN_OUT_WAIT_MS ? Math.max(budget.forSome, 1) : 0
    }
    if (this.#backlog_since_ms === undefined || now_ms - this.#backlog_since_ms >= CATCH_UP_MS) return EVENTS_MAX
    return waited_ms >= FAN_OUT_WAIT_MS ? CATCH_UP_EVENTS : 0
  }

  /** Fans out events, and begins to send the deliveries that this process has leased. */
  #fanOut(events_max: number): Promise<FanOutResult> {
    return this.#serialize(async () => {
      this.#returnLapsed()
      const { findDeletedUsers } = this.#options
      const options = { leases: this.#leases, queues: this.#queues, findDeletedUsers, faults: this.#faults, now_ms: this.#now_ms }
      const result = await fanOut(this.#db, options, events_max)
      for (const [id, hasBacklog] of result.backlogs) this.#queues.setBacklogged(id, hasBacklog)
      if ([...result.backlogs.values()].includes(true)) this.#claimLoop.wake(true)
      await this.#bufferFresh(result)
      return result
    })
  }

  /** Puts fresh deliveries into the queues of their destinations, and begins to send them. */
  async #bufferFresh({ leasedDeliveries, destinations, asked_ms }: FanOutResult): Promise<void> {
    const ids = new Set(leasedDeliveries.map(({ destination_id }) => destination_id))
    const { ready, unreadable } = this.#prepare([...ids].map((id) => destinations.get(id)!))
    const unsent: Delivery[] = []
    for (const delivery of leasedDeliveries) {
      const target = ready.get(delivery.destination_id)
      if (target) this.#queues.add({ delivery, target, leased_ms: asked_ms }, asked_ms)
      else unsent.push(delivery)
    }
    for (const id of ready.keys()) {
      const isHeld = this.#queues.hold(id, asked_ms, destinations.get(id)!.left_s * 1000)
      // Older deliveries may have been returned to the database since, and must not be overtaken.
      if (isHeld && this.#queues.isSettledSince(id, asked_ms)) this.#sender.sendQueued(id)
      else void this.#sender.returnDeliveries(id)
    }
    await this.#postpone(unreadable, unsent)
  }

  async #claimRound(): Promise<boolean> {
    const claimed = await this.#claim()
    for (const id of this.#queues.takeBlocked()) this.#sender.sendQueued(id)
    return claimed > 0
  }

  /** Claims due deliveries, as many as there is room for, and begins to send them. @returns their number */
  #claim(): Promise<number> {
    return this.#serialize(async () => {
      this.#returnLapsed()
      const asked_ms = this.#now_ms()
      const limits = this.#queues.claimLimits(asked_ms)
      if (limits.total <= 0) return 0
      const claimed = await claimDue(this.#db, this.#leases, limits)
      const counts = new Map<string, number>()
      for (const { destination_id } of claimed) counts.set(destination_id, (counts.get(destination_id) ?? 0) + 1)
      for (const [id, room] of limits.destinations) if (room > 0) this.#queues.setBacklogged(id, (counts.get(id) ?? 0) >= room)
      if (claimed.length) await this.#bufferClaimed(claimed, asked_ms)
      return claimed.length
    })
  }

  async #bufferClaimed(claims: Claimed[], asked_ms: number): Promise<void> {
    const { queries } = this.#db
    const users = claims.filter(({ user_id }) => user_id !== null)
    const [rows, deleted] = await Promise.all([
      loadDestinations(queries, [...new Set(claims.map(({ destination_id }) => destination_id))]),
      users.length ? this.#options.findDeletedUsers(queries, users) : new Set<string>(),
    ])
    const { ready, unreadable } = this.#prepare(rows)
    const faults = new BatchFaults(this.#faults, queries)
    const unwanted: Claimed[] = []
    const unsent: Claimed[] = []
    for (const row of claims) {
      const target = ready.get(row.destination_id)
      const delivery = row.user_id !== null && deleted.has(row.user_id) ? undefined : toDelivery(row)
      if (target && delivery) {
        if (delivery.is_event && !target.isBatch) delivery.copies = await faults.copies(delivery.team_id, delivery.type)
        this.#queues.add({ delivery, target, leased_ms: asked_ms }, asked_ms)
      } else if (delivery && unreadable.includes(row.destination_id)) unsent.push(row)
      else unwanted.push(row)
    }
    // First of all: an error below must not keep buffered deliveries from being sent.
    for (const id of ready.keys())
      if (!this.#queues.hold(id, asked_ms, DESTINATION_LEASE_S * 1000)) void this.#sender.returnDeliveries(id)
    for (const id of this.#queues.inUse) this.#sender.sendQueued(id)
    await this.#postpone(unreadable, unsent)
    await stopClaimed(queries, unwanted)
  }

  /** Decrypts destinations, each on its own: a failure concerns only its own destination. */
  #prepare(rows: DestinationRow[]): { ready: Map<string, Target>; unreadable: string[] } {
    const { log, metrics } = this.#options
    const ready = new Map<string, Target>()
    const unreadable: string[] = []
    for (const row of rows)
      try {
        ready.set(row.id, this.#destinationFor(row).prepare(row))
      } catch (cause) {
        unreadable.push(row.id)
        const isWebhook = row.kind === 'webhook'
        metrics.unreadable(this.#cell, isWebhook ? 'webhook' : 'pipeline')
        const what = isWebhook ? 'the secret or the headers of an endpoint' : 'the credentials of a broker'
        log.error(
          {
            cell: this.#cell,
            'team.id': row.team_id,
            ...(isWebhook ? { 'webhook.id': row.id } : { destination: row.kind }),
            causes: errorFields(cause),
          },
          `${what} cannot be decrypted; nothing is sent to it until they can be`,
        )
      }
    const readable = rows.filter(({ id, unreadable: wasUnreadable }) => wasUnreadable && ready.has(id)).map(({ id }) => id)
    if (readable.length)
      void clearUnreadable(this.#db.queries, readable).catch((error: unknown) => this.#report(error, 'delivery loop failed'))
    return { ready, unreadable }
  }

  /** Deliveries for destinations that cannot be decrypted wait in the database, and nothing is sent to these for a while. */
  async #postpone(
    unreadable: string[],
    deliveries: Pick<Delivery, 'team_id' | 'destination_id' | 'message_id' | 'lease'>[],
  ): Promise<void> {
    if (unreadable.length === 0) return
    await pauseUnreadable(this.#db.queries, unreadable)
    await returnDeliveries(this.#db, deliveries)
  }

  /**
   * Renews leases that are about to end and releases revoked ones. Call it several times a second. Writes destination,
   * revoked_lease.
   */
  async #keep(): Promise<void> {
    await this.#renew()
    await this.#releaseRevoked()
  }

  /** Destinations with long attempts are not claimed from meanwhile; their leases are renewed all the same. */
  async #renew(): Promise<void> {
    const now_ms = this.#now_ms()
    const ids = this.#queues.inUse
    if (ids.length === 0 || now_ms - this.#renewed_ms < RENEW_MS) return
    this.#renewed_ms = now_ms
    const renewed = new Set((await this.#leases.renew(ids.map((id) => ({ id })))).map(({ id }) => id))
    for (const id of ids) {
      if (renewed.has(id) && this.#queues.hold(id, now_ms, DESTINATION_LEASE_S * 1000)) this.#sender.sendQueued(id)
      else void this.#sender.returnDeliveries(id)
    }
  }

  /** Releases destinations that were deleted, disabled or changed: a request may wait for it. Attempts in flight continue. */
  async #releaseRevoked(): Promise<void> {
    const { queries } = this.#db
    if (!this.#queues.mayHold(this.#now_ms())) return
    const ids = await listRevoked(queries, this.owner)
    if (ids.length === 0) return
    for (const id of ids) {
      this.#queues.revoke(id, this.#now_ms())
      void this.#sender.returnDeliveries(id)
    }
    await acknowledgeRevocations(queries, this.owner, ids)
  }

  /** Returns the deliveries for destinations whose lease has ended: another process may have claimed them meanwhile. */
  #returnLapsed(): void {
    for (const id of this.#queues.listLapsed(this.#now_ms())) void this.#sender.returnDeliveries(id)
  }

  #destinationFor({ kind }: { kind: Target['kind'] }): Destination {
    return kind === 'webhook' ? this.#webhookDestination : this.#brokerDestination
  }

  get #faults(): DeliveryFaults | undefined {
    return this.#cell.startsWith('sandbox') ? this.#options.faults : undefined
  }

  #serialize<R>(task: () => Promise<R>): Promise<R> {
    const done = this.#lastTask.then(task)
    this.#lastTask = done.catch(() => {})
    return done
  }

  #loop(round: () => Promise<boolean>, poll_ms: number): QueueLoop {
    const onError = (error: unknown) => this.#report(error, 'delivery loop failed')
    return new QueueLoop({ round, poll_ms, pace_ms: PACE_MS, idle_pace_ms: IDLE_PACE_MS, onError })
  }

  #report(error: unknown, message: string): void {
    if (!this.#isStopped) this.#options.log.error({ cell: this.#cell, causes: errorFields(error) }, message)
  }
}

const createSender = (options: SenderOptions): Sender => new Sender(options)

/** Undefined: there is nothing to send any more. */
function toDelivery(row: Claimed): Delivery | undefined {
  const { body, type, created_at, ...rest } = row
  if (body === null || type === null || created_at === null) return undefined
  return { ...rest, msg: messageId(row.message_id), type, created_at, body: Buffer.from(body) }
}

/** Delivery in every cell of a process, started and stopped with its worker. */
export interface DeliveryWorker {
  start(): void
  /** Waits for the attempts in flight. */
  stop(): Promise<void>
  /** Delivers what is due and returns; for tests. */
  drain(): Promise<void>
}

export function createDeliveryWorker(cells: Cells, options: DeliveryOptions): DeliveryWorker {
  const all = cells.names.map((name) => new CellDelivery(name, cells.db(name), options))
  const forEachCell = async (call: (cell: CellDelivery) => Promise<void>) => void (await Promise.all(all.map(call)))
  return {
    start: () => all.forEach((cell) => cell.start()),
    stop: () => forEachCell((cell) => cell.stop()),
    drain: () => forEachCell((cell) => cell.drain()),
  }
}
