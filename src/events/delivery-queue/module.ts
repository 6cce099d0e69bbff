import { on } from '../../platform/db/hooks.ts'
import type { Module } from '../../platform/module/module.ts'
import {
  endpointChanged,
  endpointChanging,
  endpointCreated,
  endpointDeleting,
  endpointReadable,
} from '../endpoints/endpoint-hooks.ts'
import { deletedEndpointsCleanup } from './deleted-endpoints.ts'
import { deliveryCleanups, stopDeliveries, eraseTeamDeliveries } from './delivery-queue.ts'
import { createEndpointLease, resetEndpointHealth, retryUnreadable } from './endpoint-leases.ts'
import { lockEndpointLease, revokedLeaseCleanup, revokeEndpointLease } from './endpoint-revocations.ts'
import { eventTypes } from './event-types.ts'

export const deliveryQueue: Module = {
  name: 'events/delivery-queue',
  about: 'the queue of deliveries: due times, leases, the retry schedule; never the network',
  eventTypes,
  tables: {
    others: [
      'deleted_webhook',
      'delivery',
      'delivery_attempt',
      'delivery_attempt_count',
      'revoked_webhook_lease',
      'webhook_lease',
      'webhook_message',
    ],
  },
  hooks: [
    on(endpointCreated, async (tx, id) => void (await createEndpointLease(tx, id))),
    on(endpointChanging, async (tx, id) => void (await lockEndpointLease(tx, id))),
    on(endpointChanged, async (tx, id, { isDisabled, isMoved }) => {
      if (isDisabled) await stopDeliveries(tx, tx.team, id)
      if (isDisabled || isMoved) await revokeEndpointLease(tx, id)
      await resetEndpointHealth(tx, id)
    }),
    on(endpointDeleting, revokeEndpointLease),
    on(endpointReadable, retryUnreadable),
  ],
  periodicTasks: [...deliveryCleanups, deletedEndpointsCleanup, revokedLeaseCleanup],
  erasers: { team: eraseTeamDeliveries },
}
