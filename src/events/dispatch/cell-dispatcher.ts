// Delivers webhooks in one cell, in three parts: claims what is sent next (claim/), sends it within limits (send/) and records the outcomes
// (record/). At least once: nothing is recorded before it has happened, and what is not recorded is sent again.
import type { CellName } from '../../platform/db/cell-names.ts'
import { QueueLoop, type QueueLoopOptions } from '../../platform/queue/queue-loop.ts'
import { errorFields } from '../../platform/telemetry/log.ts'
import { EndpointLeases } from '../delivery-queue/endpoint-leases.ts'
import type { DeliveryDb } from '../fan-out/fan-out.ts'
import { DeliveryClaims } from './claim/claim-deliveries.ts'
import { EndpointLeaseKeeper } from './claim/endpoint-lease-keeper.ts'
import type { DeliveryOptions } from './dispatch-options.ts'
import { AttemptRecorder } from './record/record-outcomes.ts'
import { EndpointQueues } from './send/endpoint-queues.ts'
import { Sender, type SenderOptions } from './send/http-sender.ts'
import { DeliverySender, type BufferedDelivery } from './send/send-deliveries.ts'
import type { Cells } from '../../platform/db/cells.ts'

/** Interval for deliveries that become due by the clock. */
const CLAIM_POLL_MS = 500
/** While there is more, rounds are this far apart, so that each claims a batch. */
const PACE_MS = 5
/** Time between rounds that find nothing: most transactions leave nothing to deliver. */
const IDLE_PACE_MS = 25
/**
 * Interval in which revoked leases are checked: a request that deletes or disables an endpoint waits for the owner of its
 * lease.
 */
const REVOCATION_POLL_MS = 200

/** Delivers in one cell. */
export class CellDelivery {
  readonly #cell: CellName
  readonly #db: DeliveryDb
  readonly #options: DeliveryOptions
  readonly #leases: EndpointLeases
  readonly #queues = new EndpointQueues<BufferedDelivery>()
  readonly #claims: DeliveryClaims
  readonly #sender: DeliverySender
  readonly #recorder: AttemptRecorder
  readonly #http: Pick<Sender, 'post' | 'close'>
  readonly #keeper: EndpointLeaseKeeper
  readonly #fanOutLoop = this.#loop(
    () => this.#claims.fanOutRound(),
    () => this.#claims.fanOutPoll.ms,
  )
  readonly #claimLoop = this.#loop(() => this.#claimRound(), CLAIM_POLL_MS)
  /** Separate from the other loops, so that leases are renewed while one of those waits for the database. */
  readonly #keepLoop = this.#loop(() => this.#keeper.keep().then(() => false), REVOCATION_POLL_MS)
  #isStopped = false

  constructor(cell: CellName, db: DeliveryDb, options: DeliveryOptions) {
    const { targets, product, attempt_ms_max, clock, schedule_s, log, metrics, gather_ms } = options
    const now_ms = options.now_ms ?? (() => performance.now())
    const queues = this.#queues
    const onError = (error: unknown, message: string) => this.#report(error, message)
    this.#cell = cell
    this.#db = db
    this.#options = options
    const leases = (this.#leases = new EndpointLeases(db))
    this.#http = (options.sender ?? senderOf)({
      targets,
      sandbox: cell.startsWith('sandbox'),
      product,
      mayBegin: (endpoint) => queues.isOurs(endpoint, now_ms()),
      ...(attempt_ms_max !== undefined && { attempt_ms_max }),
    })
    const recorder = (this.#recorder = new AttemptRecorder(db, {
      owner: leases.owner,
      now_ms,
      gather_ms,
      onError: (error) => onError(error, 'failed to record delivery attempts'),
      onWritten: (count) => queues.release(count),
    }))
    const sender = (this.#sender = new DeliverySender({
      cell,
      queues,
      recorder,
      dependencies: { sender: this.#http, clock, now_ms, schedule_s, throttles: (id) => queues.throttles(id) },
      log,
      metrics,
      onCapacity: (id) => {
        if (queues.needsRefillFromDatabase(id)) this.#claimLoop.wake(true)
      },
      onError,
    }))
    const keeper = (this.#keeper = new EndpointLeaseKeeper({ db, leases, queues, sender, now_ms }))
    const onBacklog = () => this.#claimLoop.wake(true)
    const parts = { queues, sender, recorder, keeper }
    this.#claims = new DeliveryClaims({ cell, db, leases, ...parts, delivery: options, now_ms, onBacklog, onError })
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
  }

  /** The owner in its leases. */
  get owner(): string {
    return this.#leases.owner
  }

  /** One round of the work that `start` begins, for a simulation that decides what happens when. */
  async runRound(kind: 'fan out' | 'send' | 'keep' | 'write'): Promise<void> {
    if (kind === 'fan out') await this.#claims.fanOutRound()
    else if (kind === 'send') await this.#claimRound()
    else if (kind === 'keep') await this.#keeper.keep()
    else await this.#recorder.flush()
  }

  /** Delivers what is due or becomes due meanwhile, and returns. */
  async drain(): Promise<void> {
    // The next renewal repeats one that failed.
    const keeping = setInterval(() => void this.#keeper.keep().catch(() => {}), REVOCATION_POLL_MS)
    try {
      for (;;) {
        const { entries } = await this.#claims.fanOut()
        const claimed = await this.#claims.claim()
        await this.#sender.whenIdle()
        if (entries === 0 && claimed === 0) break
      }
    } finally {
      clearInterval(keeping)
    }
    await this.#leases.endAllLeases()
  }

  async #claimRound(): Promise<boolean> {
    const claimed = await this.#claims.claim()
    for (const id of this.#queues.takeBlocked()) this.#sender.sendQueued(id)
    return claimed > 0
  }

  #loop(round: () => Promise<boolean>, poll_ms: QueueLoopOptions['poll_ms']): QueueLoop {
    const onError = (error: unknown) => this.#report(error, 'delivery loop failed')
    return new QueueLoop({ round, poll_ms, pace_ms: PACE_MS, idle_pace_ms: IDLE_PACE_MS, onError })
  }

  #report(error: unknown, message: string): void {
    if (!this.#isStopped) this.#options.log.error({ cell: this.#cell, causes: errorFields(error) }, message)
  }
}

const senderOf = (options: SenderOptions): Sender => new Sender(options)

/** Delivery in every cell of a process, started and stopped with its worker. */
export interface DeliveryWorker {
  start(): void
  /** Waits for the attempts in flight. */
  stop(): Promise<void>
  /** Delivers what is due and returns; for tests. */
  drain(): Promise<void>
}

export function createDeliveryWorker(cells: Cells, options: DeliveryOptions): DeliveryWorker {
  const all = cells.names.map((name) => new CellDelivery(name, cells.of(name), options))
  const forEachCell = async (call: (cell: CellDelivery) => Promise<void>) => void (await Promise.all(all.map(call)))
  return {
    start: () => all.forEach((cell) => cell.start()),
    stop: () => forEachCell((cell) => cell.stop()),
    drain: () => forEachCell((cell) => cell.drain()),
  }
}
