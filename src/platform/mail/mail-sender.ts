// Sends mail from the outboxes of the control plane and of a process's cells to its server of mail. A mail is completed after it was sent, so
// that a killed process loses none, and may have sent one twice.
import type { Cells } from '../db/cells.ts'
import type { Queries } from '../db/transaction.ts'
import { LeasedQueue } from '../queue/leased-queue.ts'
import { QueueRunner, type RunEnd } from '../queue/queue-runner.ts'
import { QueueWorker, QueueWorkers } from '../queue/queue-worker.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import { mailQueue, type ClaimedMail } from './mail-outbox.ts'
import { Smtp, type SmtpSettings } from './smtp.ts'

const POLL_MS = 1000
/** Mails sent at once from one outbox. */
const SLOTS = 5
/** The pauses after failures, in seconds. A mail that has failed once more than this becomes a dead letter. */
const BACKOFF_S = [30, 300, 1800, 7200, 21_600, 43_200]
/** A mail that must not be sent now is looked at again after so long. */
const POSTPONED_S = 600

export interface MailSenderOptions {
  cells: Cells
  smtp: SmtpSettings
  log: Log
  /** Which of these mails of a cell must not be sent now, for example because whom they are about is deleted; they are asked about again. */
  held: (queries: Queries, mail_ids: readonly string[]) => Promise<ReadonlySet<string>>
}

/** Sends mail of the control plane and of the cells of this process. */
export class MailSender extends QueueWorkers<ClaimedMail> {
  constructor(options: MailSenderOptions) {
    const smtp = new Smtp(options.smtp)
    super((['control', ...options.cells.names] as const).map((name) => workerOf(name, smtp, options)))
  }
}

function workerOf(cell: 'control' | Cells['names'][number], smtp: Smtp, { cells, held, log }: MailSenderOptions) {
  const db = cell === 'control' ? cells.control : cells.of(cell)
  const queue = new LeasedQueue<ClaimedMail>(db, mailQueue)
  // The control plane knows no patients.
  const isHeld = async (id: string) => cell !== 'control' && (await held(db.queries, [id])).has(id)
  const onError = (error: unknown, message: string) => log.error({ cell, queue: 'mail', causes: errorFields(error) }, message)
  const onEnd = ({ id, attempts }: ClaimedMail, { outcome, error }: RunEnd) => {
    const fields = { cell, 'mail.id': id, attempt: attempts, ...(error !== undefined && { error }) }
    if (outcome === 'done') log.info(fields, 'mail sent')
    else if (outcome !== 'postponed') log.warn(fields, outcome === 'failed' ? 'mail rejected' : 'mail failed; will retry')
  }
  return new QueueWorker({
    runner: new QueueRunner({
      queue,
      attemptsOf: ({ attempts }) => attempts,
      attemptsMax: () => BACKOFF_S.length + 1,
      backoffSeconds: (failures) => BACKOFF_S[failures - 1]!,
      onEnd,
      onError,
    }),
    slots: { slots: SLOTS, groupOf: () => '' },
    beforeClaim: () => queue.expire(),
    claim: (limits) => queue.claimWithin(limits),
    async handle({ row }) {
      if (await isHeld(row.id)) return { postponed_s: POSTPONED_S }
      const sending = await smtp.send(row)
      return sending.sent ? undefined : { error: sending.error, isRetryable: sending.retryable }
    },
    poll_ms: POLL_MS,
    onError,
  })
}
