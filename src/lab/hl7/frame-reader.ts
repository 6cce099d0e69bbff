// The frames of the Minimal Lower Layer Protocol (MLLP): VT, the bytes of a message, FS, CR. Works on bytes only, because characters are of the
// message. Source: HL7 version 2.5.1, appendix C.4. Pure.

const VT = 0x0b
const FS = 0x1c
const CR = 0x0d
/** Bytes between frames that senders add and that mean nothing: NUL, LF, CR, space. */
const PADDING = new Set([0x00, 0x0a, 0x0d, 0x20])

/**
 * `message`: a whole frame. `half`: a frame without its end, because a new one begins within it. `oversized`: the beginning of a frame that has
 * more bytes than are allowed.
 */
export interface Frame {
  kind: 'message' | 'half' | 'oversized'
  bytes: Buffer
}

interface FrameReaderOptions {
  /** Most bytes of a frame. */
  bytesMax: number
  /** A frame ends at FS, whether CR follows or not. */
  endsWithoutReturn: boolean
}

/** Reads frames from the chunks of a connection, however these are cut. It keeps none of the chunks. */
export class FrameReader {
  readonly #options: FrameReaderOptions
  #frame: ByteBuffer | undefined
  #strayBytes = 0
  /** Whether the rest of an oversized frame is skipped. */
  #isSkipping = false
  /** Whether the last byte was FS, which CR may follow. */
  #hasSeparator = false

  constructor(options: FrameReaderOptions) {
    this.#options = options
  }

  /** Whether a frame has begun and not ended. */
  get isWithinFrame(): boolean {
    return this.#frame !== undefined
  }

  /** Number of bytes outside of frames, other than padding. */
  get strayBytes(): number {
    return this.#strayBytes
  }

  /** The frames that these bytes end. */
  push(bytes: Uint8Array): Frame[] {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const frames: Frame[] = []
    let position = 0
    while (position < chunk.length) {
      if (this.#frame) {
        position = this.#readWithin(chunk, position, frames)
        continue
      }
      const start = chunk.indexOf(VT, position)
      this.#strayBytes += countStray(chunk.subarray(position, start < 0 ? chunk.length : start))
      if (start < 0) break
      this.#frame = new ByteBuffer()
      position = start + 1
    }
    return frames
  }

  /** The bytes of a frame that has not ended, for an issue when the connection ends or is idle; the reader forgets them. */
  takeHalf(): Buffer | undefined {
    const bytes = this.#isSkipping ? undefined : this.#frame?.take()
    this.#frame = undefined
    this.#hasSeparator = this.#isSkipping = false
    return bytes?.length ? bytes : undefined
  }

  /** Reads within a frame. @returns the position after the bytes that were read */
  #readWithin(chunk: Buffer, position: number, frames: Frame[]): number {
    if (this.#hasSeparator) {
      if (chunk[position] === CR) {
        frames.push(...this.#end())
        return position + 1
      }
      this.#hasSeparator = false
      frames.push(...this.#add(Buffer.of(FS)))
    }
    const separator = chunk.indexOf(FS, position)
    frames.push(...this.#add(chunk.subarray(position, separator < 0 ? chunk.length : separator)))
    if (separator < 0) return chunk.length
    if (this.#options.endsWithoutReturn) frames.push(...this.#end())
    else this.#hasSeparator = true
    return separator + 1
  }

  #add(bytes: Uint8Array): Frame[] {
    if (this.#isSkipping) return []
    const frame = this.#frame!
    const room = this.#options.bytesMax - frame.length
    frame.append(bytes.subarray(0, room))
    if (bytes.length <= room) return []
    this.#isSkipping = true
    return [{ kind: 'oversized', bytes: frame.take() }]
  }

  #end(): Frame[] {
    const bytes = this.#frame!.take()
    const isSkipped = this.#isSkipping
    this.#frame = undefined
    this.#hasSeparator = this.#isSkipping = false
    return isSkipped ? [] : splitAtStart(bytes)
  }
}

/** A frame with these bytes as its content. */
export const frameOf = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.of(VT), bytes, Buffer.of(FS, CR)])

const START = Buffer.from('\vMSH')

/** A message that begins within a frame: the sender stopped within what is before. VT alone is text that someone copied. */
function splitAtStart(bytes: Buffer): Frame[] {
  const start = bytes.lastIndexOf(START)
  const message: Frame = { kind: 'message', bytes: bytes.subarray(start + 1) }
  return start < 0 ? [message] : [{ kind: 'half', bytes: bytes.subarray(0, start) }, message]
}

function countStray(bytes: Uint8Array): number {
  let count = 0
  for (const byte of bytes) if (!PADDING.has(byte)) count++
  return count
}

/** Bytes that grow in linear time, also if they come one by one. */
class ByteBuffer {
  length = 0
  #bytes = Buffer.alloc(0)

  append(bytes: Uint8Array): void {
    const length = this.length + bytes.length
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, this.#bytes.length * 2, 1024))
      this.#bytes.copy(larger, 0, 0, this.length)
      this.#bytes = larger
    }
    this.#bytes.set(bytes, this.length)
    this.length = length
  }

  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.length)
    this.#bytes = Buffer.alloc(0)
    this.length = 0
    return bytes
  }
}
