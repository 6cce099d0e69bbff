import type { Module } from '../../platform/module/module.ts'
import { orderHook } from './order-hook.ts'

/** @param carriesSms whether text messages are sent */
export const orderUpdates = (carriesSms: boolean): Module => ({
  name: 'notifications/order-updates',
  about: 'messages about status transitions of orders',
  hooks: [orderHook({ sms: carriesSms })],
})
