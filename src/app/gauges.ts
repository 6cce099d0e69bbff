// The gauges of queues that have dead letters.
import type { Registry } from 'prom-client'
import { textQueue } from '../notifications/messages/text-queue.ts'
import type { Cells } from '../platform/db/cells.ts'
import { mailQueue } from '../platform/mail/mail-outbox.ts'
import { jobs } from '../platform/queue/jobs.ts'
import { addQueueGauges } from '../platform/queue/queue-gauges.ts'

/**
 * Adds the gauges of jobs, and of mail and text messages where they are sent: without a server or gateway they wait by design.
 * @param unlimited names of jobs that are retried without limit
 */
export function addGauges(
  registry: Registry,
  cells: Cells,
  { unlimited, mail, sms }: { unlimited: readonly string[]; mail: boolean; sms: boolean },
): void {
  const PROGRAM = 'bin/drawbridge'
  const all = { registry, cells }
  addQueueGauges({ ...all, prefix: 'jobs', rows: 'Jobs', command: `${PROGRAM} jobs list`, queue: jobs, unlimited })
  if (mail)
    addQueueGauges({
      ...all,
      prefix: 'mail',
      rows: 'Mails',
      command: `${PROGRAM} mail failed`,
      queue: mailQueue,
      isInControl: true,
    })
  if (sms)
    addQueueGauges({
      ...all,
      prefix: 'text_messages',
      rows: 'Text messages',
      command: `${PROGRAM} text-messages list`,
      queue: textQueue,
    })
}
