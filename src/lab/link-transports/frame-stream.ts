// The frames of one connection, one after another: while a frame is processed nothing more is read, so that a peer that sends faster than
// messages are stored has to wait.
import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { FairQueue, QueueLimits } from '../../platform/db/fair-queue.ts'
import type { FrameReader } from '../hl7/frame-reader.ts'

export interface FrameLimits {
  /** How long a peer may pause within a frame. */
  idle_ms: number
  /** How long a peer may take to send a frame. */
  frame_ms_max: number
  /** How long a peer may take to read what is written. */
  write_ms_max: number
}

/** A frame of more bytes needs one of few places, because a process holds it in memory until it is complete. */
const LARGE_BYTES = 1_048_576
/** The places of a process, and those of one laboratory. */
export const LARGE_FRAMES: QueueLimits = { slots: 4, team_slots: 2, wait_ms: 120_000 }

/**
 * `half_frame`: a frame ended without its end, or the connection did. `idle`: the peer paused too long within a frame. `slow`: it took too long for a frame.
 * `too_long`: the frame has more bytes than a message may have. `unread`: the peer does not read what is written.
 */
export type StreamFault = 'half_frame' | 'idle' | 'slow' | 'too_long' | 'unread'

export interface FrameStreamOptions {
  reader: FrameReader
  limits: FrameLimits
  /** The places for large frames, and whose share of them the peer uses. */
  largeFrames: FairQueue
  owner: string
  /** Processes the message of a frame. If it rejects, the connection is closed. */
  onMessage: (bytes: Buffer) => Promise<void>
}

/** How a connection ended. */
export interface StreamEnd {
  fault: StreamFault | undefined
  /** The bytes outside of frames. */
  stray_bytes: number
}

export class FrameStream {
  readonly #socket: Socket
  readonly #options: FrameStreamOptions
  #fault: StreamFault | undefined
  #timer: NodeJS.Timeout | undefined
  /** When the frame that is being read began, without the time of waiting for its place, and how much of it has come. */
  #began_ms: number | undefined
  #frameBytes = 0
  #hasPlace = false
  #isStopped = false
  #isProcessing = false

  constructor(socket: Socket, options: FrameStreamOptions) {
    this.#socket = socket
    this.#options = options
  }

  /** Reads until the connection ends, and closes it. Never rejects. */
  async run(): Promise<StreamEnd> {
    const { reader } = this.#options
    try {
      for await (const chunk of this.#socket.iterator({ destroyOnReturn: false })) {
        await this.#readChunk(chunk as Buffer)
        if (this.#isStopped) break
        this.#watch()
      }
      this.#socket.end()
    } catch {
      this.#socket.destroy()
    } finally {
      if (reader.isWithinFrame && !this.#isStopped) this.#fault ??= 'half_frame'
      clearTimeout(this.#timer)
      this.#leavePlace()
      // What was written last may still be on its way.
      this.#socket.setTimeout(this.#options.limits.write_ms_max, () => this.#socket.destroy())
    }
    return { fault: this.#fault, stray_bytes: reader.strayBytes }
  }

  /** Writes bytes. Errors: the connection is closed, or the peer reads nothing. */
  async write(bytes: Uint8Array): Promise<void> {
    const socket = this.#socket
    if (socket.destroyed || !socket.writable) throw new Error('The connection is closed')
    if (socket.write(bytes)) return
    const signal = AbortSignal.timeout(this.#options.limits.write_ms_max)
    try {
      await Promise.race([once(socket, 'drain', { signal }), once(socket, 'close', { signal })])
    } catch (error) {
      if (signal.aborted) this.#end('unread')
      throw error
    }
    if (socket.destroyed) throw new Error('The connection is closed')
  }

  /** Reads no further frame. The connection ends once the frame in progress is processed. */
  stop(): void {
    this.#isStopped = true
    if (!this.#isProcessing) this.#socket.destroySoon()
  }

  async #readChunk(chunk: Buffer): Promise<void> {
    clearTimeout(this.#timer)
    const { reader } = this.#options
    for (const { kind, bytes } of reader.push(chunk)) {
      this.#began_ms = undefined
      this.#frameBytes = 0
      this.#leavePlace()
      if (kind === 'oversized') return this.#fail('too_long')
      if (kind === 'half') this.#fault ??= 'half_frame'
      else if (bytes.length > 0) await this.#process(bytes)
      if (this.#isStopped) return
    }
    if (reader.isWithinFrame) await this.#takePlace(chunk.length)
  }

  async #process(bytes: Buffer): Promise<void> {
    this.#isProcessing = true
    try {
      await this.#options.onMessage(bytes)
    } finally {
      this.#isProcessing = false
    }
  }

  /** Waits for a place if the frame is large. Errors: none becomes free in time. */
  async #takePlace(bytes: number): Promise<void> {
    this.#began_ms ??= performance.now()
    this.#frameBytes += bytes
    if (this.#frameBytes <= LARGE_BYTES || this.#hasPlace) return
    const waits_ms = performance.now()
    await this.#options.largeFrames.enter(this.#options.owner)
    this.#hasPlace = true
    this.#began_ms += performance.now() - waits_ms
  }

  #leavePlace(): void {
    if (!this.#hasPlace) return
    this.#hasPlace = false
    this.#options.largeFrames.leave(this.#options.owner)
  }

  /** Ends the connection if the rest of a frame does not come. Between frames a peer may pause for any time. */
  #watch(): void {
    if (this.#began_ms === undefined) return
    const { idle_ms, frame_ms_max } = this.#options.limits
    const left_ms = frame_ms_max - (performance.now() - this.#began_ms)
    const fault = left_ms < idle_ms ? 'slow' : 'idle'
    this.#timer = setTimeout(() => this.#end(fault), Math.max(0, Math.min(idle_ms, left_ms)))
  }

  #fail(fault: StreamFault): never {
    this.#fault ??= fault
    throw new Error(fault)
  }

  #end(fault: StreamFault): void {
    this.#fault ??= fault
    this.#socket.destroy()
  }
}
