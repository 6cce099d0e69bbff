// Calls between the thread that reads a file and the process that stores what it finds, one at a time, each answered.
import type { MessagePort, Transferable } from 'node:worker_threads'
import type { Batch } from './batches.ts'
import type { ReadErrorCode, Skipped } from './reading.ts'
import type { Progress } from './read-file.ts'

/** What the thread asks for. */
export type Question = { read: number } | { batch: Batch; state: ReadState }

export interface ReadState {
  progress: Progress
  skipped: Skipped
}

/** How the reading of a file ended. */
export interface ReadEnd extends ReadState {
  error: ReadErrorCode | null
}

export interface ThreadInput {
  port: MessagePort
  size: number
  /** The instant at which the file was sent. */
  now_ms: number
  provider: string
}

/** The process could not answer, for a reason that it knows. */
export class Unanswered extends Error {
  override name = 'Unanswered'
  /** It is no fault of the file. */
  readonly isOfProcess = true
}

/** Sends a question and waits for the answer. Errors: Unanswered. */
export function ask(port: MessagePort, question: Question): Promise<unknown> {
  return new Promise((resolve, reject) => {
    port.once('message', (reply: { answer: unknown } | { failed: true }) => {
      if ('failed' in reply) reject(new Unanswered('the process did not answer'))
      else resolve(reply.answer)
    })
    port.postMessage(question)
  })
}

/** Answers the questions of the other side. @returns what failed, and an end of the answers */
export function answer(
  port: MessagePort,
  reply: (question: Question) => Promise<{ answer?: unknown; transfer?: Transferable[] }>,
): { failure: () => unknown; close: () => void } {
  let failure: unknown
  port.on('message', (question: Question) => {
    void reply(question).then(
      ({ answer: given, transfer }) => port.postMessage({ answer: given }, transfer ?? []),
      (error: unknown) => {
        failure ??= error
        port.postMessage({ failed: true })
      },
    )
  })
  return { failure: () => failure, close: () => port.close() }
}
