// The terminal of a command: its output, a question, and the signals that stop a long-running process.
import { createInterface } from 'node:readline/promises'

/** Prints, and waits until the reader has read the text: it may be larger than the memory. Rejects if it cannot be written. */
export const write = (text: string): Promise<void> =>
  new Promise((resolve, reject) => process.stdout.write(text, (error) => (error ? reject(error) : resolve())))

/** As `write`, for the last text of a command: a reader that has closed the pipe, as `head` does, is not a failure. A full disk is one. */
export const print = (text: string): Promise<void> =>
  write(text).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })

/** Asks the user a question; every answer but yes means no. */
export async function ask(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim())
  } finally {
    terminal.close()
  }
}

/** Ctrl-C reaches us from the terminal and again through npm or our own launcher: a second signal within this time is the same request. */
const SIGNAL_REPEAT_MS = 1000

/** Resolves at the first request to stop; a closed terminal is one too. A later second one ends the process at once. */
export function firstSignal(): Promise<{ reason: string; code: number }> {
  return new Promise((resolve) => {
    let first_ms: number | undefined
    const stop = (reason: string) => {
      const now_ms = performance.now()
      first_ms ??= now_ms
      if (now_ms - first_ms > SIGNAL_REPEAT_MS) process.exit(1)
      resolve({ reason, code: 0 })
    }
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, stop)
  })
}
