// Calls by pages of other origins in browsers: only of operations with link tokens, which such pages hold. Cookies are not used.
// Source: client-conventions.md 6; https://fetch.spec.whatwg.org/#http-cors-protocol.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operation } from './operation.ts'

/** How long a browser may keep the answer to a preflight, in seconds. */
const MAX_AGE_S = 600

const isForPages = ({ auth }: Operation): boolean => auth === 'link'

/** Permits pages of all origins to read the answer to an operation with a link token, whatever its status. */
export function permitReading(operation: Operation, reply: FastifyReply): void {
  if (!isForPages(operation)) return
  reply.header('access-control-allow-origin', '*').header('access-control-expose-headers', 'retry-after, x-request-id')
}

/**
 * Answers a preflight for an operation with a link token.
 * @param methods those of all operations of the path
 * @returns whether it was one; other requests of the method OPTIONS have no answer
 */
export function answerPreflight(
  { method, headers }: FastifyRequest,
  reply: FastifyReply,
  { operation, methods }: { operation: Operation; methods: readonly string[] },
): boolean {
  const wanted = headers['access-control-request-method']
  if (method !== 'OPTIONS' || wanted === undefined || !methods.includes(wanted) || !isForPages(operation)) return false
  reply
    .header('access-control-allow-origin', '*')
    .header('access-control-allow-methods', methods.join(', '))
    .header('access-control-allow-headers', '*')
    .header('access-control-max-age', String(MAX_AGE_S))
    .code(204)
    .send()
  return true
}
