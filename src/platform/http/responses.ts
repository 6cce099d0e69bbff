// Writes responses to connections.
import type { FastifyReply } from 'fastify'
import type { Answer } from './admitted-request.ts'

/** A response with a JSON body. */
export function send(reply: FastifyReply, status: number, text: string): FastifyReply {
  reply.header('content-type', 'application/json')
  reply.header('cache-control', 'no-store')
  reply.header('x-content-type-options', 'nosniff')
  reply.header('x-request-id', reply.request.id)
  return reply.code(status).send(text)
}

/** The response of an operation. */
export function sendResponse(reply: FastifyReply, given: Answer): FastifyReply {
  if ('text' in given) return send(reply, given.status, given.text)
  reply.header('x-request-id', reply.request.id)
  if (!given.file) return reply.code(204).send()
  const { type, name, bytes } = given.file
  reply.header('content-type', type).header('content-disposition', `attachment; filename="${name}"`)
  reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff')
  return reply.send(Buffer.from(bytes))
}
