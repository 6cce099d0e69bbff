// An event as brokers receive it: the stored bytes, compressed by the rule of the broker. Source: events.md 8.2.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const KIB = 1024
const zip = promisify(gzip)

/** An event for a broker. */
export interface Message {
  /** The id, the same for all attempts and for webhooks. */
  idempotency_key: string
  type: string
  team_id: string
  /** Null: the event is about no user. */
  user_id: string | null
  /** Events with the same key keep their order: the events of a user, and the events of the team without a user. */
  order_key: string
  created_at_text: string
  body: Buffer
}

/** `over`: what is larger than 1 KiB. `from`: what is not smaller. */
export type Compression = 'over' | 'from' | 'always'

export interface EncodedMessage {
  bytes: Buffer
  isGzip: boolean
}

export async function encodeMessage({ body }: Message, compression: Compression): Promise<EncodedMessage> {
  const isGzip = compression === 'always' || body.length > KIB || (compression === 'from' && body.length === KIB)
  return { bytes: isGzip ? await zip(body) : body, isGzip }
}

/**
 * The outcome of an event. `acknowledged`: the broker has acknowledged it. `heldBack`: it was not sent, since an earlier event of
 * its user was rejected. `rejected`: the broker rejected it. `unreachable`: the broker was unreachable or did not respond.
 */
export type SendOutcome =
  | { status: 'acknowledged' }
  | { status: 'heldBack' }
  | { status: 'rejected'; reason: string }
  | { status: 'unreachable'; reason: string }

export const ACKNOWLEDGED: SendOutcome = { status: 'acknowledged' }
export const heldBack: SendOutcome = { status: 'heldBack' }
export const toRejection = (reason: string): SendOutcome => ({ status: 'rejected', reason })
export const unreachable = (reason: string): SendOutcome => ({ status: 'unreachable', reason })

/** A temporary connection to a broker. */
export interface BrokerSession {
  /**
   * Sends messages; where the broker keeps order, those of one user one after another, and none after a rejected one.
   * @returns one outcome for each message, in their order. Throws if the broker is unreachable.
   */
  send(messages: Message[]): Promise<SendOutcome[]>
  close(): Promise<void>
}

/** The reason of a failure as a word for the log: a code, never a message, which may name addresses. */
export function errorCode(error: unknown): string {
  const { code, condition, name } = (error ?? {}) as { code?: unknown; condition?: unknown; name?: unknown }
  const word = [code, condition, name].find((value) => typeof value === 'string' || typeof value === 'number')
  return String(word ?? 'unknown').slice(0, 60)
}
