// Limits the memory that large request bodies take while they arrive and are served: in total, and for one team.
import { Transform, type Readable, type TransformCallback } from 'node:stream'
import type { preParsingHookHandler } from 'fastify'
import { Problem, unavailable } from '../runtime/problem.ts'

const MIB = 1024 * 1024

export interface BodyMemoryLimits {
  bytes_max: number
  team_bytes_max: number
}

/** Eight of the largest bodies, and half of them of one team. */
const LIMITS: BodyMemoryLimits = { bytes_max: 256 * MIB, team_bytes_max: 128 * MIB }

const tooMuch = () =>
  new Problem(429, { detail: 'Large requests of this team are being served, try again' }, { 'retry-after': '1' })

/** The bytes of one body. */
export interface BodyShare {
  /** 429: the bodies of the team take too much memory; 503: those of all teams do. Then nothing is added. */
  add(bytes: number): void
  /** Gives all of it back. Once. */
  release(): void
}

/** One per process. */
export class BodyMemory {
  readonly #limits: BodyMemoryLimits
  readonly #ofTeam = new Map<string, number>()
  #bytes = 0

  constructor(limits = LIMITS) {
    this.#limits = limits
  }

  /** Bytes of all bodies. */
  get bytes(): number {
    return this.#bytes
  }

  share(team: string): BodyShare {
    let own = 0
    let isReleased = false
    const change = (bytes: number) => {
      own += bytes
      this.#bytes += bytes
      const ofTeam = (this.#ofTeam.get(team) ?? 0) + bytes
      if (ofTeam) this.#ofTeam.set(team, ofTeam)
      else this.#ofTeam.delete(team)
    }
    return {
      add: (bytes) => {
        if (isReleased) return
        if ((this.#ofTeam.get(team) ?? 0) + bytes > this.#limits.team_bytes_max) throw tooMuch()
        if (this.#bytes + bytes > this.#limits.bytes_max) throw unavailable('Large requests are being served, try again')
        change(bytes)
      },
      release: () => {
        isReleased = true
        change(-own)
      },
    }
  }

  /** For an operation with large bodies: one that exceeds a limit gets its error before it is read, or as soon as its length is known. */
  hook(body_bytes_max: number): preParsingHookHandler {
    return (request, reply, payload, done) => {
      const share = this.share(request.tenant?.team ?? '')
      reply.raw.on('close', share.release)
      const length = Number(request.headers['content-length'] ?? NaN)
      try {
        if (Number.isNaN(length)) return done(null, counted(payload as Readable, share))
        // A longer one gets 413.
        if (length <= body_bytes_max) share.add(length)
        done(null, payload)
      } catch (error) {
        done(error as Error)
      }
    }
  }
}

/** Passes the bytes of a body on and adds them to its share: for a body whose length is not known before. */
class CountedBody extends Transform {
  readonly #share: BodyShare

  constructor(share: BodyShare) {
    super()
    this.#share = share
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    try {
      this.#share.add(chunk.length)
      done(null, chunk)
    } catch (error) {
      done(error as Error)
    }
  }
}

/** The body with its bytes added to a share when they come. An error of the body is one of the result as well. */
function counted(body: Readable, share: BodyShare): Readable {
  const result = new CountedBody(share)
  body.on('error', (error) => result.destroy(error))
  // After the body was rejected nothing listens to the stream, and an unhandled stream error ends the process.
  return body.pipe(result.on('error', () => {}))
}
