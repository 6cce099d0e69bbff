// Sends the messages of a link over MLLP: oldest first, the same bytes with the same control id until the laboratory answers. While a laboratory
// cannot be reached its messages wait, and nobody else's.
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FairQueue } from '../../platform/db/fair-queue.ts'
import { MESSAGE_BYTES_MAX } from '../link-messages/receive-message.ts'
import type { DueMessage } from '../link-messages/outbox.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { answeredId } from './answered-messages.ts'
import type { StreamEnd } from './frame-stream.ts'
import { ExchangeError, MllpClient } from './mllp-client.ts'
import { Pauses } from './pauses.ts'

/** The messages of a link that are to be sent, and what becomes of them. */
export interface Outbox {
  /** Claims messages that are due. They count as sent. */
  claim(max: number): Promise<DueMessage[]>
  /** Gives back messages that were certainly not sent. */
  release(messages: readonly DueMessage[]): Promise<void>
  /** A message was sent and has no answer: it is sent again after a pause. */
  postpone(message: DueMessage, reason: string): Promise<void>
  /** Records an answer. Errors: the answer cannot be read, or cannot be stored now. */
  recordAnswer(message: DueMessage, answer: Buffer): Promise<void>
  /** Records an answer to an earlier message. @returns whether there is such a message */
  recordLateAnswer(control_id: string, answer: Buffer): Promise<boolean>
}

export interface MllpSenderOptions {
  options: LinkProfile['transport']
  /** Opens a connection to the laboratory. */
  connect: () => Promise<Socket>
  outbox: Outbox
  /** Stores a message of the laboratory that comes on the same connection. @returns the answers; none if it may not */
  receive: (bytes: Buffer) => Promise<Uint8Array[]>
  largeFrames: FairQueue
  owner: string
  /** Called when the link works, and with a reason when it does not. */
  onState: (reason: string | undefined) => void
  onEnd: (end: StreamEnd) => void
  onError: (error: unknown) => void
  pauses?: Pauses
}

/** Claimed at a time for one connection. What is claimed and not sent when the process is killed waits for its pause. */
const BATCH = 10
/** The most that a connection without messages waits before it looks itself. */
const POLL_MS = 30_000
const LIMITS = { idle_ms: 30_000, frame_ms_max: 600_000, write_ms_max: 30_000 }

export class MllpSender {
  readonly #options: MllpSenderOptions
  readonly #pauses: Pauses
  readonly #clients = new Set<MllpClient>()
  readonly #senders: Promise<void>[] = []
  #isStopped = false

  constructor(options: MllpSenderOptions) {
    this.#options = options
    this.#pauses = options.pauses ?? new Pauses()
  }

