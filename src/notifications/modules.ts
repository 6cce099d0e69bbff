// The modules of notifications, from the bottom up.
import type { Module } from '../platform/module/module.ts'
import { messages } from './messages/module.ts'
import { orderHook } from './order-updates/order-hook.ts'
import { portal } from './portal/module.ts'
import type { PortalDependencies } from './portal/portal-pages.ts'
import { remindHandler } from './reminders/reminders.ts'
import { planAppointmentRemindersHandler, remindAppointmentHandler } from './reminders/appointment-reminders.ts'
import { patientReminders } from './reminders/features.ts'
import { sms, type SmsDependencies } from './sms/module.ts'

export function notifications(dependencies: SmsDependencies & PortalDependencies): Module[] {
  const carriesSms = dependencies.sms !== undefined
  return [
    messages,
    {
      name: 'notifications/reminders',
      about: 'reminders',
      features: [patientReminders],
      jobs: [remindHandler(carriesSms), planAppointmentRemindersHandler, remindAppointmentHandler(carriesSms)],
    },
    {
      name: 'notifications/order-updates',
      about: 'messages about status transitions of orders',
      hooks: [orderHook({ sms: carriesSms })],
    },
    sms(dependencies),
    portal(dependencies),
  ]
}
