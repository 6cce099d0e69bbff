import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { defineHook } from '../../platform/db/hooks.ts'
import { rawEventsWanted } from '../../platform/queue/raw-events.ts'
import { encryptedDestinationsColumn, takesRawEvents, type PipelineDependencies } from './pipelines.ts'
import { brokersRoutes } from './routes.ts'

export const brokers = (dependencies: PipelineDependencies): Module => ({
  name: 'events/brokers',
  about: 'RabbitMQ, Event Hubs, Pub/Sub: configuration and adapters',
  tag: 'pipelines',
  tables: { others: ['pipeline'] },
  operations: brokersRoutes(dependencies),
  hooks: [
    defineHook(rawEventsWanted, async (tx, raw) => {
      if (await takesRawEvents(tx)) raw.areWanted = true
    }),
  ],
  encryptedColumns: [encryptedDestinationsColumn],
  erasers: { team: eraseTables('pipeline') },
})
