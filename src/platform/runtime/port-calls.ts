// Questions of a thread to its process, each with one answer. Several may be open at a time.
import { randomUUID } from 'node:crypto'
import type { MessagePort, Transferable } from 'node:worker_threads'

/** The process could not answer; it knows the reason. */
export class Unanswered extends Error {
  override name = 'Unanswered'
}

type Numbered<T> = T & { id: string }

/** Sends a question from a thread and waits for its answer. Errors: Unanswered. */
export function askProcess(port: MessagePort, question: unknown): Promise<unknown> {
  const id = randomUUID()
  return new Promise((resolve, reject) => {
    const take = (reply: Numbered<{ answer: unknown } | { isFailed: true }>) => {
      if (reply.id !== id) return
      port.off('message', take)
      if ('isFailed' in reply) reject(new Unanswered('the process did not answer'))
      else resolve(reply.answer)
    }
    port.on('message', take)
    port.postMessage({ id, question })
  })
}

/**
 * Answers the questions of a thread until one fails, since later ones may build on it: all after that fail too. `transfer` is moved to the
 * thread and not copied. `failure` is the error of the first question that failed.
 */
export function answerThread<Q>(
  port: MessagePort,
  reply: (question: Q) => Promise<{ answer?: unknown; transfer?: Transferable[] }>,
): { failure: () => unknown; close: () => void } {
  let failure: unknown
  port.on('message', ({ id, question }: Numbered<{ question: Q }>) => {
    if (failure !== undefined) return port.postMessage({ id, isFailed: true })
    void reply(question).then(
      ({ answer, transfer }) => port.postMessage({ id, answer }, transfer ?? []),
      (error: unknown) => {
        failure ??= error
        port.postMessage({ id, isFailed: true })
      },
    )
  })
  return { failure: () => failure, close: () => port.close() }
}
