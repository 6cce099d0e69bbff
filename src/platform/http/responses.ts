// Writes responses to connections.
import type { FastifyReply } from 'fastify'
import { encoded } from '../runtime/reused-bytes.ts'
import type { Answer } from './admitted-request.ts'

/** A response with a JSON body. */
export function send(reply: FastifyReply, status: number, text: string | Buffer): FastifyReply {
  reply.header('content-type', 'application/json')
  reply.header('cache-control', 'no-store')
  reply.header('x-content-type-options', 'nosniff')
  reply.header('x-request-id', reply.request.id)
  return reply.code(status).send(text)
}

/** Characters from which on a text is encoded in memory that is used again. */
const LONG = 64 * 1024

/** As `send`, of a text in parts. */
function sendParts(reply: FastifyReply, status: number, parts: readonly string[]): FastifyReply {
  if (parts.reduce((sum, { length }) => sum + length, 0) < LONG) return send(reply, status, parts.join(''))
  const { bytes, release } = encoded(parts)
  reply.raw.once('close', release)
  return send(reply, status, bytes)
}

/** The response of an operation. */
export function sendResponse(reply: FastifyReply, given: Answer): FastifyReply {
  if ('text' in given) return send(reply, given.status, given.text)
  if ('parts' in given) return sendParts(reply, given.status, given.parts)
  reply.header('x-request-id', reply.request.id)
  if (!given.file) return reply.code(204).send()
  const { type, name, bytes } = given.file
  reply.header('content-type', type).header('content-disposition', `attachment; filename="${name}"`)
  reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff')
  return reply.send(Buffer.from(bytes))
}
