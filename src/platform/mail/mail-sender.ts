// Sends emails from the outboxes of the control plane and of a process's cells to its SMTP server. An email is marked as sent after it was
// sent: if the process is killed in between, no email is lost, but one may be sent twice.
import type { Cells } from '../db/cells.ts'
import type { Queries } from '../db/transaction.ts'
import { messageWorker } from '../queue/message-queue.ts'
import { QueueWorkers } from '../queue/queue-worker.ts'
import type { Log } from '../telemetry/log.ts'
import { mailQueue, type ClaimedMail } from './mail-outbox.ts'
import { Smtp, type SmtpSettings } from './smtp.ts'

/** Emails sent at the same time from one outbox. */
const SLOTS = 5
/** The pauses after failures, in seconds. An email that fails once more than this becomes a dead letter. */
const BACKOFF_S = [30, 300, 1800, 7200, 21_600, 43_200]
/** Pause after which an email that must not be sent now is checked again. */
const POSTPONED_S = 600

export interface MailSenderOptions {
  cells: Cells
  smtp: SmtpSettings
  log: Log
  /** Which of these emails of a cell must not be sent now, for example because their subject is deleted; they are checked again. */
  isHeld: (queries: Queries, mail_ids: readonly string[]) => Promise<ReadonlySet<string>>
}

/** Sends emails of the control plane and of the cells of this process. */
export class MailSender extends QueueWorkers<ClaimedMail> {
  constructor(options: MailSenderOptions) {
    const smtp = new Smtp(options.smtp)
    super((['control', ...options.cells.names] as const).map((name) => createWorker(name, smtp, options)))
  }
}

function createWorker(cell: 'control' | Cells['names'][number], smtp: Smtp, { cells, isHeld: held, log }: MailSenderOptions) {
  const db = cell === 'control' ? cells.control : cells.db(cell)
  // The control plane has no patients.
  const isHeld = async (id: string) => cell !== 'control' && (await held(db.queries, [id])).has(id)
  return messageWorker<ClaimedMail>({
    cell,
    db,
    log,
    table: mailQueue,
    logNames: { queue: 'mail', message: 'mail', idField: 'mail.id' },
    backoff_s: BACKOFF_S,
    slots: { slots: SLOTS, groupOf: () => '' },
    async send(row) {
      if (await isHeld(row.id)) return { postponed_s: POSTPONED_S }
      const outcome = await smtp.send(row)
      return outcome.isSent ? undefined : { error: outcome.error, isRetryable: outcome.retryable }
    },
  })
}
