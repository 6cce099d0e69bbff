/**
 * The worker pool: worker threads for CPU-bound or dangerous tasks (documents, pictures) with limits on memory, time and waiting. It knows
 * no task: the caller names the file that runs. It never retries and never reuses a worker that exceeded a limit.
 */
import { fileURLToPath } from 'node:url'
import type { Transferable, Worker } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { Turns, type NoTurn } from './turns.ts'

export const idle_default_ms = 10_000
export const timeout_default_ms = 20_000
const waiting_max = 200
const memory_default_mb = 384
const memory_check_ms = 100

/** Not run: too many tasks wait, or the wait was too long, or the pool is closed. Trying later may succeed. */
export class WorkerPoolBusy extends Error {
  override name = 'WorkerPoolBusy'
}

const sentences: Record<NoTurn, (wait_ms: number) => string> = {
  full: () => `the queue of the worker pool is full (${waiting_max} tasks)`,
  late: (wait_ms) => `no worker became free within ${wait_ms} ms`,
  closed: () => 'the worker pool is closed',
}

/** The turns of the tasks of a pool: `at_once` run, 200 wait. Its refusals are `WorkerPoolBusy`. */
export const turnsOf = (at_once: number): Turns =>
  new Turns(
    { at_once, waiting_max, wait_ms: timeout_default_ms },
    (why, { wait_ms }) => new WorkerPoolBusy(sentences[why](wait_ms)),
  )

/**
 * Stopped: the task exceeded its limit of `time` or `memory`, or its `process` ended, mostly because the kernel gave it no more memory. The
 * same input will most likely fail again.
 */
export class WorkerLimitExceeded extends Error {
  override name = 'WorkerLimitExceeded'
  readonly limit: 'time' | 'memory' | 'process'
  /** Of the task until its time was over, where the system tells it of processes. */
  readonly cpu_ms: number | undefined
  constructor(limit: WorkerLimitExceeded['limit'], message: string, cpu_ms?: number) {
    super(message)
    this.limit = limit
    this.cpu_ms = cpu_ms
  }
}

export interface TaskOptions {
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
  /** Rejects new and waiting tasks with `WorkerPoolBusy`, lets running ones end within their time limit, then stops the threads. */
  close(): Promise<void>
}

/**
 * A pool without threads until the first task, and again after `idle_ms` (10 s) without work. At most `threads_max` (2) tasks run and 200
 * wait; one that holds more than `memory_max_mb` (384), heap and buffers together, is stopped. Each thread has a copy of `data` as its `workerData`.
 */
export function createWorkerPool({
  threads_max = 2,
  memory_max_mb = memory_default_mb,
  idle_ms = idle_default_ms,
  data,
}: { threads_max?: number; memory_max_mb?: number; idle_ms?: number | undefined; data?: object } = {}): WorkerPool {
  // Tasks wait before the pool and not inside it: piscina 5.3 does not apply `maxQueue` to tasks with an abort signal, and with
  // `minThreads: 0` it starts no new worker for queued tasks after the last one was stopped.
  const turns = turnsOf(threads_max)
  let pool: Piscina | undefined
  let guard: ReturnType<typeof createMemoryMonitor> | undefined

  return {
    run(task, input, { timeout_ms = timeout_default_ms, name = 'default', transfer } = {}) {
      return turns.take(async () => {
        pool ??= openPool(threads_max, memory_max_mb, idle_ms, data)
        guard ??= createMemoryMonitor(pool, memory_max_mb)
        const signal = AbortSignal.timeout(timeout_ms)
        const unwatch = guard.watch()
        try {
          const filename = String(task).startsWith('file:') ? fileURLToPath(task) : String(task)
          return await pool.run(input, { filename, name, signal, ...(transfer && { transferList: [...transfer] }) })
        } catch (error) {
          if (signal.aborted) throw new WorkerLimitExceeded('time', `the task was terminated: it exceeded ${timeout_ms} ms`)
          if (guard.terminated(error))
            throw new WorkerLimitExceeded('memory', `the task was terminated: it exceeded ${memory_max_mb} MB of memory`)
          throw error
        } finally {
          unwatch()
        }
      }, timeout_ms)
    },

    async close() {
      await turns.close()
      await pool?.destroy()
    },
  }
}

function openPool(maxThreads: number, memory_max_mb: number, idleTimeout: number, workerData: object | undefined) {
  // V8's own limit is only the second line of defense: if one large allocation crosses it, V8 ends the whole process.
  const resourceLimits = { maxOldGenerationSizeMb: memory_max_mb * 4, maxYoungGenerationSizeMb: 16 }
  const pool = new Piscina({ minThreads: 0, maxThreads, idleTimeout, resourceLimits, workerData })
  // A worker that dies between two tasks emits an error; without a listener the error would end the server.
  pool.on('error', () => {})
  return pool
}

/** While tasks run, reads each thread's memory ten times a second, also in the middle of a loop, and ends threads over the limit. */
function createMemoryMonitor(pool: Piscina, memory_max_mb: number) {
  const asked = new WeakSet<Worker>()
  let ended = 0
  let watching = 0
  let timer: NodeJS.Timeout | undefined

  const check = async (worker: Worker) => {
    if (asked.has(worker)) return
    asked.add(worker)
    try {
      const { used_heap_size, external_memory } = await worker.getHeapStatistics()
      if (used_heap_size + external_memory > memory_max_mb * 2 ** 20) {
        ended++
        await worker.terminate()
      }
    } catch {
      // It ended before it could respond.
    }
    asked.delete(worker)
  }

  return {
    watch() {
      if (watching++ === 0) timer = setInterval(() => pool.threads.forEach(check), memory_check_ms).unref()
      return () => {
        if (--watching > 0) return
        clearInterval(timer)
        ended = 0
      }
    },
    /** Whether a task failed because its thread was ended here, or by V8's own limit. */
    terminated(error: unknown): boolean {
      if (!(error instanceof Error)) return false
      if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') return true
      if (ended === 0 || error.message !== 'worker exited with code: 1') return false
      ended--
      return true
    },
  }
}
