// Sends the text messages of a process's cells to the gateway. A message is completed after the gateway has accepted it: a killed process
// loses none, but may send one twice, with the same reference. The messages of an order are sent one after the other. Messages for a
// deleted user wait.
import type { CellName } from '../../settings/cells.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { messageWorker } from '../../platform/queue/message-queue.ts'
import { QueueWorkers, type QueueWorker } from '../../platform/queue/queue-worker.ts'
import { sendSms, type SmsSettings } from '../../platform/sms/sms-gateway.ts'
import type { Log } from '../../platform/telemetry/log.ts'
import { isHeldText, textQueue, type ClaimedText } from '../messages/text-queue.ts'

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
    super(options.cells.names.map((name) => createWorker(name, options)))
  }
}

function createWorker(cell: CellName, { cells, sms, log }: SmsSenderOptions): QueueWorker<ClaimedText> {
  const db = cells.db(cell)
  return messageWorker<ClaimedText>({
    cell,
    db,
    log,
    table: textQueue,
    logNames: { queue: 'text messages', message: 'text message', idField: 'message.id' },
    backoff_s: BACKOFF_S,
    slots: {
      slots: SLOTS,
      groupOf: ({ team_id }) => team_id,
      groupMax: () => SLOTS - SLOTS_FOR_OTHERS,
      orderingKeyOf: ({ order_id }) => order_id,
    },
    groupColumn: 'team_id',
    async send(row) {
      if (await isHeldText(db.queries, row)) return { postponed_s: POSTPONED_S }
      const outcome = await sendSms(sms, { reference: row.id, to: row.recipient, text: row.body })
      return outcome.isSent ? undefined : { error: outcome.error, isRetryable: outcome.retryable }
    },
  })
}
