// Why a server or a database was not reached, in words that a user of the command line can act on.

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'connection refused: nothing listens there',
  ENOTFOUND: 'its name is unknown',
  EAI_AGAIN: 'its name cannot be looked up now',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ETIMEDOUT: 'it does not respond in time',
  UND_ERR_CONNECT_TIMEOUT: 'it does not respond in time',
  UND_ERR_HEADERS_TIMEOUT: 'it does not respond in time',
  TimeoutError: 'it does not respond in time',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  '28000': 'the user is not accepted',
  '28P01': 'the password is not accepted',
  '3D000': 'the database does not exist',
  '57P03': 'it is starting or stopping',
}

/** The reason that a code of Node, undici or PostgreSQL means; the code itself if it is none of the usual ones. */
export const reasonOf = (code: string): string => REASONS[code] ?? code

/** The innermost code of an error of the network, or else its name. */
export function networkErrorCode(error: unknown): string {
  const { name, code, cause } = error as { name?: string; code?: string; cause?: unknown }
  if (name === 'TimeoutError') return name
  const inner = cause instanceof AggregateError ? cause.errors[0] : cause
  return (inner ? networkErrorCode(inner) : undefined) ?? code ?? name ?? 'unknown'
}
