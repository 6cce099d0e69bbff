import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { feedCleanup } from './feed.ts'
import type { FeedWaiters } from './feed-waiters.ts'
import { feedRoutes, type FeedDependencies } from './routes.ts'

export const feed = (dependencies: Omit<FeedDependencies, 'watch'>, watch: FeedWaiters): Module => ({
  name: 'events/feed',
  about: "a team's events in order",
  tag: 'webhooks',
  tables: { ofTeams: ['feed'], others: ['feed_epoch'] },
  operations: feedRoutes({ ...dependencies, watch }),
  services: [{ start() {}, stop: async () => {}, endRequests: () => watch.close() }],
  periodicTasks: [feedCleanup],
  erasers: { team: eraseTables('feed') },
})
