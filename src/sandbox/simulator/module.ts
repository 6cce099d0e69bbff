import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { simulatorRoutes } from './routes.ts'
import { orderHooks, simulationHandlers, type AppointmentStart } from './simulate.ts'

export const simulator = ({ appointmentStart }: { appointmentStart: AppointmentStart }): Module => ({
  name: 'sandbox/simulator',
  about: 'simulated lifecycles of orders',
  tag: 'simulator',
  tables: { ofTeams: ['simulation'] },
  operations: simulatorRoutes,
  jobs: simulationHandlers(appointmentStart),
  hooks: orderHooks,
  erasers: { team: eraseTables('simulation') },
})
