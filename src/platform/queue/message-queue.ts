// Queues of messages that are sent to people: email and text messages. Both kinds of tables have the same states and columns; both are
// sent at least once, and an attempt that failed is retried after growing pauses.
import type { Db } from '../db/database.ts'
import { dbNow } from '../db/leases.ts'
import { sql, type Sql } from '../db/sql.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import type { RetryableQueue } from './dead-letters.ts'
import type { ClaimedRow } from './leased-table.ts'
import { LeasedQueue } from './leased-queue.ts'
import { QueueRunner, type HandlerResult, type RunEnd } from './queue-runner.ts'
import type { QueueSlotsOptions } from './queue-slots.ts'
import { QueueWorker } from './queue-worker.ts'

const POLL_MS = 1000

export interface MessageTable extends Pick<RetryableQueue, 'name' | 'key' | 'row' | 'lease_s'> {
  isExpired: Sql
  /** Columns whose content is deleted once the message was sent. */
  clearedWhenSent?: Sql
  /** See `QueueDefinition`. */
  dead: Pick<RetryableQueue['dead'], 'listedColumns' | 'listed_s'>
}

/** The queue of a table of messages with the columns state, attempts, due_at, finished_at and error, and those of a lease. */
export const messageQueue = ({ clearedWhenSent, dead, ...table }: MessageTable): RetryableQueue => ({
  ...table,
  isDurable: true,
  isPending: sql`due_at is not null`,
  order: sql`due_at, id`,
  attempts: 'attempts',
  error: 'error',
  completion: sql`state = 'sent', due_at = null, error = null, finished_at = ${dbNow}${clearedWhenSent ? sql`, ${clearedWhenSent}` : sql``}`,
  isCompletedForAll: true,
  dead: {
    is: sql`state = 'failed'`,
    set: sql`state = 'failed', due_at = null, finished_at = ${dbNow}`,
    unset: sql`state = 'waiting', finished_at = null`,
    failed_at: 'finished_at',
    ...dead,
  },
})

type ClaimedMessage = ClaimedRow & { id: string; attempts: number }

export interface MessageWorkerOptions<Row extends ClaimedMessage> {
  cell: string | 'control'
  db: Db
  table: RetryableQueue
  /** What a message is called in the log, and the field that holds its id. */
  logNames: { queue: string; message: string; idField: string }
  /** The pauses after failures, in seconds. A message that fails once more becomes a dead letter. */
  backoff_s: readonly number[]
  slots: QueueSlotsOptions<Row>
  /** The column of the groups of `slots`. */
  groupColumn?: string
  send: (row: Row) => Promise<HandlerResult>
  log: Log
}

/** Makes the worker that sends the messages of one table. It logs ids, attempts and error codes, nothing of the messages. */
export function messageWorker<Row extends ClaimedMessage>(options: MessageWorkerOptions<Row>): QueueWorker<Row> {
  const { cell, db, table, logNames, backoff_s, slots, groupColumn, send, log } = options
  const queue = new LeasedQueue<Row>(db, table)
  const onError = (error: unknown, message: string) =>
    log.error({ cell, queue: logNames.queue, causes: errorFields(error) }, message)
  const onEnd = ({ id, attempts }: Row, { outcome, error }: RunEnd) => {
    const fields = { cell, [logNames.idField]: id, attempt: attempts, ...(error !== undefined && { error }) }
    if (outcome === 'completed') log.info(fields, `${logNames.message} sent`)
    else if (outcome !== 'postponed')
      log.warn(fields, outcome === 'failed' ? `${logNames.message} rejected` : `${logNames.message} failed; will retry`)
  }
  return new QueueWorker({
    runner: new QueueRunner({
      queue,
      attemptsOf: ({ attempts }) => attempts,
      attemptsMax: () => backoff_s.length + 1,
      backoffSeconds: (failures) => backoff_s[failures - 1]!,
      onEnd,
      onError,
    }),
    slots,
    beforeClaim: () => queue.expire(),
    claim: (limits) => queue.claimWithin(limits, groupColumn),
    handle: ({ row }) => send(row),
    poll_ms: POLL_MS,
    onError,
  })
}
