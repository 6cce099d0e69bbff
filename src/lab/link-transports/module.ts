// Transports of messages between laboratories and this server.
import type { Cells } from '../../platform/db/cells.ts'
import type { Module } from '../../platform/module/module.ts'
import type { Log } from '../../platform/telemetry/log.ts'
import type { Metrics } from '../../platform/telemetry/metrics.ts'
import { ActiveLinks } from './active-links.ts'
import { LinkTroubles } from './link-troubles.ts'
import { Listeners, type ListenerSettings } from './listeners.ts'
import { MessageReceiver } from './message-receiver.ts'

export interface LinkTransportDependencies {
  cells: Cells
  log: Log
  metrics: Metrics
  settings: ListenerSettings
}

export function linkTransports({ cells, log, metrics, settings }: LinkTransportDependencies): Module {
  const links = new ActiveLinks(cells)
  const troubles = new LinkTroubles(log, metrics)
  const receiver = new MessageReceiver(links)
  return {
    name: 'lab/link-transports',
    about: 'MLLP and folders that carry the messages of links',
    services: settings.lab_listen.length ? [new Listeners({ settings, links, receiver, troubles, log })] : [],
  }
}
