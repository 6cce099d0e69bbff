/**
 * The process pool: child processes for tasks that decode what strangers have sent (documents, pictures). What such a task takes is limited by
 * the kernel, and memory outside V8 counts, such as that of canvases. It knows no task: the caller names the file that runs. It never
 * retries and never reuses a process that exceeded a limit or came near to one.
 */
import { commandOf, isMemoryLimited, type Confinement, type TaskCommand, type TaskLimits } from './task-limits.ts'
import { TaskProcess } from './task-process.ts'
import { idle_default_ms, timeout_default_ms, turnsOf, type WorkerPool } from './worker-pool.ts'

const REPLY_MAX_MB = 64

export interface ProcessPoolOptions extends Pick<TaskLimits, 'memory_max_mb' | 'cpu_s_max'> {
  /** Tasks that run at once, each in a process. */
  processes_max: number
  /** After how long without work a process ends. */
  idle_ms?: number | undefined
  reads?: readonly string[]
  /** 64 by default. */
  reply_max_mb?: number
  /** Called once, after the first task: what the system enforces. */
  onConfined?: ((confinement: Confinement) => void) | undefined
}

/**
 * A pool without processes until the first task, and again after `idle_ms` (10 s) without work. `run` and `close` are those of a
 * `WorkerPool`, but nothing can be transferred, `WorkerLimitExceeded` may name the `process`, and a task reads only the program, its packages
 * and `reads`, writes no file, starts no process, has none of the settings of this process, and no network where the system allows that.
 */
export function createProcessPool({
  processes_max,
  idle_ms = idle_default_ms,
  reads = [],
  reply_max_mb = REPLY_MAX_MB,
  memory_max_mb,
  cpu_s_max,
  onConfined,
}: ProcessPoolOptions): WorkerPool {
  const limits: TaskLimits = { memory_max_mb, cpu_s_max, reads, reply_max_mb }
  let command: Promise<TaskCommand> | undefined
  let report = onConfined
  const turns = turnsOf(processes_max)
  const idle = new Map<TaskProcess, NodeJS.Timeout>()

  const takeIdle = (): TaskProcess | undefined => {
    for (const [one, timer] of idle) {
      clearTimeout(timer)
      idle.delete(one)
      if (one.isUsable) return one
    }
    return undefined
  }
  const putBack = (one: TaskProcess): void => {
    if (!one.isUsable) return void one.end()
    const timer = setTimeout(() => {
      idle.delete(one)
      void one.end()
    }, idle_ms)
    idle.set(one, timer.unref())
  }

  return {
    run<T>(task: URL | string, input: unknown, { timeout_ms = timeout_default_ms, name = 'default' } = {}) {
      return turns.take(async () => {
        const start = await (command ??= commandOf(limits))
        const one = takeIdle() ?? TaskProcess.start(limits, start)
        try {
          const result = await one.run({ task: String(task), name, input }, timeout_ms)
          if (one.pid !== undefined) report?.({ isMemoryLimited: isMemoryLimited(one.pid), isOffline: !start.hasNetwork })
          report = undefined
          return result as T
        } finally {
          putBack(one)
        }
      }, timeout_ms)
    },

    async close() {
      await turns.close()
      const all = [...idle]
      idle.clear()
      for (const [, timer] of all) clearTimeout(timer)
      await Promise.all(all.map(([one]) => one.end()))
    },
  }
}
