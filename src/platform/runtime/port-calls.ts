// Questions of a thread to its process, each with one answer.
import { randomUUID } from 'node:crypto'
import type { MessagePort } from 'node:worker_threads'

/** The process could not answer; it knows the reason. */
export class Unanswered extends Error {
  override name = 'Unanswered'
}

type Numbered<T> = T & { id: string }

/** Sends a question from a thread and waits for its answer. Errors: Unanswered. */
export function askProcess(port: MessagePort, question: unknown): Promise<unknown> {
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

/** Answers the questions of a thread until it is closed. `failure` is the first error of `reply`. */
export function answerThread<Q>(
  port: MessagePort,
  reply: (question: Q) => Promise<unknown>,
): { failure: () => unknown; close: () => void } {
  let failure: unknown
  port.on('message', ({ id, question }: Numbered<{ question: Q }>) => {
    void reply(question).then(
      (answer) => port.postMessage({ id, answer }),
      (error: unknown) => {
        failure ??= error
        port.postMessage({ id, failed: true })
      },
    )
  })
  return { failure: () => failure, close: () => port.close() }
}
