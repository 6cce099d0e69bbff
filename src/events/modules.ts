// The modules of events, from the bottom up.
import type { Config } from '../platform/config/config.ts'
import type { Vault } from '../platform/crypto/vault.ts'
import type { Cells } from '../platform/db/cells.ts'
import type { Module } from '../platform/module/module.ts'
import type { Targets } from '../platform/net/outbound-targets.ts'
import { machineNow } from '../platform/runtime/clock.ts'
import type { Log } from '../platform/telemetry/log.ts'
import type { Metrics } from '../platform/telemetry/metrics.ts'
import { pipelinesIn, type Pipelines } from './brokers/dispatcher.ts'
import { brokers } from './brokers/module.ts'
import { deliveryLog } from './delivery-log/module.ts'
import { deliveryQueue } from './delivery-queue/module.ts'
import { dispatch } from './dispatch/module.ts'
import { fixedHeaders } from './endpoints/custom-headers.ts'
import { endpoints } from './endpoints/module.ts'
import type { DeletedAmong } from './fan-out/destination.ts'
import { FeedWatch } from './feed/feed-waiters.ts'
import type { NotDeleted } from './feed/list-events.ts'
import { feed } from './feed/module.ts'

export interface EventNeeds {
  cells: Cells
  log: Log
  metrics: Metrics
  vault: Vault
  /** Where webhooks and brokers may be. */
  targets: Targets
  settings: Pick<Config, 'pubsub_projects' | 'pubsub_emulator_host' | 'webhook_schedule_s'>
  /** Name and version of the program, as receivers see it. */
  product: string
  /** Where browsers reach this server, without a final slash. */
  publicUrl: () => string
  deletedAmong: DeletedAmong
  notDeleted: NotDeleted
}

export function events({ cells, log, metrics, vault, targets, settings, product, publicUrl, ...people }: EventNeeds): Module[] {
  const { deletedAmong } = people
  const sending = { vault, targets, deletedAmong, clock: machineNow, log, metrics }
  const { pubsub_projects, pubsub_emulator_host } = settings
  let toBrokers: Pipelines | undefined
  const brokerDispatcher = () => (toBrokers ??= pipelinesIn(cells, { ...sending, pubsub_projects, pubsub_emulator_host }))
  return [
    feed(people, new FeedWatch()),
    endpoints({ vault, targets, url: publicUrl }),
    deliveryQueue,
    brokers({ cells, vault, targets, pubsub_projects }, brokerDispatcher),
    dispatch(cells, () => ({
      ...sending,
      sinks: brokerDispatcher().sinks,
      schedule_s: settings.webhook_schedule_s,
      product,
    })),
    deliveryLog(fixedHeaders(product)),
  ]
}
