// The second part of delivery: sends buffered deliveries within the limits of their endpoint and team, and hands the outcome of
// each attempt to the recorder.
import { iso, truncateToSeconds } from '../../../platform/runtime/clock.ts'
import type { CellName } from '../../../platform/db/cell-names.ts'
import type { Log } from '../../../platform/telemetry/log.ts'
import type { Metrics } from '../../../platform/telemetry/metrics.ts'
import { sendCopies, type AttemptResult, type AttemptDependencies } from './attempt.ts'
import { LEASE_S } from '../../delivery-queue/delivery-queue.ts'
import type { Delivery } from '../../delivery-queue/delivery.ts'
import type { EndpointQueues } from './endpoint-queues.ts'
import type { SendableEndpoint } from '../../delivery-queue/sendable-endpoint.ts'
import type { AttemptRecorder } from '../record/record-outcomes.ts'
import { nextHealth, healthy, nextDelay } from '../../delivery-queue/retry-schedule.ts'

/** A delivery is buffered no longer than this: its attempt has to end before its lease. */
const WAIT_MS_MAX = (LEASE_S * 1000) / 3

/** A delivery that is claimed and not yet sent. */
export interface BufferedDelivery {
  item: Delivery
  endpoint: SendableEndpoint
  taken_ms: number
}

export interface DeliverySenderOptions {
  cell: CellName
  queues: EndpointQueues<BufferedDelivery>
  recorder: AttemptRecorder
  dependencies: AttemptDependencies
  log: Log
  metrics: Metrics
  /** An endpoint has room again. */
  onCapacity: (id: string) => void
  onError: (error: unknown, message: string) => void
}

export class DeliverySender {
  readonly #options: DeliverySenderOptions
  /** Attempts that are in flight or not yet recorded, and the callers that wait until there are none. */
  #inFlight = 0
  #awaiting: (() => void)[] = []
  readonly #logs = new WeakMap<SendableEndpoint, Log>()

  constructor(options: DeliverySenderOptions) {
    this.#options = options
  }

  /** Resolves when no attempt is in flight and every outcome is recorded. */
  async whenIdle(): Promise<void> {
    const { recorder } = this.#options
    do {
      if (this.#inFlight) await new Promise<void>((resolve) => this.#awaiting.push(resolve))
      await recorder.flush()
    } while (this.#inFlight)
  }

  /** Sends the buffered deliveries of an endpoint, as far as there are free slots. */
  sendQueued(id: string): void {
    const { queues, dependencies } = this.#options
    const now_ms = dependencies.now_ms()
    for (let waiting = queues.next(id, now_ms); waiting; waiting = queues.next(id, now_ms)) {
      if (now_ms - waiting.taken_ms > WAIT_MS_MAX) {
        queues.releaseSlot(id)
        void this.returnDeliveries(id, [waiting])
        return
      }
      if (queues.tryAcquireObject(id, orderingKey(waiting), waiting)) this.#startAttempt(waiting)
    }
  }

  /**
   * Returns the buffered deliveries of an endpoint to the database. @param before deliveries that have left the queue and are
   * returned as well
   */
  async returnDeliveries(id: string, before: BufferedDelivery[] = []): Promise<void> {
    const { queues, recorder, dependencies, onError } = this.#options
    const all = queues.takeQueued(id, before)
    queues.release(all.length)
    if (all.length === 0) return
    await recorder
      .returnDeliveries(all.map(({ item }) => item))
      .catch((error: unknown) => onError(error, 'failed to return deliveries to the queue'))
    queues.requeued(id, dependencies.now_ms())
  }

  #startAttempt(waiting: BufferedDelivery): void {
    const { item, endpoint } = waiting
    const { queues, dependencies, onError } = this.#options
    this.#inFlight++
    try {
      sendCopies(item, endpoint, dependencies, (result) =>
        result ? this.#finishAttempt(waiting, result) : this.#returnUnsent(waiting),
      )
    } catch (error) {
      queues.releaseSlot(endpoint.id)
      onError(error, 'a delivery failed')
      this.#startNextForObject(waiting)
      queues.release(1)
      this.#resolveIfIdle()
    }
  }

  #finishAttempt(waiting: BufferedDelivery, ended: AttemptResult): void {
    this.#startNextForObject(waiting)
    const written = this.#recordOutcome(waiting, ended)
    if (written) void this.#awaitRecord(written)
    else this.#resolveIfIdle()
  }