  start(): void {
    for (let i = 0; i < this.#options.options.client.connections; i++) this.#senders.push(this.#runSender())
  }

  /** Messages are due. */
  wake(): void {
    this.#pauses.wake()
  }

  /**
   * Sends nothing more. A message without an answer is sent again later, by the process that holds the link then.
   * @param answer_ms how long the answer to a message in progress is waited for
   */
  async stop(answer_ms: number): Promise<void> {
    this.#isStopped = true
    this.#pauses.stop()
    await Promise.race([Promise.all(this.#senders), sleep(answer_ms, undefined, { ref: false })])
    await Promise.all([...this.#clients].map((client) => client.close()))
    await Promise.all(this.#senders)
  }

  async #runSender(): Promise<void> {
    let client: MllpClient | undefined
    while (!this.#isStopped) {
      try {
        client = await this.#sendDue(client)
      } catch (error) {
        await this.#close(client)
        client = undefined
        if (this.#isStopped) break
        if (!(error instanceof LinkFailure)) this.#options.onError(error)
        await this.#pauses.afterFailure()
      }
    }
    await this.#close(client)
  }

  /** Sends what is due, then waits for more. @returns the connection, if it is kept. Errors: LinkFailure, after which the sender pauses. */
  async #sendDue(open: MllpClient | undefined): Promise<MllpClient | undefined> {
    const { outbox, options } = this.#options
    const isListening = options.results === 'same_connection'
    let client = open?.isClosed ? undefined : open
    if (isListening) client ??= await this.#connect()
    const messages = await outbox.claim(BATCH)
    client = await this.#sendAll(client, messages)
    if (messages.length === BATCH) return client
    if (!options.client.keep_open && !isListening) {
      await this.#close(client)
      client = undefined
    }
    await this.#pauses.untilWoken(POLL_MS, client?.waitForEnd())
    return client
  }

  /**
   * Sends claimed messages, which are about different orders: the next one goes while the answers to earlier ones are recorded. Gives back those that
   * were not sent. @returns the connection. Errors: LinkFailure; those of recording.
   */
  async #sendAll(open: MllpClient | undefined, messages: readonly DueMessage[]): Promise<MllpClient | undefined> {
    const { outbox, options } = this.#options
    let client = open
    let sent = 0
    const answers = new AnswerRecords(() => {
      this.#pauses.endFailures()
      if (!answers.hasFailed) this.#options.onState(undefined)
    })
    try {
      for (const message of messages) {
        await answers.waitForPlace()
        if (this.#isStopped) throw new LinkFailure()
        client = client?.isClosed === false ? client : await this.#connect()
        sent++
        const answer = await this.#exchange(client, message)
        answers.add(this.#record(message, answer))
        if (options.client.gap_ms > 0) await this.#pauses.gap(options.client.gap_ms)
      }
      await answers.waitForAll()
    } catch (error) {
      await answers.fail(error)
    } finally {
      await outbox.release(messages.slice(sent))
    }
    return client
  }

  /** Sends a message. @returns its answer. Errors: LinkFailure, after which it is sent again later. */
  async #exchange(client: MllpClient, message: DueMessage): Promise<Buffer> {
    const { outbox, options, onState } = this.#options
    try {
      return await client.exchange(message.bytes, message.control_id, options.client.answer_timeout_s * 1000)
    } catch (error) {
      const reason = REASONS[error instanceof ExchangeError ? error.failure : 'closed']
      await outbox.postpone(message, reason)
      if (!this.#isStopped) onState(reason)
      throw new LinkFailure()
    }
  }

  /** An answer must not be lost because the database is away for a moment. */
  async #record(message: DueMessage, answer: Buffer): Promise<void> {
    for (let attempt = 1; ; attempt++)
      try {
        return await this.#options.outbox.recordAnswer(message, answer)
      } catch (error) {
        if (attempt < RECORD_ATTEMPTS && !this.#isStopped && !isUnreadable(error)) {
          await this.#pauses.gap(RECORD_PAUSE_MS * attempt)
          continue
        }
        if (!isUnreadable(error)) throw error
        await this.#options.outbox.postpone(message, REASONS.unreadable)
        this.#options.onState(REASONS.unreadable)
        throw new LinkFailure()
      }
  }

  async #connect(): Promise<MllpClient> {
    const { connect, largeFrames, owner, outbox, receive, onEnd, onState, options } = this.#options
    const socket = await connect().catch((error: unknown) => {
      onState(reasonOf(error))
      throw new LinkFailure()
    })
    const client: MllpClient = new MllpClient(socket, {
      largeFrames,
      owner,
      limits: LIMITS,
      bytes_max: MESSAGE_BYTES_MAX,
      isCrOptional: options.listener.ends_without_cr,
      answeredId,
      onLateAnswer: (id, bytes) => outbox.recordLateAnswer(id, bytes),
      receive,
      onEnd: (end) => {
        this.#clients.delete(client)
        onEnd(end)
      },
    })
    this.#clients.add(client)
    if (options.results === 'same_connection') {
      this.#pauses.endFailures()
      onState(undefined)
    }
    return client
  }

  async #close(client: MllpClient | undefined): Promise<void> {
    await client?.close()
  }
}

/** Answers that are being recorded. If the process is killed they are lost, and their messages are sent again. */
class AnswerRecords {
  readonly #onRecorded: () => void
  readonly #running = new Set<Promise<void>>()
  #failure: unknown

  constructor(onRecorded: () => void) {
    this.#onRecorded = onRecorded
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  add(record: Promise<void>): void {
    const running = record
      .then(this.#onRecorded)
      .catch((error: unknown) => void (this.#failure ??= error))
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** Waits until another answer may be recorded. Errors: one was not. */
  async waitForPlace(): Promise<void> {
    while (this.#running.size >= RECORDS_MAX) await Promise.race(this.#running)
    if (this.hasFailed) throw this.#failure
  }

  /** Errors: one was not recorded. */
  async waitForAll(): Promise<void> {
    await Promise.all(this.#running)
    if (this.hasFailed) throw this.#failure
  }

  /** Ends with an error, after those that are in progress. */
  async fail(error: unknown): Promise<never> {
    this.#failure ??= error
    await Promise.all(this.#running)
    throw this.#failure
  }
}

const RECORDS_MAX = 4
const RECORD_ATTEMPTS = 4
const RECORD_PAUSE_MS = 500

/** The link does not work now; it was reported. */
class LinkFailure extends Error {}

const REASONS = {
  timeout: 'The laboratory does not answer',
  closed: 'The laboratory closes the connection without an answer',
  mismatch: 'The laboratory answers to another message',
  unreadable: 'The answer of the laboratory cannot be read',
}

const isUnreadable = (error: unknown): boolean => error instanceof Error && error.name === 'UnreadableMessage'

const CODES: Record<string, string> = {
  ECONNREFUSED: 'The laboratory refuses the connection',
  ENOTFOUND: 'The host name of the laboratory is unknown',
  ETIMEDOUT: 'The laboratory cannot be reached',
  EHOSTUNREACH: 'The laboratory cannot be reached',
  ENETUNREACH: 'The laboratory cannot be reached',
  ECONNRESET: 'The laboratory closes the connection',
  REFUSED_ADDRESS: 'The address of the laboratory is not public, and WEBHOOK_ALLOW does not allow it',
}

/** Why there is no connection, without addresses. */
function reasonOf(error: unknown): string {
  const { code = '' } = error as { code?: string }
  const known = CODES[code]
  if (known !== undefined) return known
  return /CERT|SSL|TLS|ALTNAME/.test(code)
    ? `No secure connection to the laboratory (${code})`
    : `No connection to the laboratory${code && ` (${code})`}`
}
