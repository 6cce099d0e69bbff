// Renews the endpoint leases of a process while it has deliveries for them. Returns the deliveries of lost or revoked leases to
// the queue.
import { ENDPOINT_LEASE_S, type EndpointLeases } from '../../delivery-queue/endpoint-leases.ts'
import { acknowledgeRevocations, revokedFrom } from '../../delivery-queue/endpoint-revocations.ts'
import type { DeliveryDb } from '../../fan-out/fan-out.ts'
import type { DeliverySender, BufferedDelivery } from '../send/send-deliveries.ts'
import type { EndpointQueues } from '../send/endpoint-queues.ts'

const RENEW_MS = 1500

export interface EndpointLeaseKeeperOptions {
  db: DeliveryDb
  leases: EndpointLeases
  queues: EndpointQueues<BufferedDelivery>
  sender: DeliverySender
  /** The monotonic clock of the process. */
  now_ms: () => number
}

export class EndpointLeaseKeeper {
  readonly #options: EndpointLeaseKeeperOptions
  #renewed_ms = -Infinity

  constructor(options: EndpointLeaseKeeperOptions) {
    this.#options = options
  }

  /**
   * Renews leases that are about to end and releases revoked ones. Call it several times a second. Writes webhook_lease,
   * revoked_webhook_lease.
   */
  async keep(): Promise<void> {
    await this.#renew()
    await this.#releaseRevoked()
  }

  /** Returns the deliveries for endpoints whose lease has ended: another process may have claimed them meanwhile. */
  returnLapsed(now_ms: number): void {
    const { queues, sender } = this.#options
    for (const id of queues.lapsed(now_ms)) void sender.returnDeliveries(id)
  }

  /** Endpoints with long attempts are not claimed from meanwhile; their leases are renewed all the same. */
  async #renew(): Promise<void> {
    const { leases, queues, sender } = this.#options
    const now_ms = this.#options.now_ms()
    const ids = queues.inUse
    if (ids.length === 0 || now_ms - this.#renewed_ms < RENEW_MS) return
    this.#renewed_ms = now_ms
    const renewed = await leases.renew(ids.map((webhook_id) => ({ webhook_id })))
    const ours = new Set(renewed.map(({ webhook_id }) => webhook_id))
    for (const id of ids) {
      if (ours.has(id) && queues.hold(id, now_ms, ENDPOINT_LEASE_S * 1000)) sender.sendQueued(id)
      else void sender.returnDeliveries(id)
    }
  }

  /**
   * Releases endpoints that were deleted or disabled; the request that deletes or disables waits for it. Attempts in flight
   * continue.
   */
  async #releaseRevoked(): Promise<void> {
    const { db, leases, queues, sender, now_ms } = this.#options
    if (!queues.mayHold(now_ms())) return
    const ids = await revokedFrom(db.queries, leases.owner)
    if (ids.length === 0) return
    for (const id of ids) {
      queues.revoke(id, now_ms())
      void sender.returnDeliveries(id)
    }
    await acknowledgeRevocations(db.queries, leases.owner, ids)
  }
}
