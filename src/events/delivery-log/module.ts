import type { Module } from '../../platform/module/module.ts'
import { replayHandler } from './replay.ts'
import { logRoutes } from './routes.ts'

/** @param fixed headers of every attempt */
export const deliveryLog = (fixed: Record<string, string>): Module => ({
  name: 'events/delivery-log',
  tag: 'webhooks',
  operations: logRoutes(fixed),
  jobs: [replayHandler],
})
