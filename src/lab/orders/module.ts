import type { Module } from '../../platform/module/module.ts'
import type { CoversCharacter } from '../../platform/pdf/extra-fonts.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { orderConstraints, eraseOrders, type CountConnections } from './orders.ts'
import { ordersRoutes } from './routes.ts'
import { dispatchHandler } from './send-to-lab.ts'
import { onSiteCollection } from './features.ts'
import { eventTypes } from './event-types.ts'

interface OrderDependencies {
  countConnections: CountConnections
  /** Which characters documents can print in addition to those of the embedded font. */
  covers: CoversCharacter
}

export const orders = ({ countConnections, covers }: OrderDependencies): Module => ({
  name: 'lab/orders',
  about: 'orders, lifecycles, lists, sending to a laboratory',
  tag: 'orders',
  eventTypes,
  features: [onSiteCollection],
  tables: {
    ofTeams: ['lab_order'],
    views: ['lab_order_of_team'],
  },
  operations: ordersRoutes(countConnections, covers),
  jobs: [dispatchHandler],
  constraints: orderConstraints,
  erasers: {
    user: eraseOrders,
    team: eraseTables('lab_order'),
  },
})
