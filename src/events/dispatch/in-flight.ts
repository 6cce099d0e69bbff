// Deliveries on their way: what waits in hand leaves when its endpoint has room, and is answered, and what came of it is written down.
import { iso, wholeSeconds } from '../../platform/runtime/clock.ts'
import type { CellName } from '../../platform/db/cell-names.ts'
import type { Log } from '../../platform/telemetry/log.ts'
import type { Metrics } from '../../platform/telemetry/metrics.ts'
import { attempt, type Ended, type Means } from './attempt.ts'
import { LEASE_S } from '../delivery-queue/delivery-queue.ts'
import type { Delivery } from '../delivery-queue/delivery.ts'
import type { Lanes } from './endpoint-loads.ts'
import type { Ready } from '../delivery-queue/sendable-endpoint.ts'
import type { Recorder } from './outcome-recorder.ts'
import { after, healthy, nextDelay } from '../delivery-queue/retry-schedule.ts'

/** So long a delivery waits in hand at most: its attempt is to be over before its lease is. */
const WAIT_MS_MAX = (LEASE_S * 1000) / 3

/** What waits in hand: taken and not yet sent. */
export interface Waiting {
  item: Delivery
  endpoint: Ready
  taken_ms: number
}

export interface FlightOptions {
  cell: CellName
  lanes: Lanes<Waiting>
  recorder: Recorder
  means: Means
  log: Log
  metrics: Metrics
  /** An endpoint has room again. */
  onRoom: (id: string) => void
  onError: (error: unknown, message: string) => void
}

export class Flights {
  readonly #options: FlightOptions
  /** How many are in the air, or wait for what came of them to be written; whom to tell when there are none. */
  #flying = 0
  #awaiting: (() => void)[] = []
  readonly #logs = new WeakMap<Ready, Log>()

  constructor(options: FlightOptions) {
    this.#options = options
  }

  /** Done when nothing is in the air any more and everything is written down. */
  async landed(): Promise<void> {
    const { recorder } = this.#options
    do {
      if (this.#flying) await new Promise<void>((resolve) => this.#awaiting.push(resolve))
      await recorder.flush()
    } while (this.#flying)
  }

  /** Send what waits for an endpoint, as far as there is room. */
  pump(id: string): void {
    const { lanes, means } = this.#options
    const now_ms = means.now_ms()
    for (let waiting = lanes.next(id, now_ms); waiting; waiting = lanes.next(id, now_ms)) {
      if (now_ms - waiting.taken_ms > WAIT_MS_MAX) {
        lanes.give(id)
        void this.putBack(id, [waiting])
        return
      }
      if (lanes.mayBegin(id, objectOf(waiting), waiting)) this.#launch(waiting)
    }
  }

  /** Others may have what waits for an endpoint, or this process later. @param before what waits no longer and goes with it */
  async putBack(id: string, before: Waiting[] = []): Promise<void> {
    const { lanes, recorder, onError } = this.#options
    const all = lanes.clear(id, before)
    lanes.release(all.length)
    if (all.length === 0) return
    await recorder
      .putBack(all.map(({ item }) => item))
      .catch((error: unknown) => onError(error, 'putting deliveries back failed'))
    lanes.returned(id)
  }

  #launch(waiting: Waiting): void {
    const { item, endpoint } = waiting
    const { lanes, means, onError } = this.#options
    this.#flying++
    try {
      attempt(item, endpoint, means, (ended) => (ended ? this.#land(waiting, ended) : this.#unsent(waiting)))
    } catch (error) {
      lanes.give(endpoint.id)
      onError(error, 'a delivery failed')
      this.#gone(waiting)
      lanes.release(1)
      this.#rest()
    }
  }

  #land(waiting: Waiting, ended: Ended): void {
    this.#gone(waiting)
    const written = this.#settle(waiting, ended)
    if (written) void this.#wait(written)
    else this.#rest()
  }

  /** An attempt is over; what waited for it because it is about the same object leaves. */
  #gone(waiting: Waiting): void {
    const { lanes, means } = this.#options
    const { id } = waiting.endpoint
    const next = lanes.answered(id, objectOf(waiting))
    if (!next) return
    const now_ms = means.now_ms()
    if (lanes.isOurs(next.endpoint, now_ms) && now_ms - next.taken_ms <= WAIT_MS_MAX) return this.#launch(next)
    // Its place is free again, and so are those of all that waited behind it.
    lanes.give(id)
    void this.putBack(id, [next])
    this.#gone(next)
  }

  /** An attempt has not begun and will not, since its endpoint is not ours any more. */
  #unsent(waiting: Waiting): void {
    const { id } = waiting.endpoint
    this.#gone(waiting)
    this.#options.lanes.give(id)
    void this.putBack(id, [waiting])
    this.#rest()
  }

