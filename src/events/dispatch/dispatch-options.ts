// The dependencies of delivery, and the replacements for clocks and network that tests may pass.
import type { CellName } from '../../platform/db/cell-names.ts'
import type { Log } from '../../platform/telemetry/log.ts'
import type { Metrics } from '../../platform/telemetry/metrics.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import type { DeliveryFaults } from '../delivery-queue/delivery-fault.ts'
import type { FindDeletedUsers, EventDestination } from '../fan-out/destination.ts'
import type { Sender, SenderOptions } from './send/http-sender.ts'
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'

export interface DeliveryOptions {
  vault: Vault
  targets: TargetPolicy
  findDeletedUsers: FindDeletedUsers
  /** Further destinations of the events of a cell, called in this order and before the endpoints. */
  destinations?: (cell: CellName) => EventDestination[]
  /** The system clock, for signatures and displayed times. Due times and leases go by the database's clock. */
  clock: () => Date
  /** A monotonic clock; that of the process by default. */
  now_ms?: () => number
  /** Creates the sender of requests to receivers; that of `http-sender.ts` by default. */
  sender?: (options: SenderOptions) => Pick<Sender, 'post' | 'close'>
  /** As in `RecorderOptions`. */
  gather_ms?: number
  schedule_s: readonly number[]
  /** The faults that sandbox teams ask for; none by default. */
  faults?: DeliveryFaults
  log: Log
  metrics: Metrics
  product: string
  attempt_ms_max?: number
}
