import { defineHook } from '../../platform/db/hooks.ts'
import type { Module } from '../../platform/module/module.ts'
import { userDeleted } from '../../people/users/users.ts'
import { cancelAsked, orderDue, orderStepped } from '../orders/order-hooks.ts'
import { linkOrdersRoutes } from './routes.ts'
import { askToCancel, holdOrders, sendDueOrder, sendOnStep, sendOrderHandler } from './send-orders.ts'

export const linkOrders: Module = {
  name: 'lab/link-orders',
  about: 'orders as messages over links, answers of laboratories',
  tag: 'labs',
  operations: linkOrdersRoutes(),
  hooks: [
    defineHook(userDeleted, holdOrders),
    defineHook(orderDue, sendDueOrder),
    defineHook(orderStepped, sendOnStep),
    defineHook(cancelAsked, askToCancel),
  ],
  jobs: [sendOrderHandler],
}
