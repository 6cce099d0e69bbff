// Sends one message over MLLP on a connection of its own and waits for its answer, to try a link.
import type { Socket } from 'node:net'
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import { FrameReader, frameOf } from '../hl7/frame-reader.ts'
import { readOrderAnswer, type OrderAnswer } from '../hl7/order-answer.ts'
import { clientDestination } from '../link-transports/link-places.ts'
import { connectTo } from '../link-transports/secure-connect.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'

const ANSWER_BYTES_MAX = 1_000_000
/** The byte with which a frame ends; CR follows. */
const FS = 0x1c
/** In this set every byte is a character. */
const ANY_BYTES = { charset: '8859/1', ignoresDeclaredCharset: true }

/**
 * Why there is no answer. `silent`: nothing came in time. `closed`: the laboratory has closed the connection. `refused`: it has ended TLS.
 * `half`: a frame began and did not end. `without_return`: a frame ended without CR. `unframed`: what came has no frame. `other_message`: it
 * was an answer to another message. `no_answer`: it was no answer.
 */
export type ExchangeProblem =
  'silent' | 'closed' | 'refused' | 'half' | 'without_return' | 'unframed' | 'other_message' | 'no_answer'

export type Exchange =
  { answer: OrderAnswer; bytes: Buffer } | { problem: ExchangeProblem; /** What came instead. */ other_id: string | undefined }

interface ExchangeRequest {
  /** With its secrets. */
  profile: LinkProfile
  network: { targets: TargetPolicy; isSandbox: boolean }
  bytes: Uint8Array
  control_id: string
  /** How long the answer is waited for. */
  wait_ms: number
  /** Nothing is waited for after `CA`. */
  isCommitEnough?: boolean
  /** Ends the exchange. */
  signal?: AbortSignal
}

/**
 * Sends a message and waits for its last answer: after a commit acknowledgment for the one that follows it, if it comes in time. Errors: those
 * of `connectTo`; `signal` was aborted.
 */
export async function exchangeMessage({
  profile,
  network,
  bytes,
  control_id,
  wait_ms,
  isCommitEnough,
  signal,
}: ExchangeRequest): Promise<Exchange> {
  const { transport, text } = profile
  const socket = await connectTo(clientDestination(transport), network.targets, network.isSandbox)
  const answers = new AnswerReader({
    endsWithoutReturn: transport.listener.ends_without_cr,
    charset: text.charset,
    control_id,
    isLast: ({ code }) => code !== 'CA' || isCommitEnough === true,
  })
  const end = waitForAnswer(socket, answers, wait_ms, signal)
  if (!signal?.aborted) socket.write(frameOf(bytes))
  return answers.outcome(await end)
}

type ConnectionEnd = 'answered' | 'silent' | 'closed' | 'refused'

function waitForAnswer(
  socket: Socket,
  answers: AnswerReader,
  wait_ms: number,
  signal: AbortSignal | undefined,
): Promise<ConnectionEnd> {
  const { promise, resolve, reject } = Promise.withResolvers<ConnectionEnd>()
  const timer = setTimeout(() => resolve('silent'), wait_ms)
  const abort = () => reject(signal!.reason)
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort)
  socket.on('data', (chunk: Buffer) => {
    if (answers.push(chunk)) resolve('answered')
  })
  // A server that misses our certificate says so after the handshake.
  socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(/SSL|TLS/u.test(code ?? '') ? 'refused' : 'closed'))
  socket.once('close', () => resolve('closed'))
  return promise.finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
    socket.destroy()
  })
}

interface AnswerReaderOptions {
  endsWithoutReturn: boolean
  charset: string
  control_id: string
  isLast: (answer: OrderAnswer) => boolean
}

/** Reads what comes on the connection, and keeps the last answer to the message. */
class AnswerReader {
  readonly #options: AnswerReaderOptions
  readonly #frames: FrameReader
  #answer: { answer: OrderAnswer; bytes: Buffer } | undefined
  #other_id: string | undefined
  #hasFrame = false
  #lastByte = 0

  constructor(options: AnswerReaderOptions) {
    this.#options = options
    this.#frames = new FrameReader({ bytesMax: ANSWER_BYTES_MAX, endsWithoutReturn: options.endsWithoutReturn })
  }

  /** @returns whether the last answer has come */
  push(chunk: Buffer): boolean {
    this.#lastByte = chunk.at(-1) ?? this.#lastByte
    return this.#frames.push(chunk).some(({ bytes }) => this.#take(bytes))
  }

  #take(bytes: Buffer): boolean {
    this.#hasFrame = true
    const answer = readAnswer(bytes, this.#options.charset)
    if (!answer) return false
    if (answer.control_id !== this.#options.control_id) {
      this.#other_id = answer.control_id
      return false
    }
    this.#answer = { answer, bytes }
    return this.#options.isLast(answer)
  }

  outcome(end: ConnectionEnd): Exchange {
    return this.#answer ?? { problem: this.#problem(end === 'answered' ? 'silent' : end), other_id: this.#other_id }
  }

  #problem(end: Exclude<ConnectionEnd, 'answered'>): ExchangeProblem {
    if (end === 'refused') return 'refused'
    if (this.#frames.isWithinFrame) return this.#lastByte === FS ? 'without_return' : 'half'
    if (this.#other_id !== undefined) return 'other_message'
    if (this.#hasFrame) return 'no_answer'
    return this.#frames.strayBytes > 0 ? 'unframed' : end
  }
}

/** The answer that a message is, also one with letters that are not of the character set; undefined for anything else. */
function readAnswer(bytes: Buffer, charset: string): OrderAnswer | undefined {
  for (const options of [{ charset }, ANY_BYTES])
    try {
      return readOrderAnswer(bytes, options)
    } catch {
      // Not an answer in this character set; a laboratory may send other messages on the connection, too.
    }
  return undefined
}

/** What went wrong, as the laboratory may read it. */
export const EXCHANGE_TEXTS: Record<ExchangeProblem, string> = {
  silent: 'No answer in time',
  closed: 'The connection was closed without an answer',
  refused: 'The laboratory has refused the secure connection',
  half: 'The answer began and did not end',
  without_return: 'The answer ends with FS without CR',
  unframed: 'What came is not framed by MLLP',
  other_message: 'The answer was to another message',
  no_answer: 'What came was no acknowledgment',
}
