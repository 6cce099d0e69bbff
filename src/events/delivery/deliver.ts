// The life of one delivery in a process: it waits in the queue of its destination until the limits admit it (limits.ts), is sent by its
// destination, and its outcome is recorded (record-outcomes.ts). At least once: nothing is recorded before it has happened, and what is not
// recorded is sent again when its lease has ended.
import { iso, truncateToSeconds } from '../../platform/runtime/clock.ts'
import type { CellName } from '../../settings/cells.ts'
import type { Log } from '../../platform/telemetry/log.ts'
import type { Metrics } from '../../platform/telemetry/metrics.ts'
import { LEASE_S } from './delivery-rows.ts'
import type { Attempt, BufferedDelivery, Destination, Outcome, Target } from './destination.ts'
import type { DestinationQueues } from './limits.ts'
import type { AttemptRecorder } from './record-outcomes.ts'
import { healthy, nextDelay, nextHealth } from './retry-schedule.ts'

/** A delivery is buffered no longer than this: its attempt has to end before its lease. */
const WAIT_MS_MAX = (LEASE_S * 1000) / 3

export interface DeliverySenderOptions {
  cell: CellName
  queues: DestinationQueues
  recorder: AttemptRecorder
  destinationFor: (target: Target) => Destination
  /** The system clock, for health and displayed times. */
  clock: () => Date
  /** The monotonic clock of the process. */
  now_ms: () => number
  schedule_s: readonly number[]
  log: Log
  metrics: Metrics
  /** A destination has room for deliveries that wait in the database. */
  onRoom: () => void
  onError: (error: unknown, message: string) => void
}

export class DeliverySender {
  readonly #options: DeliverySenderOptions
  /** Attempts that are in flight or not yet recorded, and the callers that wait until there are none. */
  #inFlight = 0
  #awaiting: (() => void)[] = []
  readonly #logs = new WeakMap<Target, Log>()

  constructor(options: DeliverySenderOptions) {
    this.#options = options
  }

  /** Sends the buffered deliveries of a destination, as far as there are free slots. */
  sendQueued(id: string): void {
    const { queues, now_ms: clock_ms } = this.#options
    const now_ms = clock_ms()
    for (let batch = queues.next(id, now_ms); batch; batch = queues.next(id, now_ms)) {
      if (now_ms - batch[0]!.leased_ms > WAIT_MS_MAX) {
        queues.releaseSlot(id, batch.length)
        void this.returnDeliveries(id, batch)
        return
      }
      if (queues.tryAcquireObject(objectKey(batch), batch[0]!)) this.#startAttempt(batch)
    }
  }

  /**
   * Returns the buffered deliveries of a destination to the database. @param earlier deliveries that have left the queue and are
   * returned as well
   */
  async returnDeliveries(id: string, earlier: BufferedDelivery[] = []): Promise<void> {
    const { queues, recorder, now_ms, onError } = this.#options
    const all = queues.takeQueued(id, earlier)
    queues.release(all.length)
    if (all.length === 0) return
    await recorder
      .returnDeliveries(all.map(({ delivery }) => delivery))
      .catch((error: unknown) => onError(error, 'failed to return deliveries to the queue'))
    queues.confirmReturn(id, now_ms())
  }

