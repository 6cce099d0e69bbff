// The modules of events, from the bottom up.
import type { Config } from '../settings/config.ts'
import type { Vault } from '../platform/crypto/vault.ts'
import type { Cells } from '../platform/db/cells.ts'
import type { Module } from '../platform/module/module.ts'
import type { TargetPolicy } from '../platform/net/outbound-targets.ts'
import { systemNow } from '../platform/runtime/clock.ts'
import type { EventType } from '../platform/queue/event-type.ts'
import type { Log } from '../platform/telemetry/log.ts'
import type { Metrics } from '../platform/telemetry/metrics.ts'
import { brokers } from './brokers/module.ts'
import { EventCatalog } from './catalog/event-catalog.ts'
import { deliveryLog } from './delivery-log/module.ts'
import { awaitRevocation } from './delivery/leases.ts'
import { delivery } from './delivery/module.ts'
import type { DeliveryFaults } from './delivery/sandbox-faults.ts'
import { fixedHeaders } from './endpoints/custom-headers.ts'
import { endpoints } from './endpoints/module.ts'
import type { FindDeletedUsers } from './feed/feed.ts'
import { FeedWaiters } from './feed/feed-waiters.ts'
import type { NotDeleted } from './feed/list-events.ts'
import { feed } from './feed/module.ts'

export interface EventDependencies {
  cells: Cells
  log: Log
  metrics: Metrics
  vault: Vault
  /** Where webhooks and brokers may be. */
  targets: TargetPolicy
  settings: Pick<Config, 'event_body_days' | 'pubsub_projects' | 'pubsub_emulator_host' | 'webhook_schedule_s'>
  /** Name and version of the program, as receivers see it. */
  product: string
  /** Where browsers reach this server, without a final slash. */
  publicUrl: () => string
  /** The event types of all modules. */
  eventTypes: () => readonly EventType[]
  findDeletedUsers: FindDeletedUsers
  notDeleted: NotDeleted
  faults: DeliveryFaults
}

export function events(dependencies: EventDependencies): Module[] {
  const { cells, vault, targets, settings, product, publicUrl, eventTypes, findDeletedUsers, notDeleted } = dependencies
  const catalog = new EventCatalog(eventTypes)
  const { pubsub_projects, pubsub_emulator_host, webhook_schedule_s: schedule_s } = settings
  const sending = { ...dependencies, clock: systemNow, schedule_s, pubsub_projects, pubsub_emulator_host }
  return [
    {
      name: 'events/catalog',
      about: 'event types and their samples',
    },
    feed({ findDeletedUsers, notDeleted }, new FeedWaiters()),
    endpoints({ vault, targets, url: publicUrl, awaitRevocation, catalog }),
    brokers({ cells, vault, targets, pubsub_projects }),
    delivery(cells, settings, () => sending),
    deliveryLog({ fixedHeaders: fixedHeaders(product), catalog, notDeleted }),
  ]
}
