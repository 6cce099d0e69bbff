// Bodies that gzip has packed.
import { createGunzip } from 'node:zlib'
import type { preParsingHookHandler } from 'fastify'

/** The size limit applies to the decompressed body. */
export const unzip: preParsingHookHandler = (request, _reply, payload, done) => {
  if (request.headers['content-encoding']?.toLowerCase() !== 'gzip' || request.headers['content-length'] === '0')
    return done(null, payload)
  delete request.headers['content-length']
  // After a body was rejected nothing listens to the stream, and an unhandled stream error ends the process.
  done(null, payload.pipe(createGunzip().on('error', () => {})))
}
