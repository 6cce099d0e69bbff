// What delivering needs of its process, and what tests may put in place of the clocks and the network.
import type { CellName } from '../../platform/db/cell-names.ts'
import type { Log } from '../../platform/telemetry/log.ts'
import type { Metrics } from '../../platform/telemetry/metrics.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import type { FindDeletedUsers, Sink } from '../fan-out/destination.ts'
import type { Sender, SenderOptions } from './send/http-sender.ts'
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'

export interface DeliveryOptions {
  vault: Vault
  targets: TargetPolicy
  findDeletedUsers: FindDeletedUsers
  /** Where events of a cell go besides, asked in this order and before the endpoints. */
  sinks?: (cell: CellName) => Sink[]
  /** The machine's clock: what is signed and shown. What is due and who has what goes by the database's. */
  clock: () => Date
  /** A clock that never jumps; the process's own when not given. */
  now_ms?: () => number
  /** Makes what posts to receivers; that of `http-sender.ts` when not given. */
  sender?: (options: SenderOptions) => Pick<Sender, 'post' | 'close'>
  /** As in `RecorderOptions`. */
  gather_ms?: number
  schedule_s: readonly number[]
  log: Log
  metrics: Metrics
  product: string
  attempt_ms_max?: number
}
