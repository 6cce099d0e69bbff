// Keeps the lanes of a process while it has something in hand for them, and lets go of those that it has lost or that were recalled.
import { ENDPOINT_LEASE_S, type EndpointLeases } from '../delivery-queue/endpoint-leases.ts'
import { acknowledgeRecalls, recalledFrom } from '../delivery-queue/endpoint-recalls.ts'
import type { DeliveryDb } from '../fan-out/fan-out.ts'
import type { InFlightDeliveries, BufferedDelivery } from './in-flight.ts'
import type { EndpointQueues } from './endpoint-loads.ts'

const RENEW_MS = 1500

export interface KeeperOptions {
  db: DeliveryDb
  leases: EndpointLeases
  lanes: EndpointQueues<BufferedDelivery>
  flights: InFlightDeliveries
  /** The process's own clock, which never jumps. */
  now_ms: () => number
}

export class LaneKeeper {
  readonly #options: KeeperOptions
  #renewed_ms = -Infinity

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  /** Renew what has to be renewed and obey recalls. To be called several times a second. Writes webhook_lane, lane_recall. */
  async keep(): Promise<void> {
    await this.#renew()
    await this.#obeyRecalls()
  }

  /** What waits for a lane whose lease has ended may be another process's meanwhile: it does not wait for the lane to be ours again. */
  putBackLapsed(now_ms: number): void {
    const { lanes, flights } = this.#options
    for (const id of lanes.lapsed(now_ms)) void flights.returnDeliveries(id)
  }

  /** Lanes whose attempts take long are not claimed from meanwhile, and are still ours. */
  async #renew(): Promise<void> {
    const { leases, lanes, flights } = this.#options
    const now_ms = this.#options.now_ms()
    const ids = lanes.inUse
    if (ids.length === 0 || now_ms - this.#renewed_ms < RENEW_MS) return
    this.#renewed_ms = now_ms
    const renewed = await leases.renew(ids.map((webhook_id) => ({ webhook_id })))
    const ours = new Set(renewed.map(({ webhook_id }) => webhook_id))
    for (const id of ids) {
      if (ours.has(id) && lanes.hold(id, now_ms, ENDPOINT_LEASE_S * 1000)) flights.sendQueued(id)
      else void flights.returnDeliveries(id)
    }
  }

  /** Let go of endpoints that were deleted or disabled; whoever did that waits. Requests that have begun end as they may. */
  async #obeyRecalls(): Promise<void> {
    const { db, leases, lanes, flights, now_ms } = this.#options
    if (!lanes.mayHold(now_ms())) return
    const ids = await recalledFrom(db.queries, leases.owner)
    if (ids.length === 0) return
    for (const id of ids) {
      lanes.revoke(id, now_ms())
      void flights.returnDeliveries(id)
    }
    await acknowledgeRecalls(db.queries, leases.owner, ids)
  }
}
