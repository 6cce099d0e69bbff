// Transports of messages between laboratories and this server.
import type { Cells } from '../../platform/db/cells.ts'
import type { Module } from '../../platform/module/module.ts'
import type { Log } from '../../platform/telemetry/log.ts'
import type { Metrics } from '../../platform/telemetry/metrics.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import type { ReceiveContext } from '../result-matching/receive.ts'
import { ActiveLinks } from './active-links.ts'
import { LinkRunner } from './link-runner.ts'
import { LinkTroubles } from './link-troubles.ts'
import { Listeners, type ListenerSettings } from './listeners.ts'
import { MessageReceiver } from './message-receiver.ts'

export interface LinkTransportDependencies {
  cells: Cells
  log: Log
  metrics: Metrics
  vault: Vault
  targets: TargetPolicy
  findTenant: ReceiveContext['findTenant']
  settings: ListenerSettings & { lab_folder: string | undefined }
}

export function linkTransports(dependencies: LinkTransportDependencies): Module {
  const { cells, log, metrics, settings, findTenant } = dependencies
  const links = new ActiveLinks(cells)
  const troubles = new LinkTroubles(log, metrics)
  const receiver = new MessageReceiver(links, findTenant)
  return {
    name: 'lab/link-transports',
    about: 'MLLP and folders that carry the messages of links',
    tables: { others: ['lab_link_lease', 'lab_listener'] },
    workers: [() => new LinkRunner({ ...dependencies, links, receiver, troubles })],
    services: [new Listeners({ cells, settings, links, receiver, troubles, log })],
  }
}
