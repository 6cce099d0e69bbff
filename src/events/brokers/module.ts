import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { on } from '../../platform/db/hooks.ts'
import { rawEventsWanted } from '../../platform/queue/raw-events.ts'
import { pipelineCleanup } from './broker-queue.ts'
import type { PipelineWorker } from './cell-dispatcher.ts'
import { encryptedDestinationsColumn, takesRawEvents, type PipelineDependencies } from './pipelines.ts'
import { routes } from './routes.ts'

/** @param dispatcher the dispatcher of this process, created at the first call */
export const brokers = (dependencies: PipelineDependencies, dispatcher: () => PipelineWorker): Module => ({
  name: 'events/brokers',
  about: 'RabbitMQ, Event Hubs, Pub/Sub: configuration, queue, adapters',
  tag: 'pipelines',
  tables: { others: ['pipeline', 'pipeline_delivery', 'pipeline_queue'] },
  operations: routes(dependencies),
  workers: [dispatcher],
  periodicTasks: [pipelineCleanup],
  hooks: [
    on(rawEventsWanted, async (tx, raw) => {
      if (await takesRawEvents(tx)) raw.areWanted = true
    }),
  ],
  encryptedColumns: [encryptedDestinationsColumn],
  erasers: { team: eraseTables('pipeline_delivery', 'pipeline_queue', 'pipeline') },
})
