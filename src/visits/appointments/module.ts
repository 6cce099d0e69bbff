import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { appointmentConstraints, eraseAppointments, expireHandler } from './appointments.ts'
import { collectionZoneHook } from './collection-zone.ts'
import { orderHook } from './order-hook.ts'
import { preRequisitionScheduling } from './features.ts'
import { eventTypes } from './event-types.ts'

export const appointments: Module = {
  name: 'visits/appointments',
  about: 'appointments, and their effect on orders',
  eventTypes,
  options: [preRequisitionScheduling],
  tables: { ofTeams: ['appointment'] },
  jobs: [expireHandler],
  hooks: [orderHook, collectionZoneHook],
  constraints: appointmentConstraints,
  erasers: { user: eraseAppointments, team: eraseTables('appointment') },
}
