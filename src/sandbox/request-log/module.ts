import type { RecentRequests } from './recent-requests.ts'
import type { Module } from '../../platform/module/module.ts'
import { routes } from './routes.ts'

export const requestLog = (requests: RecentRequests): Module => ({
  name: 'sandbox/request-log',
  about: 'the newest requests of sandbox teams, for developers',
  tag: 'simulator',
  operations: routes(requests),
})
