import { defineHook } from '../../platform/db/hooks.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { Module } from '../../platform/module/module.ts'
import type { Config } from '../../settings/config.ts'
import { bodyCleanup } from '../../platform/queue/event-retention.ts'
import { eventsErased } from '../../platform/queue/outbox.ts'
import { pipelineChanged } from '../brokers/pipelines.ts'
import {
  endpointChanged,
  endpointChanging,
  endpointCreated,
  endpointDeleting,
  endpointReadable,
} from '../endpoints/endpoint-hooks.ts'
import { deletedDestinationsCleanup } from './deleted-destinations.ts'
import { deliveryCleanups, isStillToSend, eraseDeliveriesOfEvents, eraseTeamDeliveries, stopDeliveries } from './delivery-rows.ts'
import { createDeliveryWorker, type DeliveryOptions } from './delivery-worker.ts'
import { createWebhookDestination, deleteDestination, resetHealth, retryUnreadable, syncBrokers } from './destination-rows.ts'
import { lockLease, revokedLeaseCleanup, revokeLease } from './leases.ts'
import { eventTypes } from './operational-messages.ts'

/** @param options called when the worker is created */
export const delivery = (
  cells: Cells,
  { event_body_days }: Pick<Config, 'event_body_days'>,
  options: () => DeliveryOptions,
): Module => ({
  name: 'events/delivery',
  about: 'fan-out, delivery to endpoints and brokers',
  eventTypes,
  tables: {
    others: [
      'deleted_destination',
      'delivery',
      'delivery_attempt',
      'delivery_attempt_count',
      'destination',
      'revoked_lease',
      'webhook_message',
    ],
  },
  workers: [() => createDeliveryWorker(cells, options())],
  hooks: [
    defineHook(endpointCreated, async (tx, id) => void (await createWebhookDestination(tx, id))),
    defineHook(endpointChanging, async (tx, id) => void (await lockLease(tx, id))),
    defineHook(endpointChanged, async (tx, id, { isDisabled, isMoved }) => {
      if (isDisabled) await stopDeliveries(tx, tx.team, id)
      if (isDisabled || isMoved) await revokeLease(tx, tx.team, id)
      await resetHealth(tx, id)
    }),
    defineHook(endpointDeleting, async (tx, id) => void (await deleteDestination(tx, tx.team, id))),
    defineHook(endpointReadable, retryUnreadable),
    defineHook(pipelineChanged, syncBrokers),
    defineHook(eventsErased, eraseDeliveriesOfEvents),
  ],
  periodicTasks: [
    bodyCleanup(event_body_days, isStillToSend),
    ...deliveryCleanups,
    deletedDestinationsCleanup,
    revokedLeaseCleanup,
  ],
  erasers: { team: eraseTeamDeliveries },
})
