// Errors that mean that the database cannot serve at the moment, and their responses. Every other error of a statement is a result of the
// database or a bug.
import { unavailable, Problem } from '../runtime/problem.ts'

/** No connection could be made, so nothing was sent. The cause holds the reason. */
export class Unreachable extends Error {
  override name = 'Unreachable'
  constructor(cause: unknown) {
    super('no connection to the database could be made', { cause })
  }
}

/** A connection that owed a response for too long, and was destroyed. */
export class ConnectionSilent extends Error {
  override name = 'ConnectionSilent'
}

/** 503: the connection was lost during a commit. The transaction may or may not have been committed. */
export class UnknownOutcome extends Problem {
  override name = 'UnknownOutcome'
  constructor(cause: unknown) {
    super(503, {
      detail:
        'The outcome is unknown: the connection to the database was lost while the change was being committed. A retry with the same X-Idempotency-Key is safe; without a key, first look whether the change was made',
    })
    this.cause = cause
  }
}

/** Codes of Node and of the system, for connections that cannot be made or that break. */
const OF_SOCKETS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
])

/** The driver's messages for a lost connection; it gives them no code. */
const BROKEN = /^(Connection terminated|Client has encountered a connection error|Client was closed|Cannot use a pool after)/
const TOO_SLOW = /^(timeout exceeded when trying to connect|timeout expired)/

/** Shutdown, crash, start, and the classes of connection exceptions; a primary that has become a standby rejects writes (25006). */
const DATABASE_GONE = /^(57P0[1-5]|08...|25006)$/
/** Disk full, out of memory, too many connections, a limit of the configuration; an error of input or output. */
const WITHOUT_RESOURCES = /^(53...|58030)$/
/** A statement or a lock took too long; contention outside of a transaction that is repeated. */
const TOO_LONG = new Set(['57014', '55P03', '40001', '40P01'])

export const NO_RESOURCES = 'The database is out of disk space, memory or connections'

/** Whether the database refuses because it has run out of disk space, memory or connections. */
export const isWithoutResources = (error: unknown): boolean => WITHOUT_RESOURCES.test((error as Reported).code ?? '')

interface Reported {
  code?: string
  message?: string
  severity?: string
}

/**
 * The response to an error that means that the database cannot serve now, 503 with `Retry-After`; undefined for every other error. Source:
 * docs/operating/troubleshoot.md, "Requests fail with 503".
 */
export function outageOf(error: unknown): Problem | undefined {
  const { code = '', message = '', severity } = error as Reported
  if (error instanceof Unreachable || error instanceof ConnectionSilent) return unavailable(GONE)
  if (isWithoutResources(error)) return unavailable(`${NO_RESOURCES}, try again later`, 10)
  if (TOO_LONG.has(code) || TOO_SLOW.test(message)) return unavailable('Temporarily overloaded; try again')
  if (DATABASE_GONE.test(code) || (severity === undefined && (OF_SOCKETS.has(code) || BROKEN.test(message))))
    return unavailable(GONE)
  return undefined
}

const GONE = 'The database cannot be reached, try again'

/** Whether a statement failed because its connection was lost after it was sent: the database may have run it. */
export function isLost(error: unknown): boolean {
  if (error instanceof ConnectionSilent) return true
  if (error instanceof Unreachable) return false
  const { code = '', message = '', severity } = error as Reported
  if (severity !== undefined) return severity === 'FATAL' || severity === 'PANIC'
  return OF_SOCKETS.has(code) || message.startsWith('Connection terminated')
}
