import type { Module } from '../../platform/module/module.ts'
import { deletedEndpointsCleanup } from './deleted-endpoints.ts'
import { deliveryCleanups } from './delivery-queue.ts'
import { recallCleanup } from './endpoint-recalls.ts'

/** What a deleted team had here goes with its endpoints. */
export const deliveryQueue: Module = {
  name: 'events/delivery-queue',
  tables: {
    others: [
      'deleted_webhook',
      'delivery',
      'delivery_attempt',
      'delivery_tally',
      'handful',
      'lane_recall',
      'webhook_lane',
      'webhook_message',
    ],
  },
  periodicTasks: [...deliveryCleanups, deletedEndpointsCleanup, recallCleanup],
}
