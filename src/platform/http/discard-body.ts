// The rest of a request body that was rejected.
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Maximum bytes of a rejected body that are read and discarded before the connection is closed. */
const DISCARDED_BYTES_MAX = 50_000_000

/**
 * Continues to read after a body was rejected. Fastify would close the connection, which resets it under a client that is still sending, so
 * that the client never sees the response. `requestTimeout` limits the time.
 */
export function discardBody(request: FastifyRequest, reply: FastifyReply): void {
  reply.removeHeader('connection')
  let left = DISCARDED_BYTES_MAX
  request.raw.unpipe()
  request.raw.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) request.raw.destroy()
  })
  request.raw.resume()
}
