// A connection to a laboratory: one message at a time, and its answer on the same connection. An answer belongs to the message whose control
// id it names; after any other the connection is closed, because nobody knows what a peer means that counts differently.
import type { Socket } from 'node:net'
import type { FairQueue } from '../../platform/db/fair-queue.ts'
import { FrameReader, frameOf } from '../hl7/frame-reader.ts'
import { FrameStream, type FrameLimits, type StreamEnd } from './frame-stream.ts'

/** `timeout`: no answer in time. `closed`: the connection ended before. `mismatch`: the answer was to another message. */
export type ExchangeFailure = 'timeout' | 'closed' | 'mismatch'

/** A message has no answer: whether the laboratory has it is unknown. */
export class ExchangeError extends Error {
  override name = 'ExchangeError'
  readonly failure: ExchangeFailure

  constructor(failure: ExchangeFailure) {
    super(failure)
    this.failure = failure
  }
}

export interface MllpClientOptions {
  largeFrames: FairQueue
  owner: string
  limits: FrameLimits
  bytes_max: number
  isCrOptional: boolean
  /** The control id that a message answers; undefined if it is no answer. */
  answeredId: (bytes: Buffer) => string | undefined
  /** An answer to an earlier message, such as one that followed its commit acknowledgment. @returns whether the message is known */
  onLateAnswer: (control_id: string, bytes: Buffer) => Promise<boolean>
  /** Stores a message of the laboratory. @returns the messages to answer with; undefined if none may come on this connection */
  receive: (bytes: Buffer) => Promise<Uint8Array[]>
  onEnd: (end: StreamEnd) => void
}

interface Waiter {
  control_id: string
  resolve: (answer: Buffer) => void
  reject: (error: ExchangeError) => void
}

export class MllpClient {
  readonly #options: MllpClientOptions
  readonly #stream: FrameStream
  readonly #ended: Promise<void>
  #waiter: Waiter | undefined
  #isClosed = false

  constructor(socket: Socket, options: MllpClientOptions) {
    this.#options = options
    const { largeFrames, owner, limits, bytes_max, isCrOptional, onEnd } = options
    this.#stream = new FrameStream(socket, {
      reader: new FrameReader({ bytesMax: bytes_max, endsWithoutReturn: isCrOptional }),
      limits,
      largeFrames,
      owner,
      onMessage: (bytes) => this.#take(bytes),
    })
    this.#ended = this.#stream.run().then((end) => {
      this.#isClosed = true
      this.#fail('closed')
      onEnd(end)
    })
  }

  /** Fulfilled when the connection has ended. */
  waitForEnd(): Promise<void> {
    return this.#ended
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Sends a message and waits for its answer. After an error the connection is closed. Errors: ExchangeError. */
  async exchange(bytes: Uint8Array, control_id: string, timeout_ms: number): Promise<Buffer> {
    if (this.#isClosed) throw new ExchangeError('closed')
    const answer = new Promise<Buffer>((resolve, reject) => (this.#waiter = { control_id, resolve, reject }))
    const timer = setTimeout(() => this.#fail('timeout'), timeout_ms)
    try {
      this.#stream.write(frameOf(bytes)).catch(() => this.#fail('closed'))
      return await answer
    } finally {
      clearTimeout(timer)
      this.#waiter = undefined
    }
  }

  /** Ends the connection after the message that is being received. */
  async close(): Promise<void> {
    this.#stream.stop()
    await this.#ended
  }

  async #take(bytes: Buffer): Promise<void> {
    const { answeredId, onLateAnswer, receive } = this.#options
    const id = answeredId(bytes)
    if (id === undefined) {
      for (const answer of await receive(bytes)) await this.#stream.write(frameOf(answer))
      return
    }
    const waiter = this.#waiter
    if (waiter?.control_id === id) return waiter.resolve(bytes)
    if (!(await onLateAnswer(id, bytes))) this.#fail('mismatch')
  }

  #fail(failure: ExchangeFailure): void {
    this.#waiter?.reject(new ExchangeError(failure))
    this.#waiter = undefined
    this.#stream.stop()
  }
}
