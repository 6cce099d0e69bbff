// Sends the text messages of a process's cells to the gateway. A message is completed after the gateway has accepted it: a killed process
// loses none, but may send one twice, with the same reference. The messages of an order are sent one after the other. Messages for a
// deleted user wait.
import type { CellName } from '../../platform/db/cell-names.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { LeasedQueue } from '../../platform/queue/leased-queue.ts'
import { QueueRunner, type RunEnd } from '../../platform/queue/queue-runner.ts'
import { QueueWorker, QueueWorkers } from '../../platform/queue/queue-worker.ts'
import { sendSms, type SmsSettings } from '../../platform/sms/sms-gateway.ts'
import { errorFields, type Log } from '../../platform/telemetry/log.ts'
import { isHeldText, textQueue, type ClaimedText } from '../messages/text-queue.ts'

const POLL_MS = 1000
/** Concurrent text messages in a cell; the last slots are for teams without a message in flight. */
const SLOTS = 10
const SLOTS_FOR_OTHERS = 2
/** Backoff after failures, in seconds. A message that fails once more becomes a dead letter. */
const BACKOFF_S = [10, 60, 300, 1800, 7200]
/** Time until a message about an order of a deleted user is checked again: the deletion may have been undone. */
const POSTPONED_S = 600

export interface SmsSenderOptions {
  cells: Cells
  sms: SmsSettings
  log: Log
}

/** Sends the text messages of the cells of this process. */
export class SmsSender extends QueueWorkers<ClaimedText> {
  constructor(options: SmsSenderOptions) {
    super(options.cells.names.map((name) => workerOf(name, options)))
  }
}

function workerOf(cell: CellName, { cells, sms, log }: SmsSenderOptions): QueueWorker<ClaimedText> {
  const db = cells.of(cell)
  const queue = new LeasedQueue<ClaimedText>(db, textQueue)
  const onError = (error: unknown, message: string) =>
    log.error({ cell, queue: 'text messages', causes: errorFields(error) }, message)
  const onEnd = ({ id, attempts }: ClaimedText, { outcome, error }: RunEnd) => {
    const fields = { cell, 'message.id': id, attempt: attempts, ...(error !== undefined && { error }) }
    if (outcome === 'done') log.info(fields, 'text message sent')
    else if (outcome !== 'postponed')
      log.warn(fields, outcome === 'failed' ? 'text message rejected' : 'text message failed; will retry')
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
    slots: {
      slots: SLOTS,
      groupOf: ({ team_id }) => team_id,
      groupMax: () => SLOTS - SLOTS_FOR_OTHERS,
      orderingKeyOf: ({ order_id }) => order_id,
    },
    beforeClaim: () => queue.expire(),
    claim: (limits) => queue.claimWithin(limits, 'team_id'),
    async handle({ row }) {
      if (await isHeldText(db.queries, row)) return { postponed_s: POSTPONED_S }
      const outcome = await sendSms(sms, { reference: row.id, to: row.recipient, text: row.body })
      return outcome.sent ? undefined : { error: outcome.error, isRetryable: outcome.retryable }
    },
    poll_ms: POLL_MS,
    onError,
  })
}
