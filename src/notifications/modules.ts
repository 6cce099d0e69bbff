// The modules of notifications, from the bottom up.
import type { Module } from '../platform/module/module.ts'
import { messages } from './messages/module.ts'
import { orderUpdates } from './order-updates/module.ts'
import { portal } from './portal/module.ts'
import type { PortalDependencies } from './portal/pages.ts'
import { reminders } from './reminders/module.ts'
import { sms, type SmsDependencies } from './sms/module.ts'

export function notifications(dependencies: SmsDependencies & PortalDependencies): Module[] {
  const carriesSms = dependencies.sms !== undefined
  return [messages, reminders(carriesSms), orderUpdates(carriesSms), sms(dependencies), portal(dependencies)]
}
