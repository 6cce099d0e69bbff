import type { Module } from '../../platform/module/module.ts'
import type { SchedulingDependencies } from './psc-availability.ts'
import { expireBookingHandler } from './pending-bookings.ts'
import { pscBookingRoutes } from './routes.ts'
import { labConfirmedScheduling, pscScheduling } from './features.ts'

export const pscBooking = (dependencies: SchedulingDependencies): Module => ({
  name: 'visits/psc-booking',
  about: 'schedules, availability, bookings at service centers',
  tag: 'scheduling',
  features: [pscScheduling],
  options: [labConfirmedScheduling],
  tables: { others: ['psc_schedule'] },
  operations: pscBookingRoutes(dependencies),
  jobs: [expireBookingHandler],
})
