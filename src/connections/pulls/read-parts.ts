// Reading what a vendor answers to a pull: short answers here, long ones in a thread, where they keep no request waiting.
import { MessageChannel } from 'node:worker_threads'
import { answerThread } from '../../platform/runtime/port-calls.ts'
import { MAIN_THREAD_BYTES_MAX } from '../../platform/net/outside-json.ts'
import type { Service } from '../../platform/module/module.ts'
import { ConcurrencyLimit } from '../../platform/runtime/concurrency-limit.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { createWorkerPool, WorkerLimitExceeded, WorkerPoolBusy, type WorkerPool } from '../../platform/runtime/worker-pool.ts'
import {
  VendorError,
  type Connector,
  type PullRequest,
  type Pulled,
  type VendorApp,
  type VendorHttp,
} from '../connectors/connector.ts'
import { ANSWER_BYTES_MAX, AnswerTooLong } from '../connectors/vendor-http.ts'
import type { PullQuestion, ReadEnd, ReadInput, SentAnswer } from './read-parts.task.ts'
import { smallParts } from './small-parts.ts'

/** Answers to one pull that are kept to begin again in a thread, in bytes. */
const KEPT_BYTES_MAX = 2 * MAIN_THREAD_BYTES_MAX
const THREADS = 2
const THREAD_MB_MAX = 256
/** With the requests to the vendor, and less than a job may take. */
const READ_MS_MAX = 180_000
const WAIT_MS = 30_000
const AGAIN_MS = 30_000

export interface Pull {
  team: string
  connector: Connector
  app: VendorApp
  access_token: string
  request: PullRequest
}

/** An answer is too long for the main thread. */
class LongAnswer extends Error {}

/** The threads of a process that read long answers; teams take turns. */
export class AnswerReader implements Service {
  readonly #concurrency = new ConcurrencyLimit({
    running_max: THREADS,
    running_max_each: 1,
    waiting_max: 100,
    waiting_max_each: 10,
    wait_ms: WAIT_MS,
  })
  #pool: WorkerPool | undefined

  /**
   * Hands what a connector pulls to `store`, in small parts and one after the other. A long answer is asked for again by the thread that reads
   * it, so that only as many are in memory as there are threads. Errors: those of `store`; VendorError, `unexpected` for answers that take a
   * thread too much time or memory, `unavailable` if none is free.
   * @param httpFor sends requests whose answers have at most so many bytes
   */
  async read(pull: Pull, httpFor: (bytes_max: number) => VendorHttp, store: (part: Pulled) => Promise<void>): Promise<void> {
    const answers: SentAnswer[] = []
    let [kept, stored] = [0, 0]
    const short = httpFor(MAIN_THREAD_BYTES_MAX)
    const keeping: VendorHttp = async (request) => {
      const answer = await short(request).catch((error: unknown) => {
        throw error instanceof AnswerTooLong ? new LongAnswer() : error
      })
      answers.push({ ...answer, headers: [...answer.headers] })
      kept += answer.text.length
      if (kept > KEPT_BYTES_MAX) throw new LongAnswer()
      return answer
    }
    const { connector, app, access_token, request } = pull
    try {
      for await (const part of connector.pull(keeping, app, access_token, request))
        for (const small of smallParts(part)) {
          await store(small)
          stored++
        }
    } catch (error) {
      if (!(error instanceof LongAnswer)) throw error
      await this.#inThread(pull, httpFor(ANSWER_BYTES_MAX), store, { answers, storedCount: stored })
    }
  }

  async #inThread(
    { team, connector: { provider }, app, access_token, request }: Pull,
    http: VendorHttp,
    store: (part: Pulled) => Promise<void>,
    state: { answers: SentAnswer[]; storedCount: number },
  ): Promise<void> {
    const pool = (this.#pool ??= createWorkerPool({ threads_max: THREADS, memory_max_mb: THREAD_MB_MAX }))
    const work = async () => {
      const { port1, port2 } = new MessageChannel()
      const calls = answerThread<PullQuestion>(port1, async (question) => {
        if ('store' in question) {
          await store(question.store as Pulled)
          return {}
        }
        const sent = await http(question.send)
        return { answer: { ...sent, headers: [...sent.headers] } satisfies SentAnswer }
      })
      try {
        const input: ReadInput = { port: port2, provider, app, access_token, request, ...state }
        const task = new URL('./read-parts.task.ts', import.meta.url)
        const end = await pool.run<ReadEnd>(task, input, { timeout_ms: READ_MS_MAX, transfer: [port2] })
        const failure = calls.failure()
        if (failure) throw failure
        if (end) throw new VendorError(end.failure, end.retry_after_ms)
      } finally {
        calls.close()
      }
    }
    try {
      await this.#concurrency.run(work, { owner: team })
    } catch (error) {
      if (error instanceof WorkerLimitExceeded) throw new VendorError('unexpected')
      const isBusy =
        error instanceof WorkerPoolBusy || (error instanceof Problem && (error.status === 429 || error.status === 503))
      throw isBusy ? new VendorError('unavailable', AGAIN_MS) : error
    }
  }

  start(): void {}

  async stop(): Promise<void> {
    await this.#pool?.close()
  }
}
