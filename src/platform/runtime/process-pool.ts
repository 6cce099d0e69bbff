/**
 * A pool of child processes for tasks that decode what strangers have sent (documents, pictures). What such a task takes is limited by the
 * kernel, and memory outside V8 counts, such as that of canvases.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { frameReader, toFrame } from './task-frames.ts'
import {
  childCommand,
  CPU_SIGNAL,
  isMemoryLimited,
  MEMORY_SIGNAL,
  type ChildReply,
  type Confinement,
  type TaskCommand,
  type TaskLimits,
} from './task-limits.ts'
import { createPool, WorkerLimitExceeded, type TaskRequest, type TaskRunner, type WorkerPool } from './worker-pool.ts'

const REPLY_MAX_MB = 64
const MB = 2 ** 20
/** The shares of its limits that a process may have used if it is to run a further task, which could fail for the ones before. */
const REUSABLE_SHARE = { cpu: 0.5, memory: 0.7 }

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
 * A pool of processes. `run` and `close` are those of a `WorkerPool`, but nothing can be transferred, `WorkerLimitExceeded` may name the
 * `process`, and a task reads only the program, its packages and `reads`, writes no file, starts no process, has none of the settings of
 * this process, and no network where the system allows that.
 */
export function createProcessPool({
  processes_max,
  idle_ms,
  reads = [],
  reply_max_mb = REPLY_MAX_MB,
  memory_max_mb,
  cpu_s_max,
  onConfined,
}: ProcessPoolOptions): WorkerPool {
  const limits: TaskLimits = { memory_max_mb, cpu_s_max, reads, reply_max_mb }
  let command: Promise<TaskCommand> | undefined
  let report = onConfined
  const start = async () => {
    const given = await (command ??= childCommand(limits))
    return new TaskProcess(limits, given, (pid) => {
      report?.({ isMemoryLimited: isMemoryLimited(pid), isOffline: !given.hasNetwork })
      report = undefined
    })
  }
  return createPool(start, { running_max: processes_max, idle_ms })
}

class TaskProcess implements TaskRunner {
  readonly #limits: TaskLimits
  readonly #child: ChildProcess
  readonly #requests: Writable
  readonly #replies: Readable
  readonly #onReply: (pid: number) => void
  readonly #ended = Promise.withResolvers<void>()
  #running: { resolve(reply: ChildReply): void; reject(error: Error): void } | undefined
  isUsable = true

  /** Starts a process; its first task tells whether the system could. @param command that of `childCommand` for these limits */
  constructor(limits: TaskLimits, { command, words, env }: TaskCommand, onReply: (pid: number) => void) {
    // In a session of its own: a signal from the terminal reaches this process, which lets its tasks end.
    const child = spawn(command, words, { env, cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore', 'pipe'] })
    this.#limits = limits
    this.#onReply = onReply
    this.#child = child
    this.#requests = child.stdin!
    this.#replies = child.stdio[3] as Readable
    const read = frameReader(limits.reply_max_mb * MB, (reply) => this.#receive(reply as ChildReply))
    this.#replies.on('data', (bytes: Buffer) => {
      try {
        read(bytes)
      } catch (error) {
        this.#fail(error as Error)
      }
    })
    // A child that ended takes no more of a request; its end is the error.
    this.#requests.on('error', () => {})
    this.#replies.on('error', () => {})
    child.on('error', (error) => this.#fail(error))
    child.on('exit', (code, signal) => this.#fail(this.#exitError(code, signal)))
    this.#setReferenced(false)
  }

  /**
   * Runs a task. Errors: `WorkerLimitExceeded`; DataCloneError; those of the task, with their name and message.
   */
  async run(request: TaskRequest, timeout_ms: number): Promise<unknown> {
    const frame = toFrame(request)
    const before = this.#cpu_ms()
    const { promise, resolve, reject } = Promise.withResolvers<ChildReply>()
    this.#running = { resolve, reject }
    this.#setReferenced(true)
    const timer = setTimeout(() => {
      const after = this.#cpu_ms()
      const cpu_ms = before === undefined || after === undefined ? undefined : after - before
      this.#fail(new WorkerLimitExceeded('time', `the task was terminated: it exceeded ${timeout_ms} ms`, cpu_ms))
    }, timeout_ms)
    try {
      for (const part of frame) this.#requests.write(part)
      const reply = await promise
      const { cpu_s_max, memory_max_mb } = this.#limits
      if (reply.cpu_s > cpu_s_max * REUSABLE_SHARE.cpu || reply.rss_mb > memory_max_mb * REUSABLE_SHARE.memory)
        this.isUsable = false
      if ('error' in reply) throw Object.assign(new Error(reply.error.message), { name: reply.error.name })
      return reply.value
    } finally {
      clearTimeout(timer)
      this.#setReferenced(false)
    }
  }

  /** Ends it, with what it runs. */
  end(): Promise<void> {
    this.#child.ref()
    this.#fail(new Error('the process was ended'))
    return this.#ended.promise
  }

  #receive(reply: ChildReply): void {
    const running = this.#running
    this.#running = undefined
    if (!running) return this.#fail(new Error('a reply to no request'))
    this.#onReply(this.#child.pid!)
    running.resolve(reply)
  }

  /** Whatever happened, the process runs nothing more. */
  #fail(error: Error): void {
    this.isUsable = false
    this.#running?.reject(error)
    this.#running = undefined
    if (this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) this.#ended.resolve()
    else this.#child.kill('SIGKILL')
  }

  #exitError(code: number | null, signal: NodeJS.Signals | null): Error {
    const { memory_max_mb, cpu_s_max } = this.#limits
    if (signal === MEMORY_SIGNAL)
      return new WorkerLimitExceeded('memory', `the task was terminated: it exceeded ${memory_max_mb} MB of memory`)
    if (signal === CPU_SIGNAL)
      return new WorkerLimitExceeded('time', `the task was terminated: its process exceeded ${cpu_s_max} s of a processor`)
    return new WorkerLimitExceeded(
      'process',
      `the task ended its process (${signal ?? code}): mostly because it exceeded ${memory_max_mb} MB of memory`,
    )
  }

  /** A process that runs nothing does not keep the one that started it from ending. */
  #setReferenced(isNeeded: boolean): void {
    const call = isNeeded ? 'ref' : 'unref'
    this.#child[call]()
    for (const stream of [this.#requests, this.#replies]) (stream as unknown as ChildProcess)[call]()
  }

  /** Its processor time, on Linux: fields 14 and 15 of its status, in hundredths of a second. */
  #cpu_ms(): number | undefined {
    try {
      const status = readFileSync(`/proc/${this.#child.pid}/stat`, 'latin1')
      const fields = status.slice(status.lastIndexOf(')') + 2).split(' ')
      return (Number(fields[11]) + Number(fields[12])) * 10
    } catch {
      return undefined
    }
  }
}
