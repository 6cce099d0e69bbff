// Processes stored messages: a queue over lab_message. A message is read by the profile of its link and applied to its order. One that is
// wrong fails and stays, and never stops the next; an unexpected error is retried. Messages of one order are processed in the order in which
// they came, those of one link never occupy all slots.
import { setTimeout as sleep } from 'node:timers/promises'
import type { CellName } from '../../settings/cells.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { Db } from '../../platform/db/database.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import { LeasedQueue, type QueueDefinition } from '../../platform/queue/leased-queue.ts'
import { QueueRunner, type HandlerResult, type RunEnd } from '../../platform/queue/queue-runner.ts'
import type { ClaimLimits } from '../../platform/queue/queue-slots.ts'
import { QueueWorker, QueueWorkers } from '../../platform/queue/queue-worker.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { errorFields, type Log } from '../../platform/telemetry/log.ts'
import { findLink, type AccountLink } from '../accounts/account-links.ts'
import type { LinkDelivery } from '../result-matching/incoming-result.ts'
import { interpretMessage } from '../result-matching/interpret-message.ts'
import { readMessage, splitMessages, type ReadMessage } from '../hl7/read-message.ts'
import { readDocuments } from '../links/link-documents.ts'
import type { LinkMessage } from '../links/link-message.ts'
import { UndecodableMessage, UnreadableMessage, UnsupportedMessage } from '../links/unreadable-message.ts'
import type { ReceiveContext } from '../result-matching/receive.ts'
import { ArrivalBurst } from './arrival-burst.ts'
import type { IssueReason } from './issue-reasons.ts'
import { reportIssue } from './issues.ts'
import { reportOtherMark, reportUnknownCodes } from './result-issues.ts'
import { findMessage, readMessageBytes, saveOutcome, type MessageOutcome } from './message-store.ts'
import { assertProcessingId, outcomeOf, receiveInMode } from './receive-in-mode.ts'

/** Messages that a process works on at once in a cell; the last slot is for links without a message in work. */
const SLOTS = 4
const SLOTS_FOR_OTHERS = 1
/** The pauses after unexpected errors, in seconds. A message that fails once more has failed. */
const BACKOFF_S = [5, 30, 120, 600]
/** The pause while the database or the control plane does not answer; that is no attempt. */
const UNAVAILABLE_S = 5

const ClaimedMessage = T.Object({
  id: T.String(),
  link_account_id: T.String(),
  attempts: T.Integer(),
  fence: T.Integer(),
})
type ClaimedMessage = Static<typeof ClaimedMessage>

/** Incoming messages as a queue. A message waits while an earlier one with its ordering key is due or in work. */
const messageQueue: QueueDefinition = {
  name: 'lab_message',
  key: { id: 'uuid' },
  row: ClaimedMessage,
  lease_s: 60,
  isPending: sql`
    state = 'received' and link_account_id is not null and not exists (
      select from lab_message e
      where e.state = 'received' and e.link_account_id is not distinct from lab_message.link_account_id
        and e.ordering_key = lab_message.ordering_key
        and (e.created_at, e.id) < (lab_message.created_at, lab_message.id) and e.due_at <= ${dbNow})`,
  order: sql`created_at, id`,
  attempts: 'attempts',
  error: 'error',
  completion: sql`due_at = null`,
  dead: {
    is: sql`state = 'failed'`,
    set: sql`state = 'failed', reason = 'unexpected', due_at = null, updated_at = ${dbNow}`,
    unset: sql`state = 'received', reason = null`,
    failed_at: 'updated_at',
    listedColumns: { link_account_id: T.String() },
  },
}

interface Processing {
  runner: QueueRunner<ClaimedMessage>
  handle: (row: ClaimedMessage) => Promise<HandlerResult>
  /** Processes a message if it is due and no other process has claimed it. @returns whether it was tried */
  tryOne: (id: string) => Promise<boolean>
}

/** The processing of the messages of a cell. */
export function createProcessing(context: ReceiveContext, log?: Log): Processing {
  const { cell, db } = context
  const queue = new LeasedQueue<ClaimedMessage>(db, messageQueue)
  const runner = new QueueRunner({
    queue,
    attemptsOf: ({ attempts }) => attempts,
    attemptsMax: () => BACKOFF_S.length + 1,
    backoffSeconds: (failures) => BACKOFF_S[failures - 1]!,
    onEnd(row, end) {
      logEnd(log, cell, row, end)
      // The next message about its order may be claimed now.
      workers.get(db)?.wake()
    },
    onError: (error, text) => log?.error({ cell, queue: 'lab messages', causes: errorFields(error) }, text),
  })
  const handle = ({ id }: ClaimedMessage) => processMessage(context, id)
  return {
    runner,
    handle,
    async tryOne(id) {
      const sent_ms = runner.leases.now_ms()
      const [row] = await queue.claim(1, sql`id = ${id}`)
      if (!row) return false
      const claimedRow = runner.hold(row, sent_ms)
      if ((await runner.run(claimedRow, () => handle(row))) === 'completed') await queue.complete([row])
      runner.leases.release(claimedRow.lease)
      return true
    },
  }
}

