import type { Module } from '../../platform/module/module.ts'
import type { SchedulingDependencies } from './availability.ts'
import { expireBookingHandler } from './pending-bookings.ts'
import { routes } from './routes.ts'

export const pscBooking = (dependencies: SchedulingDependencies): Module => ({
  name: 'visits/psc-booking',
  tag: 'scheduling',
  tables: { others: ['psc_schedule'] },
  operations: routes(dependencies),
  jobs: [expireBookingHandler],
})
