// One line per request and per job on standard error, as JSON. Lines contain ids, counts and durations; never names, dates of birth,
// addresses, results, keys, bodies, or URLs (a URL may hold a caller's own user reference: the operation's id replaces it).
import { pino, destination, type Logger } from 'pino'
import { systemNow, shownInstant } from '../runtime/clock.ts'

export { errorFields } from './error-fields.ts'

export type Log = Logger

/** Lines are written in groups: the system call costs more than building them. */
const BUFFERED_BYTES = 16_000

/** @param level a pino level, or `silent` */
export function createLog(level: string, to: { fd?: number; path?: string } = { fd: 2 }): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${shownInstant(systemNow())}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination({ dest: to.path ?? to.fd ?? 2, sync: false, minLength: BUFFERED_BYTES, periodicFlush: 250 }),
  )
}
