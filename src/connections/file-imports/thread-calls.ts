// Calls between the thread that reads a file and the process that stores what it finds, each answered. An archive is read ahead, so that a
// part of it may be asked for while a batch is being stored.
import { randomUUID } from 'node:crypto'
import type { MessagePort, Transferable } from 'node:worker_threads'
import type { Batch } from './batches.ts'
import type { ReadErrorCode, Skipped } from './reading.ts'
import type { Progress } from './read-content.ts'

/** What the thread asks for: the bytes from a place on, with how much of the content it has read; or that a batch is stored. */
export type Question = { read: number; read_bytes: number } | { batch: Batch; state: ReadState }

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
  /** Where the user lives, for what a file gives no zone of; null: unknown. */
  zone: string | null
  provider: string
  /** The first turn of the file is over: the thread is of less importance than those of others. */
  isLong: boolean
}

/** The process could not answer, for a reason that it knows. */
export class Unanswered extends Error {
  override name = 'Unanswered'
  /** It is no fault of the file. */
  readonly isOfProcess = true
}

type Numbered<T> = T & { id: string }

/** Sends a question and waits for its answer, whatever else is asked meanwhile. Errors: Unanswered. */
export function ask(port: MessagePort, question: Question): Promise<unknown> {
  const id = randomUUID()
  return new Promise((resolve, reject) => {
    const take = (reply: Numbered<{ answer: unknown } | { failed: true }>) => {
      if (reply.id !== id) return
      port.off('message', take)
      if ('failed' in reply) reject(new Unanswered('the process did not answer'))
      else resolve(reply.answer)
    }
    port.on('message', take)
    port.postMessage({ id, question })
  })
}

/**
 * Answers the questions of the other side, until one fails: a reader that could not go on sends what it holds, and a batch that is shorter than
 * the same file gives otherwise must not be stored. @returns what failed, and an end of the answers
 */
export function answer(
  port: MessagePort,
  reply: (question: Question) => Promise<{ answer?: unknown; transfer?: Transferable[] }>,
): { failure: () => unknown; close: () => void } {
  let failure: unknown
  port.on('message', ({ id, question }: Numbered<{ question: Question }>) => {
    if (failure !== undefined) return port.postMessage({ id, failed: true })
    void reply(question).then(
      ({ answer: given, transfer }) => port.postMessage({ id, answer: given }, transfer ?? []),
      (error: unknown) => {
        failure ??= error
        port.postMessage({ id, failed: true })
      },
    )
  })
  return { failure: () => failure, close: () => port.close() }
}