  /** Resolves when no attempt is in flight and every outcome is recorded. */
  async whenIdle(): Promise<void> {
    do {
      if (this.#inFlight) await new Promise<void>((resolve) => this.#awaiting.push(resolve))
      await this.#options.recorder.flush()
    } while (this.#inFlight)
  }

  #startAttempt(batch: BufferedDelivery[]): void {
    const { target } = batch[0]!
    const { queues, destinationFor, onError } = this.#options
    const destination = destinationFor(target)
    this.#inFlight++
    try {
      destination.deliver(
        target,
        batch.map(({ delivery }) => delivery),
        (answers) => {
          const pauses = queues.countPauses(target.id)
          const outcomes = batch.map(({ delivery }, i) => destination.outcome(target, delivery, answers[i], pauses))
          this.#finishAttempt(batch, outcomes)
        },
      )
    } catch (error) {
      queues.releaseSlot(target.id, batch.length)
      onError(error, 'a delivery failed')
      this.#startNextForObject(batch)
      queues.release(batch.length)
      this.#resolveIfIdle()
    }
  }

  /** A success frees its slot at once; after a failure nothing more is sent before its consequences are recorded. */
  #finishAttempt(batch: BufferedDelivery[], outcomes: Outcome[]): void {
    this.#startNextForObject(batch)
    const { target } = batch[0]!
    const written = outcomes.flatMap((outcome) => this.#recordAttempt(target, outcome) ?? [])
    this.#recordAnswer(target, outcomes)
    if (target.isBatch) this.#logBatch(target, outcomes)
    else if (outcomes[0]!.attempt) this.#logAttempt(target, outcomes[0]!.attempt)
    const records = written.map((record) => this.#awaitRecord(record))
    if (outcomes.every(({ attempt }) => attempt?.succeeded)) {
      this.#releaseSlot(target.id, batch.length)
      if (records.length === 0) this.#resolveIfIdle()
      else void Promise.all(records).then(() => this.#resolveIfIdle())
      return
    }
    const unsent = batch.filter((_, i) => !outcomes[i]!.attempt)
    const paused = outcomes.some(({ pause_s }) => pause_s !== undefined) ? this.#options.recorder.flush() : undefined
    void Promise.all([this.returnDeliveries(target.id, unsent), ...records, paused]).then(() => {
      this.#releaseSlot(target.id, batch.length)
      this.#resolveIfIdle()
    })
  }

  /** @returns resolves when the attempt is recorded; undefined: nothing waits for that */
  #recordAttempt(target: Target, { attempt, pause_s, isGone }: Outcome): Promise<void> | undefined {
    if (!attempt) return undefined
    const { queues, recorder, schedule_s, clock, now_ms } = this.#options
    const { id } = target
    const consequences = { schedule_length: schedule_s.length, disable: false, dead_since_text: undefined, health: undefined }
    if (target.isBatch) return recorder.record(attempt, consequences)
    // The response of a former address says nothing about the endpoint.
    if (queues.isFormer(target)) {
      if (isGone) attempt.next_s = nextDelay(schedule_s, attempt.delivery.attempts + 1, undefined, Math.random())
      return recorder.record(attempt, consequences)
    }
    const answered_at = clock()
    const { dead, ...health } = nextHealth(queues.health(id), attempt.succeeded, answered_at)
    queues.setHealth(id, health)
    const disable = isGone || dead
    if (disable) queues.revoke(id, now_ms())
    const isChanged =
      pause_s !== undefined ||
      health.first_failure_at?.getTime() !== target.health.first_failure_at?.getTime() ||
      health.failing_since?.getTime() !== target.health.failing_since?.getTime()
    return recorder.record(attempt, {
      ...consequences,
      disable,
      dead_since_text: dead ? iso(truncateToSeconds(health.failing_since ?? answered_at)) : undefined,
      health: isChanged ? { id, pause_s, ...health } : undefined,
    })
  }

  /** What the answer says about the destination: whether it works, how fast, and whether it needs a pause. */
  #recordAnswer(target: Target, outcomes: Outcome[]): void {
    const { queues, recorder, now_ms: clock_ms } = this.#options
    const first = outcomes.find(({ attempt, unreachable }) => attempt !== undefined || unreachable !== undefined)
    if (!first) return
    const paused = queues.isFormer(target) ? undefined : outcomes.find(({ pause_s }) => pause_s !== undefined)?.pause_s
    if (target.isBatch && paused !== undefined) recorder.recordHealth({ id: target.id, pause_s: paused, ...healthy })
    // A broker that rejects an event works.
    const succeeded = target.isBatch
      ? outcomes.every(({ unreachable }) => unreachable === undefined)
      : first.attempt?.succeeded === true
    const now_ms = clock_ms()
    const paused_until_ms = paused === undefined ? undefined : now_ms + paused * 1000
    queues.recordResult(target.id, { succeeded, duration_ms: first.duration_ms }, now_ms, paused_until_ms)
  }

  async #awaitRecord(record: Promise<void>): Promise<void> {
    try {
      await record
    } catch (error) {
      // The lease of a delivery that is not recorded ends, and the delivery becomes due again.
      this.#options.onError(error, 'a delivery failed')
    } finally {
      this.#options.queues.release(1)
    }
  }

