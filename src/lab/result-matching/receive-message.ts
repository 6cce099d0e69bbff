// Receives the messages of links: their bytes are stored and committed before anything of them is understood, so that a message that cannot be
// read or applied is never lost. A transport acknowledges a message after `receiveMessage` has returned.
//
// Today `drawbridge links receive` is the only transport. What a transport must know is in docs/decisions/lab-messages.md.
import { findLink } from '../accounts/account-links.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { interpretMessage } from './interpret-message.ts'
import { readHeader, readMessage, UnreadableMessage } from './link-message.ts'
import { findMessage, saveOutcome, storeMessage, type MessageState } from './message-store.ts'
import { receiveFromLink, type Receipt, type ReceiveContext } from './receive.ts'

/** The longest message: a PDF of 10 MB in Base64 fits twice. */
export const MESSAGE_BYTES_MAX = 33_554_432

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
 * Receives a message over the link of a lab account: stores it, commits, and processes it in further transactions. A repetition is processed
 * only if the first message was not. A message that cannot be processed gets the state `failed` and an error.
 * Writes lab_message, and what `receiveFromLink` writes. Emits as `receiveFromLink`.
 * Errors: 400 the account has no link, an empty message, or one of more than 32 MiB: of these nothing is stored. Any other error means that
 * the message was not processed and must not be acknowledged; it is stored if the database was reached. After five errors that are not
 * of the database the message fails, too.
 */
export async function receiveMessage(context: ReceiveContext, account_id: string, bytes: Uint8Array): Promise<MessageReceipt> {
  if (!(await findLink(context.db.queries, account_id))) throw badRequest('The lab account has no link')
  if (bytes.length === 0 || bytes.length > MESSAGE_BYTES_MAX)
    throw badRequest(`A message must have 1 to ${MESSAGE_BYTES_MAX} bytes`)
  const { id, isNew } = await context.db.plainTx((tx) => storeMessage(tx, account_id, bytes, readHeader(bytes)))
  return { ...(await processMessage(context, id)), isRepetition: !isNew }
}

/**
 * Processes a stored message, by the present profile of its link. A message that was processed before stays as it is, unless `isForced`.
 * Writes, emits and fails as `receiveMessage`. Errors: 404 unknown message.
 */
export async function processMessage(
  context: ReceiveContext,
  id: string,
  { isForced = false }: { isForced?: boolean } = {},
): Promise<Omit<MessageReceipt, 'isRepetition'>> {
  const { db } = context
  const message = await findMessage(db.queries, id)
  if (!message) throw notFound('Message not found')
  const isProcessed = message.state === 'applied' || message.state === 'review' || message.state === 'done'
  if (isProcessed && !isForced)
    return { message_id: id, state: message.state, error: null, raw_result_id: message.raw_result_id, order_id: null }
  const link = (await findLink(db.queries, message.link_account_id))!
  const outcome = await attempt(() => receiveFromLink(context, interpretMessage(readMessage(message.bytes), link))).catch(
    async (error: unknown) => {
      if (error instanceof Problem) throw error
      const isLast = message.attempts + 1 >= ATTEMPTS_MAX
      if (isLast) return { ...notApplied, error: `Processing failed unexpectedly ${ATTEMPTS_MAX} times` }
      await db.plainTx((tx) => saveOutcome(tx, id, { ...notApplied, state: 'received', error: 'Processing failed unexpectedly' }))
      throw error
    },
  )
  await db.plainTx((tx) => saveOutcome(tx, id, outcome))
  return { message_id: id, ...outcome }
}

/** A message that fails unexpectedly must not keep the laboratory from sending the next one for ever. */
const ATTEMPTS_MAX = 5

const notApplied: AttemptOutcome = { state: 'failed', error: null, raw_result_id: null, order_id: null }

interface AttemptOutcome {
  state: MessageState
  error: string | null
  raw_result_id: string | null
  order_id: string | null
}

/** What is wrong with the message itself ends its processing; every other error is thrown, because another attempt may succeed. */
async function attempt(receive: () => Promise<Receipt>): Promise<AttemptOutcome> {
  try {
    const { status, raw_result_id, order_id } = await receive()
    return { state: status === 'matched' || status === 'resolved' ? 'applied' : 'review', error: null, raw_result_id, order_id }
  } catch (error) {
    const text = faultOf(error)
    if (text === undefined) throw error
    return { ...notApplied, error: text }
  }
}

const ERROR_LENGTH_MAX = 1000

function faultOf(error: unknown): string | undefined {
  if (error instanceof UnreadableMessage) return error.message.slice(0, ERROR_LENGTH_MAX)
  if (error instanceof Problem && error.status === 400 && typeof error.body.detail === 'string')
    return error.body.detail.slice(0, ERROR_LENGTH_MAX)
  return undefined
}
