import type { Module } from '../../platform/module/module.ts'
import { humanReview } from './features.ts'
import { eventTypes } from './event-types.ts'

/** Declares what teams can see of it already; the operations follow. */
export const parsingJobs: Module = {
  name: 'lab-reports/parsing-jobs',
  about: 'uploaded reports and their parsing; so far only the types of their events',
  eventTypes,
  features: [humanReview],
}
