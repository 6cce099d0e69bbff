// An event as brokers get it: the stored bytes, compressed where the broker's rule says so. Source: events.md 8.2.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { messageId } from '../fan-out/message-id.ts'
import type { QueuedEvent } from './broker-queue.ts'

const KIB = 1024
const zip = promisify(gzip)

/** An event for a broker. */
export interface Message {
  /** The same over all attempts, and the one that webhooks have. */
  idempotency_key: string
  type: string
  team_id: string
  /** Null: the event is about no user. */
  user_id: string | null
  /** Events of one key stay in their order: those of a user, and those of the team that are about no user. */
  order_key: string
  created_at_text: string
  body: Buffer
}

export const toMessage = (team_id: string, { event_id, type, user_id, created_at, body }: QueuedEvent): Message => ({
  idempotency_key: messageId(event_id),
  type,
  team_id,
  user_id,
  order_key: user_id ?? team_id,
  created_at_text: created_at,
  body: Buffer.from(body),
})

/** `over`: what is larger than 1 KiB. `from`: what is not smaller. */
export type Compression = 'over' | 'from' | 'always'

export interface EncodedMessage {
  bytes: Buffer
  isGzip: boolean
}

export async function packed({ body }: Message, compression: Compression): Promise<EncodedMessage> {
  const isGzip = compression === 'always' || body.length > KIB || (compression === 'from' && body.length === KIB)
  return { bytes: isGzip ? await zip(body) : body, isGzip }
}

/**
 * What became of an event. `taken`: the broker has acknowledged it. `held`: it was not sent, since an earlier one of its user was
 * refused. `refused`: the broker does not want this one. `lost`: the broker could not be asked, or did not answer.
 */
export type SendOutcome = { is: 'taken' } | { is: 'held' } | { is: 'refused'; reason: string } | { is: 'lost'; reason: string }

export const acknowledged: SendOutcome = { is: 'taken' }
export const heldBack: SendOutcome = { is: 'held' }
export const rejected = (reason: string): SendOutcome => ({ is: 'refused', reason })
export const unreachable = (reason: string): SendOutcome => ({ is: 'lost', reason })

/** A way to a broker, open for a while. */
export interface BrokerSession {
  /** Events of one user are sent one after another, and not past one that was refused. */
  ordered: boolean
  /** One outcome for each message, in their order. Throws when the broker cannot be asked at all. */
  send(messages: Message[]): Promise<SendOutcome[]>
  close(): Promise<void>
}

/** Why something failed, in a word that may be logged: codes, never a message, which may name addresses. */
export function errorCode(error: unknown): string {
  const { code, condition, name } = (error ?? {}) as { code?: unknown; condition?: unknown; name?: unknown }
  const word = [code, condition, name].find((value) => typeof value === 'string' || typeof value === 'number')
  return String(word ?? 'unknown').slice(0, 60)
}

export class TimeoutError extends Error {
  readonly code = 'TIMEOUT'
}

/** The outcome of `work`, or a Timeout after `ms`; `work` itself goes on. */
export async function withTimeout<V>(ms: number, work: Promise<V>): Promise<V> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimeoutError('timed out waiting for a response')), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
