// The gauges of queues: jobs, mail, text messages, webhooks, brokers.
import type { Registry } from 'prom-client'
import { countDeliveryBacklog } from '../events/delivery/delivery-rows.ts'
import { textQueue } from '../notifications/messages/text-queue.ts'
import type { Cells } from '../platform/db/cells.ts'
import { mailQueue } from '../platform/mail/mail-outbox.ts'
import { jobs } from '../platform/queue/jobs.ts'
import { addCellGauges } from '../platform/queue/cell-gauges.ts'
import { COUNTED_MAX } from '../platform/queue/dead-letters.ts'
import { addQueueGauges } from '../platform/queue/queue-gauges.ts'

/**
 * Adds the gauges of jobs, of events that wait for webhook endpoints and brokers, and of mail and text messages where they are sent: without
 * a server or gateway they wait by design.
 * @param unlimited names of jobs that are retried without limit
 * @param fresh_ms the maximum age of the reported values, for tests
 */
export function addGauges(
  registry: Registry,
  cells: Cells,
  { unlimited, mail, sms, ...options }: { unlimited: readonly string[]; mail: boolean; sms: boolean; fresh_ms?: number },
): void {
  const PROGRAM = 'bin/drawbridge'
  const all = { registry, cells, ...options }
  addQueueGauges({ ...all, prefix: 'jobs', rows: 'Jobs', command: `${PROGRAM} jobs list --cell all`, queue: jobs, unlimited })
  addCellGauges({
    ...all,
    read: countDeliveryBacklog,
    gauges: [
      {
        name: 'webhook_deliveries_waiting',
        help: `Deliveries to webhook endpoints that are due and not being sent; at most ${COUNTED_MAX} are counted.`,
        value: ({ waiting }) => waiting,
      },
      {
        name: 'webhook_deliveries_waiting_seconds',
        help: 'For how long the oldest of the waiting deliveries has been due; 0 when there is none.',
        value: ({ waiting_s }) => waiting_s,
      },
      {
        name: 'event_outbox_entries',
        help: `Groups of events that wait to be copied to webhook endpoints, brokers and feeds; at most ${COUNTED_MAX} are counted.`,
        value: ({ outbox }) => outbox,
      },
      {
        name: 'pipeline_events_waiting',
        help: `Events that no broker has acknowledged yet; at most ${COUNTED_MAX} are counted.`,
        value: ({ broker_events }) => broker_events,
      },
      {
        name: 'pipeline_events_waiting_seconds',
        help: 'The age of the oldest event that no broker has acknowledged yet; 0 when there is none.',
        value: ({ broker_events_s }) => broker_events_s,
      },
    ],
  })
  if (mail)
    addQueueGauges({
      ...all,
      prefix: 'mail',
      rows: 'Mails',
      command: `${PROGRAM} mail failed --cell all`,
      queue: mailQueue,
      isInControl: true,
    })
  if (sms)
    addQueueGauges({
      ...all,
      prefix: 'text_messages',
      rows: 'Text messages',
      command: `${PROGRAM} text-messages list --cell all`,
      queue: textQueue,
    })
}
