// One line per request and per job on standard error, as JSON. Lines carry ids, counts and durations; never names, dates of
// birth, addresses, results, keys, bodies, or URLs (a URL may hold a caller's own user reference: the operation's id stands for it).
import { pino, destination, type Logger } from 'pino'

export type Log = Logger

/** Lines leave together: handing them to the system costs more than making them. */
const BUFFERED_BYTES = 16_000

/** @param level a pino level, or `silent` */
export function createLog(level: string, to: { fd?: number; path?: string } = { fd: 2 }): Log {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
    destination({ dest: to.path ?? to.fd ?? 2, sync: false, minLength: BUFFERED_BYTES, periodicFlush: 250 }),
  )
}

interface Cause {
  name: string
  code?: string
  constraint?: string
  stack?: string
}

/** What may be said of an unexpected error: its class, code and frames. The message may quote a value, so it stays out. */
export function errorFields(error: unknown): Cause[] {
  const chain: Cause[] = []
  for (let e = error; e instanceof Error && chain.length < 5; e = e.cause) {
    const { code, constraint } = e as { code?: unknown; constraint?: unknown }
    const frames = e.stack
      ?.split('\n')
      .filter((line) => line.startsWith('    at '))
      .slice(0, 12)
      .join('\n')
    chain.push({
      name: e.name,
      ...(typeof code === 'string' && { code }),
      ...(typeof constraint === 'string' && { constraint }),
      ...(frames && { stack: frames }),
    })
  }
  return chain.length ? chain : [{ name: typeof error }]
}