  async #wait(written: Promise<void>): Promise<void> {
    const { lanes, onError } = this.#options
    try {
      await written
    } catch (error) {
      // Of a delivery that is not marked the lease ends, and it falls due again.
      onError(error, 'a delivery failed')
    } finally {
      lanes.release(1)
      this.#rest()
    }
  }

  #rest(): void {
    if (--this.#flying) return
    const awaiting = this.#awaiting
    this.#awaiting = []
    for (const tell of awaiting) tell()
  }

  /**
   * Write an attempt down. A success makes room at once; after a failure nothing more leaves before its consequences are written.
   * @returns undefined: nobody need wait for that
   */
  #settle({ item, endpoint }: Waiting, ended: Ended): Promise<void> | undefined {
    const { lanes, recorder, means, metrics, cell } = this.#options
    const { outcome, failures, end } = ended
    const { succeeded } = outcome
    const { id } = endpoint
    // What a former address answers tells nothing of the endpoint.
    const isFormer = lanes.isFormer(endpoint)
    const gone = ended.gone && !isFormer
    if (ended.gone && isFormer) outcome.next_s = nextDelay(means.schedule_s, failures, undefined, Math.random())
    const pause_s = isFormer ? undefined : ended.pause_s
    const health = isFormer ? { ...healthy, dead: false } : after(lanes.health(id), succeeded, end)
    if (!isFormer) lanes.setHealth(id, health)
    if (gone || health.dead) lanes.revoke(id, means.now_ms())
    const written = recorder.record(outcome, {
      schedule_length: means.schedule_s.length,
      failures,
      disable: gone || health.dead,
      dead_since_text: health.dead ? iso(wholeSeconds(health.failing_since ?? end)) : undefined,
      pause_s,
      health,
      changed:
        !isFormer &&
        (pause_s !== undefined ||
          health.first_failure_at?.getTime() !== endpoint.health.first_failure_at?.getTime() ||
          health.failing_since?.getTime() !== endpoint.health.failing_since?.getTime()),
    })
    const now_ms = means.now_ms()
    lanes.learn(id, outcome, now_ms, pause_s === undefined ? undefined : now_ms + pause_s * 1000)
    metrics.delivery(cell, succeeded ? 'success' : 'failure', outcome.duration_ms / 1000)
    this.#say(item, endpoint, ended)
    if (!succeeded)
      return Promise.all([this.putBack(id), written])
        .then(ignore)
        .finally(() => this.#free(id))
    this.#free(id)
    return written
  }

  #free(id: string): void {
    const { lanes } = this.#options
    lanes.give(id)
    for (const isSlow of KINDS) {
      const blocked = lanes.nextBlocked(isSlow)
      if (blocked !== undefined) this.pump(blocked)
    }
    this.pump(id)
    this.#options.onRoom(id)
  }

  /** An attempt that arrived stands in the log of deliveries; a line of it is for those who look closely. */
  #say({ msg, type }: Delivery, endpoint: Ready, { outcome, failures }: Ended): void {
    const { response_status: status, error, duration_ms, succeeded } = outcome
    const level = succeeded ? 'debug' : 'info'
    if (!this.#options.log.isLevelEnabled(level)) return
    this.#logOf(outcome.item, endpoint)[level](
      error === null
        ? { 'message.id': msg, type, attempt: failures, status, duration_ms }
        : { 'message.id': msg, type, attempt: failures, ...(status !== null && { status }), error, duration_ms },
      'delivery attempted',
    )
  }

  /** What lines about an endpoint have in common is written out once. */
  #logOf({ team_id, webhook_id }: Delivery, endpoint: Ready): Log {
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
const objectOf = ({ item }: Waiting): string => item.object_id ?? item.message_id
const ignore = () => {}
