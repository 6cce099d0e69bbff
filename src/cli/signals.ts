// Signals that stop a long-running process.

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
