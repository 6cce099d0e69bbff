import type { Module } from '../../platform/module/module.ts'
import type { SchedulingMeans } from './availability.ts'
import { giveUpHandler } from './booking-answers.ts'
import { routes } from './routes.ts'

export const pscBooking = (needs: SchedulingMeans): Module => ({
  name: 'visits/psc-booking',
  tag: 'scheduling',
  tables: { others: ['psc_schedule'] },
  operations: routes(needs),
  jobs: [giveUpHandler],
})
