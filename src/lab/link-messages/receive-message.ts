// Receives the messages of links: their bytes are stored and committed before anything of them is understood, so that a message that cannot be
// read or applied is never lost. A transport acknowledges a message after `storeIncoming` has returned; message-processing.ts applies it
// later. Transports store messages by message-groups.ts.
import { setTimeout as sleep } from 'node:timers/promises'
import { findLink } from '../accounts/account-links.ts'
import type { Db } from '../../platform/db/database.ts'
import { badRequest, tooManyRequests } from '../../platform/http/errors.ts'
import { readHeader, type MessageHeader } from '../hl7/read-message.ts'
import type { ReceiveContext } from '../result-matching/receive.ts'
import { digestOf, findMessage, makeDue, storeBytes, type MessageState, type NewIncoming } from './message-store.ts'
import { createProcessing, whileStoring } from './message-processing.ts'
import { orderingKey } from './ordering-key.ts'

/** The longest message: a PDF of 10 MB in Base64 fits twice. */
export const MESSAGE_BYTES_MAX = 33_554_432

export interface IncomingBytes {
  bytes: Uint8Array
  /** The account of the link; null if none is known for the sender. */
  link_account_id: string | null
  /** Why no link is known, without a text of the message. */
  no_link_reason?: string
  /** `mllp ADDRESS:PORT`, `folder NAME`, `sftp NAME` or `command`. */
  source: string
}

export interface StoredIncoming {
  message_id: string
  /** The link has delivered the same bytes before. */
  isRepetition: boolean
  /** Undefined: the message cannot be read. */
  header?: MessageHeader
  /** Why it cannot be read; without patient data. */
  unreadable?: string
}

const UNREADABLE = 'The header of the message cannot be read'

/**
 * Stores a message and commits. It is due at once for processing, also one that is unreadable: reading it again reports every fault. A message
 * without a link is stored as failed; 1,000 of these are stored for a source within a day. A repetition of a message that failed is due
 * again. Writes lab_message.
 * Errors: 400 an empty message, or one of more than 32 MiB; 429 too many messages of unknown senders. Of these nothing is stored. After any
 * other error it is not known whether the message was stored: it must not be acknowledged, and the laboratory will repeat it.
 */
async function storeIncoming({ db }: Pick<ReceiveContext, 'db'>, incoming: IncomingBytes): Promise<StoredIncoming> {
  const [outcome] = await storePrepared(db, [prepareIncoming(incoming)])
  if (outcome!.status === 'rejected') throw outcome!.reason
  return outcome!.value
}

/** A message as it is stored. Errors: 400 as `storeIncoming`. */
export function prepareIncoming({
  bytes,
  link_account_id,
  no_link_reason = 'No link is known for the sender',
  source,
}: IncomingBytes): NewIncoming {
  if (bytes.length === 0 || bytes.length > MESSAGE_BYTES_MAX)
    throw badRequest(`A message must have 1 to ${MESSAGE_BYTES_MAX} bytes`)
  return {
    link_account_id,
    source: source.replace(/:\d+$/u, ''),
    bytes,
    digest: digestOf(bytes),
    header: readHeader(bytes),
    ordering_key: orderingKey(bytes),
    fault: link_account_id === null ? { reason: 'unknown_link', error: no_link_reason } : undefined,
  }
}

/**
 * Stores messages as `storeIncoming`, with one commit. One that cannot be stored does not stop the others. Never rejects.
 * @param messages no two of one link with the same bytes or control id
 */
export async function storePrepared(db: Db, messages: readonly NewIncoming[]): Promise<PromiseSettledResult<StoredIncoming>[]> {
  try {
    const rows = await whileStoring(db, () => storeBytes(db.queries, messages))
    return await Promise.allSettled(messages.map(async ({ header }, i) => toReceipt(rows[i], header)))
  } catch (error) {
    if (messages.length === 1 || !isOfRow(error)) return messages.map(() => ({ status: 'rejected', reason: error }))
    const outcomes: PromiseSettledResult<StoredIncoming>[] = []
    for (const message of messages) outcomes.push(...(await storePrepared(db, [message])))
    return outcomes
  }
}

function toReceipt(row: { id: string; isNew: boolean } | undefined, header: MessageHeader | undefined): StoredIncoming {
  if (!row) throw tooManyRequests('Too many messages of unknown senders', 3600)
  return { message_id: row.id, isRepetition: !row.isNew, ...(header ? { header } : { unreadable: UNREADABLE }) }
}

/** Whether an error may be of one row: its values, a constraint, a deadlock. */
const isOfRow = (error: unknown): boolean => /^(?:22|23|40)...$/u.test((error as { code?: string }).code ?? '')

export interface MessageReceipt {
  message_id: string
  state: MessageState
  /** Why the message could not be processed; without patient data. */
  error: string | null
  raw_result_id: string | null
  order_id: string | null
  /** The link has delivered the same bytes before. */
  isRepetition: boolean
}

/**
 * Receives a message over the link of a lab account, and waits until it is processed, in this process or in a worker. The state `received`
 * means that it is not, after a minute or because an attempt failed that is repeated later. Writes lab_message, and writes and emits as
 * `receiveFromLink`.
 * Errors: 400 the account has no link; errors of `storeIncoming`.
 */
export async function receiveMessage(context: ReceiveContext, account_id: string, bytes: Uint8Array): Promise<MessageReceipt> {
  if (!(await findLink(context.db.queries, account_id))) throw badRequest('The lab account has no link')
  const { message_id, isRepetition } = await storeIncoming(context, { bytes, link_account_id: account_id, source: 'command' })
  return { ...(await processNow(context, message_id)), isRepetition }
}

/**
 * Processes a stored message again, by the present profile of its link, and waits as `receiveMessage`. Writes and emits as `receiveMessage`.
 * @returns undefined for an unknown message, an outgoing one, or one without a link
 */
export async function replayMessage(
  context: ReceiveContext,
  id: string,
): Promise<Omit<MessageReceipt, 'isRepetition'> | undefined> {
  return (await makeDue(context.db.queries, id)) ? processNow(context, id) : undefined
}

const WAIT_MS = 60_000
const POLL_MS = 50

/** Processes a message that is due, or waits until the worker that has claimed it has done so. */
async function processNow(context: ReceiveContext, id: string): Promise<Omit<MessageReceipt, 'isRepetition'>> {
  const processing = createProcessing(context)
  for (const end_ms = performance.now() + WAIT_MS; ;) {
    const wasTried = await processing.tryOne(id)
    const { state, error, raw_result_id, order_id } = (await findMessage(context.db.queries, id))!
    if (wasTried || state !== 'received' || performance.now() > end_ms)
      return { message_id: id, state, error, raw_result_id, order_id }
    await sleep(POLL_MS)
  }
}
