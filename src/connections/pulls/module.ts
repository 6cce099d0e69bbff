import { eraseTables } from '../../platform/db/erasure.ts'
import { defineHook } from '../../platform/db/hooks.ts'
import type { Module } from '../../platform/module/module.ts'
import { connectionEnded } from '../connections/connections.ts'
import { grantSaved } from '../grants/grants.ts'
import { startPulls } from './pull-jobs.ts'
import { forgetPulls } from './ledger.ts'
import type { NotificationDependencies } from './notifications.ts'
import { pollHandler, subscribeHandler, type PullDependencies } from './poll.ts'
import { pullHandler } from './pull-resource.ts'
import { AnswerReader } from './read-parts.ts'
import { pullsRoutes } from './routes.ts'

export function pulls(dependencies: PullDependencies & NotificationDependencies): Module {
  const reader = new AnswerReader()
  return {
    name: 'connections/pulls',
    about: "data of vendors' clouds: histories, polling, notifications, limits",
    tag: 'connections',
    tables: { ofTeams: ['provider_pull', 'provider_watermark', 'provider_limit'] },
    operations: pullsRoutes(dependencies),
    jobs: [pullHandler({ access: dependencies.access, reader }), pollHandler(dependencies), subscribeHandler(dependencies)],
    workers: [() => reader],
    hooks: [
      defineHook(grantSaved, (tx, grant) => startPulls(tx, grant, dependencies.poll_s())),
      defineHook(connectionEnded, forgetPulls),
    ],
    erasers: {
      user: forgetPulls,
      team: eraseTables('provider_pull', 'provider_watermark', 'provider_limit'),
    },
  }
}
