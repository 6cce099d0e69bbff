/**
 * Pools for CPU-bound or dangerous tasks (documents, pictures) with limits on memory, time and waiting: here of worker threads, in
 * process-pool.ts of child processes. A pool knows no task: the caller names the file that runs. It never retries and never reuses a thread
 * or process that exceeded a limit.
 */
import { Worker, type Transferable } from 'node:worker_threads'
import { ConcurrencyLimit, type RejectionReason } from './concurrency-limit.ts'

const IDLE_MS = 10_000
const TIMEOUT_MS = 20_000
const WAITING_MAX = 200
const THREAD_MEMORY_MB = 384
const MEMORY_CHECK_MS = 100

/** Not run: too many tasks wait, or the wait was too long, or the pool is closed. Trying later may succeed. */
export class WorkerPoolBusy extends Error {
  override name = 'WorkerPoolBusy'
}

function busyError(reason: RejectionReason, { wait_ms }: { wait_ms: number }): WorkerPoolBusy {
  if (reason === 'late') return new WorkerPoolBusy(`no worker became free within ${wait_ms} ms`)
  return new WorkerPoolBusy(
    reason === 'closed' ? 'the worker pool is closed' : `the queue of the worker pool is full (${WAITING_MAX} tasks)`,
  )
}

/**
 * Stopped: the task exceeded its limit of `time` or `memory`, or its `process` ended, mostly because the kernel gave it no more memory. The
 * same input will most likely fail again.
 */
export class WorkerLimitExceeded extends Error {
  override name = 'WorkerLimitExceeded'
  readonly limit: 'time' | 'memory' | 'process'
  /** Processor time of the task until its time was over, where the system tells it of processes. */
  readonly cpu_ms: number | undefined
  constructor(limit: WorkerLimitExceeded['limit'], message: string, cpu_ms?: number) {
    super(message)
    this.limit = limit
    this.cpu_ms = cpu_ms
  }
}

interface TaskOptions {
  timeout_ms?: number
  name?: string
  /** Parts of the input that are moved to the thread and not copied, such as a message port. */
  transfer?: readonly Transferable[]
}

export interface WorkerPool {
  /**
   * Runs the default export of a module, or the export `name`, with `input` in a worker and returns its result. Both values are copied, so
   * they must be plain data or bytes. `task` is a URL, a `file:` string or an absolute path. `timeout_ms` (default 20 s) limits the waiting
   * and, from the start on, the running. Errors: `WorkerPoolBusy`, `WorkerLimitExceeded`; an error of the task arrives with its name and
   * message (other properties are lost), so a task keeps patient data out of them.
   */
  run<T>(task: URL | string, input: unknown, options?: TaskOptions): Promise<T>
  /** Rejects new and waiting tasks with `WorkerPoolBusy`, lets running ones end within their time limit, then stops the workers. */
  close(): Promise<void>
}

export interface TaskRequest {
  task: string
  name: string
  input: unknown
}

export type TaskReply = { value: unknown } | { error: { name: string; message: string } }

/** A thread or process that runs one task at a time. */
export interface TaskRunner {
  /** Whether it can run a further task. */
  readonly isUsable: boolean
  run(request: TaskRequest, timeout_ms: number, transfer: readonly Transferable[]): Promise<unknown>
  end(): Promise<unknown>
}

