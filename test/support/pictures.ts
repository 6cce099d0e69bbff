// Pictures byte by byte, for tests of what decoders read in them.
import { createCanvas } from '@napi-rs/canvas'
import { crc32, deflateSync } from 'node:zlib'

export const joinBytes = (...parts: Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts))

/** A JPEG of a picture with some marks. */
export function createJpeg(width: number, height: number): Uint8Array {
  const canvas = createCanvas(width, height)
  const context = canvas.getContext('2d')
  context.fillStyle = 'white'
  context.fillRect(0, 0, width, height)
  context.fillStyle = 'black'
  context.fillRect(width / 4, height / 4, width / 2, 4)
  return new Uint8Array(canvas.toBuffer('image/jpeg'))
}

/** A JPEG with bytes between its start and its first segment. */
export const withSegment = (jpeg: Uint8Array, bytes: readonly number[]): Uint8Array =>
  joinBytes(jpeg.subarray(0, 2), Uint8Array.from(bytes), jpeg.subarray(2))

/** Where the frame header of a JPEG is: its marker. */
export const frameAt = (jpeg: Uint8Array): number => Buffer.from(jpeg).indexOf(Buffer.from([0xff, 0xc0]))

/** With other sides in its frame header. */
export function jpegOfSides(jpeg: Uint8Array, width: number, height: number): Uint8Array {
  const copy = Buffer.from(jpeg)
  copy.writeUInt16BE(height, frameAt(jpeg) + 5)
  copy.writeUInt16BE(width, frameAt(jpeg) + 7)
  return new Uint8Array(copy)
}

export function chunk(kind: string, data: Uint8Array): Uint8Array {
  const body = joinBytes(Buffer.from(kind, 'latin1'), data)
  const ends = Buffer.alloc(8)
  ends.writeUInt32BE(data.length)
  ends.writeUInt32BE(crc32(body), 4)
  return joinBytes(ends.subarray(0, 4), body, ends.subarray(4))
}

const SIGNATURE = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** Passes of Adam7: the first column and row, and the steps. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const

export function ihdr(width: number, height: number, [depth, color, interlace] = [8, 0, 0] as readonly number[]): Uint8Array {
  const data = Buffer.alloc(13)
  data.writeUInt32BE(width)
  data.writeUInt32BE(height, 4)
  data.set([depth!, color!, 0, 0, interlace!], 8)
  return chunk('IHDR', data)
}

/** A PNG of these chunks. */
export const pngOf = (...chunks: Uint8Array[]): Uint8Array => joinBytes(SIGNATURE, ...chunks, chunk('IEND', new Uint8Array()))

/** The pixels of a white picture in shades of gray. */
export function idat(width: number, height: number, isInterlaced = false): Uint8Array {
  const passes = isInterlaced ? PASSES : ([[0, 0, 1, 1]] as const)
  const rows = passes.flatMap(([left, top, across, down]) => {
    const row = Buffer.alloc(1 + Math.ceil((width - left) / across), 255).fill(0, 0, 1)
    return row.length > 1 ? Array.from({ length: Math.ceil((height - top) / down) }, () => row) : []
  })
  return chunk('IDAT', deflateSync(Buffer.concat(rows)))
}
