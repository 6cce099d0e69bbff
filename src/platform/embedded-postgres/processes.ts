/**
 * Finds the processes that belong to a folder of the embedded PostgreSQL, and ends them. It signals only processes that are demonstrably
 * PostgreSQL's and on the given folder: another process may have the stored pid by now.
 */
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode } from './account.ts'

/** `pid` is undefined if it could not be spawned. */
export interface Running {
  pid: number | undefined
  isAlive(): boolean
}

/** Whether any process has this pid. */
export function processExists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}

/** Whether the process is a PostgreSQL on this folder (a real path), or its initdb. */
export function isServerFor(pid: number, folder: string): boolean {
  if (!(pid > 0) || !processExists(pid)) return false
  const command = commandOf(pid)
  if (!/^(.*\/)?(postgres(:| -D| --)|initdb)/.test(command)) return false
  return command.includes(` -D ${folder} `) || hasWorkingDirectory(pid, folder)
}

/** Program and arguments, a space after each; empty for an ended process. */
function commandOf(pid: number): string {
  try {
    if (process.platform === 'linux') return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    return `${execFileSync('ps', ['-p', `${pid}`, '-ww', '-o', 'command='], { encoding: 'utf8', timeout: 5_000 }).trim()} `
  } catch {
    return ''
  }
}

/** Linux only: recognizes the folder even if it was renamed after the process was started. */
function hasWorkingDirectory(pid: number, folder: string): boolean {
  try {
    return fs.readlinkSync(`/proc/${pid}/cwd`) === fs.realpathSync(folder)
  } catch {
    return false
  }
}

/**
 * Ends processes that still work on the folder although their parent was killed: a server process in the middle of its statement blocks the
 * start of the next server, an initdb continues to write. Linux only; elsewhere they end when they notice.
 */
export async function terminateOrphans(folder: string): Promise<void> {
  if (process.platform !== 'linux') return
  for (const pid of fs.readdirSync('/proc').map(Number)) {
    if (isServerFor(pid, folder))
      await terminate({ pid, isAlive: () => isServerFor(pid, folder) }, [
        ['SIGQUIT', 3_000],
        ['SIGKILL', 3_000],
      ])
  }
}

/** Sends one signal after the other, each with time to take effect. Errors: it survives all, or we may not signal it. */
export async function terminate({ pid, isAlive }: Running, steps: [NodeJS.Signals, number][]): Promise<void> {
  for (const [signal, timeout_ms] of steps) {
    if (pid === undefined || !isAlive()) return
    try {
      process.kill(pid, signal)
      // A stopped process would not handle the signal.
      process.kill(pid, 'SIGCONT')
    } catch (error) {
      if (errorCode(error) !== 'ESRCH') throw new Error(`PostgreSQL (process ${pid}) cannot be stopped (${errorCode(error)}).`)
    }
    for (const until = performance.now() + timeout_ms; performance.now() < until; await sleep(10)) {
      if (!isAlive()) return
    }
  }
  if (isAlive()) throw new Error(`PostgreSQL (process ${pid}) did not stop.`)
}