  /** An attempt has ended: the next delivery about the same object, which waited for it, is sent. */
  #startNextForObject(waiting: BufferedDelivery): void {
    const { queues, dependencies } = this.#options
    const { id } = waiting.endpoint
    const next = queues.releaseObject(id, orderingKey(waiting))
    if (!next) return
    const now_ms = dependencies.now_ms()
    if (queues.isOurs(next.endpoint, now_ms) && now_ms - next.taken_ms <= WAIT_MS_MAX) return this.#startAttempt(next)
    // Its slot is free again, and so are the slots of all deliveries that waited behind it.
    queues.releaseSlot(id)
    void this.returnDeliveries(id, [next])
    this.#startNextForObject(next)
  }

  /** An attempt has not begun and will not, since this process no longer has the lease of its endpoint. */
  #returnUnsent(waiting: BufferedDelivery): void {
    const { id } = waiting.endpoint
    this.#startNextForObject(waiting)
    this.#options.queues.releaseSlot(id)
    void this.returnDeliveries(id, [waiting])
    this.#resolveIfIdle()
  }

  async #awaitRecord(written: Promise<void>): Promise<void> {
    const { queues, onError } = this.#options
    try {
      await written
    } catch (error) {
      // The lease of a delivery that is not recorded ends, and the delivery becomes due again.
      onError(error, 'a delivery failed')
    } finally {
      queues.release(1)
      this.#resolveIfIdle()
    }
  }

  #resolveIfIdle(): void {
    if (--this.#inFlight) return
    const awaiting = this.#awaiting
    this.#awaiting = []
    for (const resolve of awaiting) resolve()
  }

  /**
   * Records an attempt. A success frees its slot at once; after a failure nothing more is sent before its consequences are recorded.
   * @returns undefined: nothing waits for the record
   */
  #recordOutcome({ item, endpoint }: BufferedDelivery, ended: AttemptResult): Promise<void> | undefined {
    const { queues, recorder, dependencies, metrics, cell } = this.#options
    const { outcome, failures, end } = ended
    const { succeeded } = outcome
    const { id } = endpoint
    // The response of a former address says nothing about the endpoint.
    const isFormer = queues.isFormer(endpoint)
    const gone = ended.isGone && !isFormer
    if (ended.isGone && isFormer) outcome.next_s = nextDelay(dependencies.schedule_s, failures, undefined, Math.random())
    const pause_s = isFormer ? undefined : ended.pause_s
    const health = isFormer ? { ...healthy, dead: false } : nextHealth(queues.health(id), succeeded, end)
    if (!isFormer) queues.setHealth(id, health)
    if (gone || health.dead) queues.revoke(id, dependencies.now_ms())
    const written = recorder.record(outcome, {
      schedule_length: dependencies.schedule_s.length,
      failures,
      disable: gone || health.dead,
      dead_since_text: health.dead ? iso(truncateToSeconds(health.failing_since ?? end)) : undefined,
      pause_s,
      health,
      changed:
        !isFormer &&
        (pause_s !== undefined ||
          health.first_failure_at?.getTime() !== endpoint.health.first_failure_at?.getTime() ||
          health.failing_since?.getTime() !== endpoint.health.failing_since?.getTime()),
    })
    const now_ms = dependencies.now_ms()
    queues.recordResult(id, outcome, now_ms, pause_s === undefined ? undefined : now_ms + pause_s * 1000)
    metrics.countDelivery(cell, succeeded ? 'success' : 'failure', outcome.duration_ms / 1000)
    this.#logAttempt(item, endpoint, ended)
    if (!succeeded)
      return Promise.all([this.returnDeliveries(id), written])
        .then(logRejection)
        .finally(() => this.#releaseSlot(id))
    this.#releaseSlot(id)
    return written
  }

  #releaseSlot(id: string): void {
    const { queues } = this.#options
    queues.releaseSlot(id)
    for (const isSlow of KINDS) {
      const blocked = queues.nextBlocked(isSlow)
      if (blocked !== undefined) this.sendQueued(blocked)
    }
    this.sendQueued(id)
    this.#options.onCapacity(id)
  }

  /** Successful attempts are in the delivery log, and logged at level debug only. */
  #logAttempt({ msg, type }: Delivery, endpoint: SendableEndpoint, { outcome, failures }: AttemptResult): void {
    const { response_status: status, error, duration_ms, succeeded } = outcome
    const level = succeeded ? 'debug' : 'info'
    if (!this.#options.log.isLevelEnabled(level)) return
    this.#loggerFor(outcome.item, endpoint)[level](
      error === null
        ? { 'message.id': msg, type, attempt: failures, status, duration_ms }
        : { 'message.id': msg, type, attempt: failures, ...(status !== null && { status }), error, duration_ms },
      'delivery attempted',
    )
  }

  /** The common fields of all log lines about an endpoint are serialized once. */
  #loggerFor({ team_id, webhook_id }: Delivery, endpoint: SendableEndpoint): Log {
    let log = this.#logs.get(endpoint)
    if (!log) {
      const { log: all, cell } = this.#options
      log = all.child({ cell, 'team.id': team_id, 'webhook.id': webhook_id })
      this.#logs.set(endpoint, log)
    }
    return log
  }
}

const KINDS = [false, true] as const
const orderingKey = ({ item }: BufferedDelivery): string => item.object_id ?? item.message_id
const logRejection = () => {}