function logEnd(log: Log | undefined, cell: CellName, { id, attempts }: ClaimedMessage, { outcome, error, cause }: RunEnd): void {
  if (outcome === 'completed' || outcome === 'postponed') return
  const fields = {
    cell,
    'lab_message.id': id,
    attempt: attempts,
    error,
    ...(cause !== undefined && { causes: errorFields(cause) }),
  }
  log?.warn(fields, outcome === 'failed' ? 'lab message failed' : 'processing a lab message failed; will retry')
}

/** Processes a claimed message. What is wrong with the message itself ends its processing; any other error is thrown. */
async function processMessage(context: ReceiveContext, id: string): Promise<HandlerResult> {
  const queries = context.db.queries
  const message = await findMessage(queries, id)
  if (message?.state !== 'received') return
  if (message.reuses_control_id)
    await reportIssue(queries, { reason: 'control_id_conflict', link_account_id: message.link_account_id, message_id: id })
  try {
    const link = (await findLink(queries, message.link_account_id!))!
    const { outcome, faults } = await applyMessages(context, id, link)
    // Before the outcome, after which the message is not looked at again.
    for (const fault of faults) await reportIssue(queries, { ...fault, link_account_id: message.link_account_id, message_id: id })
    await saveOutcome(context.db, id, outcome)
  } catch (error) {
    if (error instanceof Problem && error.status >= 500) return { postponed_s: UNAVAILABLE_S }
    else throw error
  }
}

/** What is wrong with a message that is processed all the same. */
interface Fault {
  reason: IssueReason
  detail: string
}

/** Applies each message of a batch, and each order of a message, by itself: one that is wrong does not stop the others. */
async function applyMessages(
  context: ReceiveContext,
  message_id: string,
  link: AccountLink,
): Promise<{ outcome: MessageOutcome; faults: Fault[] }> {
  const queries = context.db.queries
  // The bytes are not held while their meaning is written: with a document they are long.
  const { reports, outcomes, faults } = await readMessageBytes(queries, message_id).then((bytes) => readAll(context, bytes, link))
  for (const { message, delivery, pdfs, documentFaults } of reports) {
    try {
      outcomes.push(await receiveInMode(context, link, message_id, { delivery, pdfs }))
      if (link.mode !== 'test') await reportUnknownCodes(queries, delivery)
      await reportOtherMark(queries, message, link)
      if (documentFaults.length) faults.push({ reason: 'document_refused', detail: documentFaults.join('; ') })
    } catch (error) {
      outcomes.push(toFault(error))
    }
  }
  return { outcome: worstOutcome(outcomes), faults }
}

/** What a message says about an order. */
interface OrderReport {
  /** Without its documents. */
  message: LinkMessage
  delivery: LinkDelivery
  pdfs: (Buffer | null)[]
  documentFaults: string[]
}

/** What can be read, and the outcomes of what cannot. */
function readAll(
  { cell }: ReceiveContext,
  bytes: Uint8Array,
  link: AccountLink,
): { reports: OrderReport[]; outcomes: MessageOutcome[]; faults: Fault[] } {
  const outcomes: MessageOutcome[] = []
  const faults: Fault[] = []
  const attempt = <R>(read: () => R): R | undefined => {
    try {
      return read()
    } catch (error) {
      outcomes.push(toFault(error))
      return undefined
    }
  }
  const batch = attempt(() => splitMessages(bytes))
  if (batch?.faults.length) faults.push({ reason: 'count_mismatch', detail: batch.faults.join('; ') })
  const messages = (batch?.messages ?? []).flatMap((part) => {
    const read = attempt(() => readOne(part, cell, link))
    // An answer to a trial order.
    if (read?.kind === 'answer') outcomes.push(outcomeOf('test'))
    return read?.kind === 'results' ? read.messages : []
  })
  const reports = messages.flatMap((message) => attempt(() => interpret(message, link)) ?? [])
  return { reports, outcomes, faults }
}

function interpret({ documents, ...message }: LinkMessage, link: AccountLink): OrderReport {
  if (!documents?.length) return { message, delivery: interpretMessage(message, link), pdfs: [], documentFaults: [] }
  const whole = { ...message, documents }
  const { pdfs, faults } = readDocuments(whole)
  // Texts are parts of the text of the whole message, and would hold its documents.
  return { ...structuredClone({ message, delivery: interpretMessage(whole, link) }), pdfs, documentFaults: faults }
}

function readOne(bytes: Uint8Array, cell: CellName, link: AccountLink): ReadMessage {
  assertProcessingId(cell, link, bytes)
  const message = readMessage(bytes, link.profile)
  if (message.kind === 'results' || link.mode === 'test') return message
  throw new UnsupportedMessage('The message is an answer, and did not come as one')
}

const SEVERITY = ['test', 'shadow', 'applied', 'review', 'failed']