  /** An attempt has ended: the next delivery about the same object, which waited for it, is sent. */
  #startNextForObject(batch: BufferedDelivery[]): void {
    const { queues, now_ms: clock_ms } = this.#options
    const { id } = batch[0]!.target
    const next = queues.releaseObject(id, objectKey(batch))
    if (!next) return
    const now_ms = clock_ms()
    if (queues.isOurs(id, next.target.address, now_ms) && now_ms - next.leased_ms <= WAIT_MS_MAX)
      return this.#startAttempt([next])
    // Its slot is free again, and so are the slots of all deliveries that waited behind it.
    queues.releaseSlot(id)
    void this.returnDeliveries(id, [next])
    this.#startNextForObject([next])
  }

  #releaseSlot(id: string, deliveries: number): void {
    const { queues, onRoom } = this.#options
    queues.releaseSlot(id, deliveries)
    for (const isSlow of [false, true]) {
      const blocked = queues.nextBlocked(isSlow)
      if (blocked !== undefined) this.sendQueued(blocked)
    }
    this.sendQueued(id)
    if (queues.needsRefill(id)) onRoom()
  }

  #resolveIfIdle(): void {
    if (--this.#inFlight) return
    const awaiting = this.#awaiting
    this.#awaiting = []
    for (const resolve of awaiting) resolve()
  }

  /** Successful attempts are in the delivery log, and logged at level debug only. */
  #logAttempt(target: Target, { delivery, succeeded, duration_ms, response_status, error }: Attempt): void {
    const { metrics, cell, log } = this.#options
    metrics.countDelivery(cell, succeeded ? 'success' : 'failure', duration_ms / 1000)
    const level = succeeded ? 'debug' : 'info'
    if (!log.isLevelEnabled(level)) return
    const status = response_status !== null && { status: response_status }
    const fields = { 'message.id': delivery.msg, type: delivery.type, attempt: delivery.attempts + 1, ...status }
    this.#loggerFor(target)[level]({ ...fields, ...(error !== null && { error }), duration_ms }, 'delivery attempted')
  }

  #logBatch(target: Target, outcomes: Outcome[]): void {
    const { metrics, cell, queues } = this.#options
    const acknowledged = outcomes.filter(({ attempt }) => attempt?.succeeded).length
    const rejected = outcomes.filter(({ attempt }) => attempt && !attempt.succeeded).length
    const unreachable = outcomes.filter((outcome) => outcome.unreachable !== undefined).length
    metrics.countPipelineEvents(cell, target.kind, { acknowledged, rejected, unreachable })
    const errors = [...new Set(outcomes.flatMap((outcome) => outcome.unreachable ?? outcome.attempt?.error ?? []))]
    const counts = { destination: target.kind, acknowledged, rejected, unreachable, duration_ms: outcomes[0]!.duration_ms }
    if (unreachable)
      this.#loggerFor(target).warn({ ...counts, failures: queues.countPauses(target.id), error: errors[0] }, 'broker unreachable')
    else this.#loggerFor(target).info({ ...counts, ...(errors.length && { errors }) }, 'events sent to broker')
  }

  /** The common fields of all log lines about a destination are serialized once. */
  #loggerFor(target: Target): Log {
    let log = this.#logs.get(target)
    if (!log) {
      const { log: parent, cell } = this.#options
      const id = target.isBatch ? {} : { 'webhook.id': target.id }
      log = parent.child({ cell, 'team.id': target.team_id, ...id })
      this.#logs.set(target, log)
    }
    return log
  }
}

/** Attempts with the same key are made one after another. */
const objectKey = (batch: BufferedDelivery[]): string => {
  const { delivery, target } = batch[0]!
  return (target.isBatch ? null : delivery.object_id) ?? delivery.message_id
}
