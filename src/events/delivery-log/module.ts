import type { Module } from '../../platform/module/module.ts'
import { replayHandler } from './replay.ts'
import { eventRowRoutes, logRoutes, type DeliveryLogDependencies } from './routes.ts'

export const deliveryLog = (dependencies: DeliveryLogDependencies): Module => ({
  name: 'events/delivery-log',
  about: 'messages, attempts, replay',
  tag: 'webhooks',
  operations: [...eventRowRoutes(dependencies), ...logRoutes(dependencies)],
  jobs: [replayHandler],
})
