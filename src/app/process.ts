// The dependencies that modules may need of their process.
import type { SigningKey } from '../connections/sign-in/signing-key.ts'
import type { Config } from '../settings/config.ts'
import type { Vault } from '../platform/crypto/vault.ts'
import type { Cells } from '../platform/db/cells.ts'
import type { TargetPolicy } from '../platform/net/outbound-targets.ts'
import type { Operation } from '../platform/http/operation.ts'
import type { EventType } from '../platform/queue/event-type.ts'
import type { RequestRecorder } from '../console/request-log/recorder.ts'
import type { SandboxFaults } from '../sandbox/faults/fault-source.ts'
import type { RecentRequests } from '../sandbox/request-log/recent-requests.ts'
import type { CoversCharacter } from '../platform/pdf/extra-fonts.ts'
import type { JobRunner } from '../platform/queue/job-runner.ts'
import type { WorkerPool } from '../platform/runtime/worker-pool.ts'
import type { Log } from '../platform/telemetry/log.ts'
import type { Metrics } from '../platform/telemetry/metrics.ts'
import type { ClockMoves } from '../sandbox/clock/clock-lease.ts'
import type { Access } from '../tenancy/access/access.ts'
import type { Geocode } from '../visits/geocoding/geocoder.ts'

export interface ModuleSettings extends Config {
  /** After how long without work a worker thread ends, where not after 10 s: tests would start threads again and again. */
  thread_idle_ms?: number
}

/** The dependencies that modules may need of their process. */
export interface Process {
  cells: Cells
  vault: Vault
  log: Log
  metrics: Metrics
  settings: ModuleSettings
  /** Authentication and authorization of requests. */
  guards: Access
  /** The target policy of webhooks and brokers. */
  targets: TargetPolicy
  /** Signs the JWTs of phones and of links. */
  signingKey: SigningKey
  heavy: WorkerPool
  /** Name and version of the program, in the User-Agent of deliveries. */
  product: string
  /** The base URL for browsers, without a final slash; empty until it is known. */
  publicUrl: () => string
  /** The event types of all modules. */
  eventTypes: () => readonly EventType[]
  /** The job handlers of all modules. */
  runner: () => JobRunner
  /** Advances the clocks of sandbox teams. */
  clocks: ClockMoves
  /** Which characters documents can print in addition to those of the embedded font. */
  covers: CoversCharacter
  /** The faults that sandbox teams have asked for. */
  faults: SandboxFaults
  /** The ids of the operations of all modules. */
  operationIds: () => ReadonlySet<string>
  /** The operations of all modules. */
  operations: () => readonly Operation[]
  /** The newest requests of sandbox teams. */
  requests: RecentRequests
  /** Records the requests of all teams. */
  recorder: RequestRecorder
  /** The geocoder of postal codes. */
  locate: Geocode
}
