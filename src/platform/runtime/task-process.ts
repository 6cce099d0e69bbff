// A child process that runs tasks one after the other, with limits that the kernel enforces.
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { frameOf, frameReader } from './task-frames.ts'
import { CPU_SIGNAL, MEMORY_SIGNAL, type TaskCommand, type TaskLimits, type TaskReply, type TaskRequest } from './task-limits.ts'
import { WorkerLimitExceeded } from './worker-pool.ts'

const MB = 2 ** 20
/** Of its limits: a process that used more runs no further task, which could fail for the ones before. */
const WORN_SHARE = { cpu: 0.5, memory: 0.7 }

interface Asked {
  resolve(reply: TaskReply): void
  reject(error: Error): void
}

export class TaskProcess {
  readonly #limits: TaskLimits
  readonly #child: ChildProcess
  readonly #requests: Writable
  readonly #replies: Readable
  readonly #ended = Promise.withResolvers<void>()
  #asked: Asked | undefined
  #isWorn = false

  private constructor(limits: TaskLimits, child: ChildProcess) {
    this.#limits = limits
    this.#child = child
    this.#requests = child.stdin!
    this.#replies = child.stdio[3] as Readable
    const read = frameReader(limits.reply_max_mb * MB, (reply) => this.#receive(reply as TaskReply))
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
    child.on('exit', (code, signal) => this.#fail(this.#endOf(code, signal)))
    this.#reference(false)
  }

  /** Starts a process; its first task tells whether the system could. @param command that of `commandOf` for these limits */
  static start(limits: TaskLimits, { command, words, env }: TaskCommand): TaskProcess {
    // In a session of its own: a signal from the terminal reaches this process, which lets its tasks end.
    const child = spawn(command, words, { env, cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore', 'pipe'] })
    return new TaskProcess(limits, child)
  }

  /** Undefined if the system could not start it. */
  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Whether it can run a further task. */
  get isUsable(): boolean {
    return !this.#isWorn
  }

  /**
   * Runs a task. Errors: `WorkerLimitExceeded`; DataCloneError; those of the task, with their name and message.
   */
  async run(request: TaskRequest, timeout_ms: number): Promise<unknown> {
    const frame = frameOf(request)
    const before = this.#cpu_ms()
    const { promise, resolve, reject } = Promise.withResolvers<TaskReply>()
    this.#asked = { resolve, reject }
    this.#reference(true)
    const timer = setTimeout(() => {
      const after = this.#cpu_ms()
      const cpu_ms = before === undefined || after === undefined ? undefined : after - before
      this.#fail(new WorkerLimitExceeded('time', `the task was terminated: it exceeded ${timeout_ms} ms`, cpu_ms))
    }, timeout_ms)
    try {
      for (const part of frame) this.#requests.write(part)
      const reply = await promise
      const { cpu_s_max, memory_max_mb } = this.#limits
      if (reply.cpu_s > cpu_s_max * WORN_SHARE.cpu || reply.rss_mb > memory_max_mb * WORN_SHARE.memory) this.#isWorn = true
      if ('error' in reply) throw Object.assign(new Error(reply.error.message), { name: reply.error.name })
      return reply.value
    } finally {
      clearTimeout(timer)
      this.#reference(false)
    }
  }

  /** Ends it, with what it runs. */
  end(): Promise<void> {
    this.#child.ref()
    this.#fail(new Error('the process was ended'))
    return this.#ended.promise
  }

  #receive(reply: TaskReply): void {
    const asked = this.#asked
    this.#asked = undefined
    if (asked) asked.resolve(reply)
    else this.#fail(new Error('a reply to no request'))
  }

  /** Whatever happened, the process runs nothing more. */
  #fail(error: Error): void {
    this.#isWorn = true
    const asked = this.#asked
    this.#asked = undefined
    asked?.reject(error)
    if (this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) this.#ended.resolve()
    else this.#child.kill('SIGKILL')
  }

  #endOf(code: number | null, signal: NodeJS.Signals | null): Error {
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

  /** A process that runs nothing keeps the one that started it from nothing. */
  #reference(isNeeded: boolean): void {
    const call = isNeeded ? 'ref' : 'unref'
    this.#child[call]()
    for (const stream of [this.#requests, this.#replies]) (stream as unknown as ChildProcess)[call]()
  }

  /** Of the processor, on Linux: fields 14 and 15 of its status, in hundredths of a second. */
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
