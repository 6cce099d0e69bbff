import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { constraints, eraseAppointments, expireHandler } from './appointments.ts'
import { orderHook } from './order-hook.ts'

export const appointments: Module = {
  name: 'visits/appointments',
  tables: { ofTeams: ['appointment'] },
  jobs: [expireHandler],
  hooks: [orderHook],
  constraints,
  erasers: { user: eraseAppointments, team: eraseTables('appointment') },
}