/** The outcome of several: the worst state, and every error. */
function worstOutcome(outcomes: MessageOutcome[]): MessageOutcome {
  const [worst] = outcomes.toSorted((a, b) => SEVERITY.indexOf(b.state) - SEVERITY.indexOf(a.state))
  const errors = [...new Set(outcomes.flatMap(({ error }) => error ?? []))]
  return {
    ...worst!,
    reason: worst!.reason ?? outcomes.find(({ reason }) => reason !== null)?.reason ?? null,
    raw_result_ids: [...new Set(outcomes.flatMap(({ raw_result_ids }) => raw_result_ids))],
    order_id: outcomes.find((outcome) => outcome.order_id !== null)?.order_id ?? null,
    error: errors.join('; ').slice(0, ERROR_LENGTH_MAX) || null,
  }
}

const ERROR_LENGTH_MAX = 1000

/** The outcome of a message that is wrong. Any other error is thrown. */
function toFault(error: unknown): MessageOutcome {
  const nothing = { state: 'failed' as const, raw_result_ids: [], order_id: null }
  if (error instanceof UnreadableMessage)
    return { ...nothing, reason: reasonOf(error), error: error.message.slice(0, ERROR_LENGTH_MAX) }
  if (error instanceof Problem && error.status === 400 && typeof error.body.detail === 'string')
    return { ...nothing, reason: 'rejected', error: error.body.detail.slice(0, ERROR_LENGTH_MAX) }
  throw error
}

function reasonOf(error: UnreadableMessage): IssueReason {
  if (error instanceof UnsupportedMessage) return 'unsupported_type'
  return error instanceof UndecodableMessage ? 'undecodable' : 'unreadable'
}

/**
 * Claims due messages: of the link with the fewest messages in work, then of the one whose last turn was the earliest; of each link its
 * oldest. No link gets more than its share, whatever it has sent. Writes lab_message.
 */
async function claimFairly(
  queue: LeasedQueue<ClaimedMessage>,
  { total, groupMax, claimedRows }: ClaimLimits,
): Promise<{ rows: ClaimedMessage[]; isMore: boolean }> {
  if (total === 0) return { rows: [], isMore: true }
  const rows = await queue.claimFrom(
    sql`
    select m.ctid from lab_message m
    where m.state = 'received' and m.due_at <= ${dbNow} and (m.leased_until is null or m.leased_until <= ${dbNow}) and m.id = any (array(
      select due.id
      from lab_link k left join unnest(${[...claimedRows.keys()]}::uuid[], ${[...claimedRows.values()]}::int[])
        with ordinality as in_work (id, n, turn) on in_work.id = k.account_id
      cross join lateral (
        select id, created_at, row_number() over (order by created_at, id) as nth
        from (select id, created_at from lab_message where link_account_id = k.account_id and ${queue.isClaimable}
              order by created_at, id limit ${groupMax('')}) oldest) due
      where due.nth + coalesce(in_work.n, 0) <= ${groupMax('')}
      order by due.nth + coalesce(in_work.n, 0), in_work.turn nulls first, due.created_at, due.id limit ${total}))
    for update skip locked`,
    { team: undefined, set: queue.claimSets },
  )
  return { rows, isMore: rows.length > 0 }
}

/** The workers of this process, and the bursts of arriving messages that they let pass. */
const workers = new WeakMap<Db, { wake: () => void; burst: ArrivalBurst }>()

/** Runs what stores messages, and wakes the worker of this process, if there is one. */
export async function whileStoring<R>(db: Db, store: () => Promise<R>): Promise<R> {
  const worker = workers.get(db)
  worker?.burst.begin(performance.now())
  try {
    return await store()
  } finally {
    worker?.burst.end(performance.now())
    worker?.wake()
  }
}

export interface MessageProcessorOptions {
  cells: Cells
  findTenant: ReceiveContext['findTenant']
  log: Log
}

/** Processes the messages of the cells of this process. */
export class MessageProcessor extends QueueWorkers<ClaimedMessage> {
  constructor(options: MessageProcessorOptions) {
    super(options.cells.names.map((cell) => createWorker(cell, options)))
  }
}

function createWorker(cell: CellName, { cells, findTenant, log }: MessageProcessorOptions): QueueWorker<ClaimedMessage> {
  const db = cells.db(cell)
  const { runner, handle } = createProcessing({ cell, db, findTenant }, log)
  const burst = new ArrivalBurst()
  const worker = new QueueWorker({
    runner,
    slots: { slots: SLOTS, groupOf: ({ link_account_id }) => link_account_id, groupMax: () => SLOTS - SLOTS_FOR_OTHERS },
    claim: async (limits) => {
      for (let left_ms; (left_ms = burst.leftMs(performance.now())) > 0;) await sleep(left_ms)
      return claimFairly(runner.queue, limits)
    },
    handle: ({ row }) => handle(row),
    onError: (error, text) => log.error({ cell, queue: 'lab messages', causes: errorFields(error) }, text),
  })
  workers.set(db, { wake: () => worker.wake(), burst })
  return worker
}
