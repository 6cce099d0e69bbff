import type { Module } from '../../platform/module/module.ts'
import { remindHandler } from './reminders.ts'
import { planAppointmentRemindersHandler, remindAppointmentHandler } from './appointment-reminders.ts'
import { patientReminders } from './features.ts'

/** @param carriesSms whether text messages are sent */
export const reminders = (carriesSms: boolean): Module => ({
  name: 'notifications/reminders',
  about: 'reminders of open steps and of appointments',
  features: [patientReminders],
  jobs: [remindHandler(carriesSms), planAppointmentRemindersHandler, remindAppointmentHandler(carriesSms)],
})
