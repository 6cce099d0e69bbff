// What modules may need of the process that runs them.
import type { Config } from '../platform/config/config.ts'
import type { Vault } from '../platform/crypto/vault.ts'
import type { Cells } from '../platform/db/cells.ts'
import type { TargetPolicy } from '../platform/net/outbound-targets.ts'
import type { JobRunner } from '../platform/queue/job-runner.ts'
import type { WorkerPool } from '../platform/runtime/worker-threads.ts'
import type { Log } from '../platform/telemetry/log.ts'
import type { Metrics } from '../platform/telemetry/metrics.ts'
import type { ClockMoves } from '../sandbox/clock/clock-lease.ts'
import type { Access, AccessSettings } from '../tenancy/access/access.ts'
import type { Geocode } from '../visits/geocoding/geocoder.ts'

/** The settings that modules need. */
export type ModuleSettings = AccessSettings &
  Pick<
    Config,
    | 'support_email'
    | 'domain_target'
    | 'dns_servers'
    | 'invites_per_hour'
    | 'invites_per_address_per_day'
    | 'access_log_days'
    | 'smtp'
    | 'sms'
    | 'pubsub_projects'
    | 'pubsub_emulator_host'
    | 'webhook_schedule_s'
    | 'geocoder_url'
  >

/** What modules may need of the process that runs them. */
export interface Process {
  cells: Cells
  vault: Vault
  log: Log
  metrics: Metrics
  settings: ModuleSettings
  /** Who lets callers in. */
  guards: Access
  /** Where webhooks and brokers may be. */
  targets: TargetPolicy
  heavy: WorkerPool
  /** Name and version of the program, as receivers see it. */
  product: string
  /** Where browsers reach this server, without a final slash; empty until it is known. */
  publicUrl: () => string
  /** What carries out the jobs of all modules. */
  runner: () => JobRunner
  /** Who moves the clocks of sandbox teams. */
  clocks: ClockMoves
  /** Where postal codes are. */
  locate: Geocode
}
