// One line per request and per job on standard error, as JSON, or for people where that is a terminal. Lines contain ids, counts and durations; never names, dates of birth,
// addresses, results, keys, bodies, or URLs (a URL may hold a caller's own user reference: the operation's id replaces it).
import { pino, destination, type Logger } from 'pino'
import { isForPeople, terminalDestination, type LogFormat } from './terminal-log.ts'
import { systemNow } from '../runtime/clock.ts'

export { errorFields } from './error-fields.ts'

export type Log = Logger

/** Lines are written in groups: the system call costs more than building them. */
const BUFFERED_BYTES = 16_000

/**
 * @param level a pino level, or `silent`
 * @param target standard error in a format, or a file, which gets JSON
 */
export function createLog(level: string, target: { format: LogFormat } | { path: string } = { format: 'json' }): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${systemNow().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    'format' in target && isForPeople(target.format)
      ? terminalDestination()
      : destination({ dest: 'path' in target ? target.path : 2, sync: false, minLength: BUFFERED_BYTES, periodicFlush: 250 }),
  )
}
