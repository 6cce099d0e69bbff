// Deliveries on their way: what waits in hand leaves when its endpoint has room, and is answered, and what came of it is written down.
import { iso, truncateToSeconds } from '../../platform/runtime/clock.ts'
import type { CellName } from '../../platform/db/cell-names.ts'
import type { Log } from '../../platform/telemetry/log.ts'
import type { Metrics } from '../../platform/telemetry/metrics.ts'
import { sendAttempt, type AttemptResult, type AttemptDependencies } from './attempt.ts'
import { LEASE_S } from '../delivery-queue/delivery-queue.ts'
import type { Delivery } from '../delivery-queue/delivery.ts'
import type { EndpointQueues } from './endpoint-loads.ts'
import type { SendableEndpoint } from '../delivery-queue/sendable-endpoint.ts'
import type { AttemptRecorder } from './outcome-recorder.ts'
import { nextHealth, healthy, nextDelay } from '../delivery-queue/retry-schedule.ts'

/** So long a delivery waits in hand at most: its attempt is to be over before its lease is. */
const WAIT_MS_MAX = (LEASE_S * 1000) / 3

/** What waits in hand: taken and not yet sent. */
export interface BufferedDelivery {
  item: Delivery
  endpoint: SendableEndpoint
  taken_ms: number
}

export interface InFlightOptions {
  cell: CellName
  lanes: EndpointQueues<BufferedDelivery>
  recorder: AttemptRecorder
  means: AttemptDependencies
  log: Log
  metrics: Metrics
  /** An endpoint has room again. */
  onCapacity: (id: string) => void
  onError: (error: unknown, message: string) => void
}

export class InFlightDeliveries {
  readonly #options: InFlightOptions
  /** How many are in the air, or wait for what came of them to be written; whom to tell when there are none. */
  #inFlight = 0
  #awaiting: (() => void)[] = []
  readonly #logs = new WeakMap<SendableEndpoint, Log>()

  constructor(options: InFlightOptions) {
    this.#options = options
  }

  /** Done when nothing is in the air any more and everything is written down. */
  async whenIdle(): Promise<void> {
    const { recorder } = this.#options
    do {
      if (this.#inFlight) await new Promise<void>((resolve) => this.#awaiting.push(resolve))
      await recorder.flush()
    } while (this.#inFlight)
  }

  /** Send what waits for an endpoint, as far as there is room. */
  sendQueued(id: string): void {
    const { lanes, means: dependencies } = this.#options
    const now_ms = dependencies.now_ms()
    for (let waiting = lanes.next(id, now_ms); waiting; waiting = lanes.next(id, now_ms)) {
      if (now_ms - waiting.taken_ms > WAIT_MS_MAX) {
        lanes.give(id)
        void this.returnDeliveries(id, [waiting])
        return
      }
      if (lanes.mayBegin(id, orderingKey(waiting), waiting)) this.#startAttempt(waiting)
    }
  }

  /** Others may have what waits for an endpoint, or this process later. @param before what waits no longer and goes with it */
  async returnDeliveries(id: string, before: BufferedDelivery[] = []): Promise<void> {
    const { lanes, recorder, onError } = this.#options
    const all = lanes.takeQueued(id, before)
    lanes.release(all.length)
    if (all.length === 0) return
    await recorder
      .returnDeliveries(all.map(({ item }) => item))
      .catch((error: unknown) => onError(error, 'putting deliveries back failed'))
    lanes.requeued(id)
  }

  #startAttempt(waiting: BufferedDelivery): void {
    const { item, endpoint } = waiting
    const { lanes, means: dependencies, onError } = this.#options
    this.#inFlight++
    try {
      sendAttempt(item, endpoint, dependencies, (ended) => (ended ? this.#finishAttempt(waiting, ended) : this.#unsent(waiting)))
    } catch (error) {
      lanes.give(endpoint.id)
      onError(error, 'a delivery failed')
      this.#startNextForObject(waiting)
      lanes.release(1)
      this.#resolveIfIdle()
    }
  }

  #finishAttempt(waiting: BufferedDelivery, ended: AttemptResult): void {
    this.#startNextForObject(waiting)
    const written = this.#recordOutcome(waiting, ended)
    if (written) void this.#awaitRecord(written)
    else this.#resolveIfIdle()
  }

  /** An attempt is over; what waited for it because it is about the same object leaves. */
  #startNextForObject(waiting: BufferedDelivery): void {
    const { lanes, means: dependencies } = this.#options
    const { id } = waiting.endpoint
    const next = lanes.answered(id, orderingKey(waiting))
    if (!next) return
    const now_ms = dependencies.now_ms()
    if (lanes.isOurs(next.endpoint, now_ms) && now_ms - next.taken_ms <= WAIT_MS_MAX) return this.#startAttempt(next)
    // Its place is free again, and so are those of all that waited behind it.
    lanes.give(id)
    void this.returnDeliveries(id, [next])
    this.#startNextForObject(next)
  }

  /** An attempt has not begun and will not, since its endpoint is not ours any more. */
  #unsent(waiting: BufferedDelivery): void {
    const { id } = waiting.endpoint
    this.#startNextForObject(waiting)
    this.#options.lanes.give(id)
    void this.returnDeliveries(id, [waiting])
    this.#resolveIfIdle()
  }

  async #awaitRecord(written: Promise<void>): Promise<void> {
    const { lanes, onError } = this.#options
    try {
      await written
    } catch (error) {
      // Of a delivery that is not marked the lease ends, and it falls due again.
      onError(error, 'a delivery failed')
    } finally {
      lanes.release(1)
      this.#resolveIfIdle()
    }
  }

  #resolveIfIdle(): void {
    if (--this.#inFlight) return
    const awaiting = this.#awaiting
    this.#awaiting = []
    for (const tell of awaiting) tell()
  }

  /**
   * Write an attempt down. A success makes room at once; after a failure nothing more leaves before its consequences are written.
   * @returns undefined: nobody need wait for that
   */
  #recordOutcome({ item, endpoint }: BufferedDelivery, ended: AttemptResult): Promise<void> | undefined {
    const { lanes, recorder, means: dependencies, metrics, cell } = this.#options
    const { outcome, failures, end } = ended
    const { succeeded } = outcome
    const { id } = endpoint
    // What a former address answers tells nothing of the endpoint.
    const isFormer = lanes.isFormer(endpoint)
    const gone = ended.gone && !isFormer
    if (ended.gone && isFormer) outcome.next_s = nextDelay(dependencies.schedule_s, failures, undefined, Math.random())
    const pause_s = isFormer ? undefined : ended.pause_s
    const health = isFormer ? { ...healthy, dead: false } : nextHealth(lanes.health(id), succeeded, end)
    if (!isFormer) lanes.setHealth(id, health)
    if (gone || health.dead) lanes.revoke(id, dependencies.now_ms())
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
    lanes.recordResult(id, outcome, now_ms, pause_s === undefined ? undefined : now_ms + pause_s * 1000)
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
    const { lanes } = this.#options
    lanes.give(id)
    for (const isSlow of KINDS) {
      const blocked = lanes.nextBlocked(isSlow)
      if (blocked !== undefined) this.sendQueued(blocked)
    }
    this.sendQueued(id)
    this.#options.onCapacity(id)
  }

  /** An attempt that arrived stands in the log of deliveries; a line of it is for those who look closely. */
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

  /** What lines about an endpoint have in common is written out once. */
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