/** A pool without workers until the first task, and again after `idle_ms` (10 s) without work. 200 tasks wait. */
export function createPool(
  start: () => TaskRunner | Promise<TaskRunner>,
  { running_max, idle_ms = IDLE_MS }: { running_max: number; idle_ms?: number | undefined },
): WorkerPool {
  const limit = new ConcurrencyLimit({ running_max, waiting_max: WAITING_MAX, wait_ms: TIMEOUT_MS }, busyError)
  const idle = new Map<TaskRunner, NodeJS.Timeout>()

  const takeIdle = (): TaskRunner | undefined => {
    for (const [runner, timer] of idle) {
      clearTimeout(timer)
      idle.delete(runner)
      if (runner.isUsable) return runner
    }
    return undefined
  }
  const putBack = (runner: TaskRunner): void => {
    if (!runner.isUsable) return void runner.end()
    const timer = setTimeout(() => {
      idle.delete(runner)
      void runner.end()
    }, idle_ms)
    idle.set(runner, timer.unref())
  }

  return {
    run<T>(task: URL | string, input: unknown, { timeout_ms = TIMEOUT_MS, name = 'default', transfer = [] }: TaskOptions = {}) {
      const work = async () => {
        const runner = takeIdle() ?? (await start())
        try {
          return (await runner.run({ task: String(task), name, input }, timeout_ms, transfer)) as T
        } finally {
          putBack(runner)
        }
      }
      return limit.run(work, { wait_ms: timeout_ms })
    },

    async close() {
      await limit.close()
      const runners = [...idle]
      idle.clear()
      for (const [, timer] of runners) clearTimeout(timer)
      await Promise.all(runners.map(([runner]) => runner.end()))
    },
  }
}

/**
 * A pool of threads: at most `threads_max` (2) tasks run; one that holds more than `memory_max_mb` (384), heap and buffers together, is
 * stopped. Each thread has a copy of `data` as its `workerData`.
 */
export const createWorkerPool = ({
  threads_max = 2,
  memory_max_mb = THREAD_MEMORY_MB,
  idle_ms,
  data,
}: { threads_max?: number; memory_max_mb?: number; idle_ms?: number | undefined; data?: object } = {}): WorkerPool =>
  createPool(() => new TaskThread(memory_max_mb, data), { running_max: threads_max, idle_ms })

class TaskThread implements TaskRunner {
  readonly #memory_max_mb: number
  readonly #worker: Worker
  #reject: ((error: Error) => void) | undefined
  isUsable = true

  constructor(memory_max_mb: number, workerData: object | undefined) {
    this.#memory_max_mb = memory_max_mb
    // V8's own limit is only the second line of defense: if one large allocation crosses it, V8 ends the whole process.
    const resourceLimits = { maxOldGenerationSizeMb: memory_max_mb * 4, maxYoungGenerationSizeMb: 16 }
    this.#worker = new Worker(new URL('./worker-thread.ts', import.meta.url), { workerData, resourceLimits })
    this.#worker.on('error', (error: NodeJS.ErrnoException) =>
      this.#fail(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? this.#memoryError() : error),
    )
    this.#worker.on('exit', (code) => this.#fail(new Error(`worker exited with code: ${code}`)))
    this.#worker.unref()
  }

  async run(request: TaskRequest, timeout_ms: number, transfer: readonly Transferable[]): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<TaskReply>()
    this.#reject = reject
    const timeoutError = () => new WorkerLimitExceeded('time', `the task was terminated: it exceeded ${timeout_ms} ms`)
    const timer = setTimeout(() => this.#fail(timeoutError()), timeout_ms)
    const check = setInterval(() => void this.#checkMemory(), MEMORY_CHECK_MS)
    this.#worker.ref()
    this.#worker.on('message', resolve)
    try {
      this.#worker.postMessage(request, transfer)
      const reply = await promise
      if ('error' in reply) throw Object.assign(new Error(reply.error.message), { name: reply.error.name })
      return reply.value
    } finally {
      clearTimeout(timer)
      clearInterval(check)
      this.#reject = undefined
      this.#worker.off('message', resolve)
      this.#worker.unref()
    }
  }

  end(): Promise<unknown> {
    return this.#worker.terminate()
  }

  #fail(error: Error): void {
    this.isUsable = false
    this.#reject?.(error)
    void this.#worker.terminate()
  }

  /** The thread answers also in the middle of a loop. */
  async #checkMemory(): Promise<void> {
    const statistics = await this.#worker.getHeapStatistics().catch(() => undefined)
    if (statistics && statistics.used_heap_size + statistics.external_memory > this.#memory_max_mb * 2 ** 20)
      this.#fail(this.#memoryError())
  }

  #memoryError(): WorkerLimitExceeded {
    return new WorkerLimitExceeded('memory', `the task was terminated: it exceeded ${this.#memory_max_mb} MB of memory`)
  }
}
