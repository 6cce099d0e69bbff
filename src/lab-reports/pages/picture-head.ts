// What the head of a JPEG or PNG says of its pixels. It is stricter than the decoders: in what they skip or repair they may find another size
// than was read here.
import { crc32 } from 'node:zlib'

export interface PictureHead {
  width: number
  height: number
  /** What a decoder takes for it, at four bytes for each pixel, with the buffers of what is not decoded row by row. */
  decoded_bytes: number
}

/** The head of a picture; undefined if it is not a JPEG or PNG that is well-formed as far as decoders rely on it. */
export const pictureHead = (bytes: Uint8Array): PictureHead | undefined => (bytes[0] === 0x89 ? pngHead(bytes) : jpegHead(bytes))

const RGBA_BYTES = 4
const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView => new DataView(buffer, byteOffset, byteLength)

/** Markers of JPEG: those with a segment that may stand before the pixels, and the frames that are decoded. Source: ITU-T T.81, B.1.1.3. */
const [SOI, SOS, DHT, DQT, DRI, COM] = [0xd8, 0xda, 0xc4, 0xdb, 0xdd, 0xfe] as const
const isTable = (marker: number): boolean =>
  marker === DHT || marker === DQT || marker === DRI || marker === COM || (marker >= 0xe0 && marker <= 0xef)
const [BASELINE, PROGRESSIVE] = [0xc0, 0xc2] as const
const COEFFICIENT_BYTES = 2

interface Frame {
  width: number
  height: number
  components: number
  isProgressive: boolean
  /** Samples of all components for each pixel. */
  samples: number
}

function jpegHead(bytes: Uint8Array): PictureHead | undefined {
  if (bytes[0] !== 0xff || bytes[1] !== SOI) return undefined
  const view = viewOf(bytes)
  let frame: Frame | undefined
  let index = 2
  while (bytes[index] === 0xff) {
    // Any number of FF may stand before a marker.
    while (bytes[index + 1] === 0xff) index++
    const marker = bytes[index + 1]
    if (marker === undefined || index + 4 > bytes.length) return undefined
    const length = view.getUint16(index + 2)
    const segment = bytes.subarray(index + 4, index + 2 + length)
    if (length < 2 || segment.length !== length - 2) return undefined
    if (marker === SOS) return frame && toPictureHead(frame, segment)
    if (marker >= BASELINE && marker <= PROGRESSIVE) {
      if (frame) return undefined
      frame = readFrame(segment, marker === PROGRESSIVE)
      if (!frame) return undefined
    } else if (!isTable(marker)) return undefined
    index += 2 + length
  }
  return undefined
}

function readFrame(segment: Uint8Array, isProgressive: boolean): Frame | undefined {
  if (segment.length < 6) return undefined
  const view = viewOf(segment)
  const [precision, height, width, components] = [segment[0]!, view.getUint16(1), view.getUint16(3), segment[5]!]
  if (precision !== 8 || !width || !height || ![1, 3, 4].includes(components) || segment.length !== 6 + components * 3)
    return undefined
  const factors = Array.from({ length: components }, (_, index) => segment[7 + index * 3]!)
  const [across, down] = [factors.map((factor) => factor >> 4), factors.map((factor) => factor & 15)]
  if ([...across, ...down].some((factor) => factor < 1 || factor > 4)) return undefined
  const most = Math.max(...across) * Math.max(...down)
  const samples = factors.reduce((sum, _, index) => sum + (across[index]! * down[index]!) / most, 0)
  return { width, height, components, isProgressive, samples }
}

/** A picture whose components come one after the other, or in several passes, is in memory as a whole before a pixel is decoded. */
function toPictureHead({ width, height, components, isProgressive, samples }: Frame, scan: Uint8Array): PictureHead {
  const isWhole = isProgressive || scan[0] !== components
  const coefficients = isWhole ? samples * COEFFICIENT_BYTES : 0
  return { width, height, decoded_bytes: width * height * (RGBA_BYTES + coefficients) }
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const PNG_SIDE_MAX = 2 ** 31 - 1
/** The length, the kind and the check sum of a chunk. */
const [LENGTH_BYTES, KIND_BYTES, SUM_BYTES] = [4, 4, 4]
/** Depths by the kind of color, and how many samples a pixel has. Source: PNG, third edition, 11.2.1. */
const DEPTHS: Record<number, { depths: readonly number[]; samples: number }> = {
  0: { depths: [1, 2, 4, 8, 16], samples: 1 },
  2: { depths: [8, 16], samples: 3 },
  3: { depths: [1, 2, 4, 8], samples: 1 },
  4: { depths: [8, 16], samples: 2 },
  6: { depths: [8, 16], samples: 4 },
}
/** Chunks without which no decoder understands a picture. Others with a capital letter are not known, and animations are not a page. */
const CRITICAL = new Set(['IHDR', 'PLTE', 'IDAT', 'IEND'])
const ANIMATION = new Set(['acTL', 'fcTL', 'fdAT'])

function pngHead(bytes: Uint8Array): PictureHead | undefined {
  if (!PNG_SIGNATURE.equals(bytes.subarray(0, PNG_SIGNATURE.length))) return undefined
  const view = viewOf(bytes)
  let head: PictureHead | undefined
  let hasPixels = false
  let index = PNG_SIGNATURE.length
  while (index + LENGTH_BYTES + KIND_BYTES + SUM_BYTES <= bytes.length) {
    const start = index + LENGTH_BYTES
    const end = start + KIND_BYTES + view.getUint32(index)
    if (end + SUM_BYTES > bytes.length || crc32(bytes.subarray(start, end)) !== view.getUint32(end)) return undefined
    const kind = Buffer.from(bytes.subarray(start, start + KIND_BYTES)).toString('latin1')
    const isCritical = /^[A-Z]/u.test(kind)
    if (!/^[A-Za-z]{4}$/u.test(kind) || (isCritical && !CRITICAL.has(kind)) || ANIMATION.has(kind)) return undefined
    if ((kind === 'IHDR') === (head !== undefined)) return undefined
    if (kind === 'IHDR') {
      head = pngOf(bytes.subarray(start + KIND_BYTES, end))
      if (!head) return undefined
    }
    if (kind === 'IDAT') hasPixels = true
    if (kind === 'IEND') return hasPixels ? head : undefined
    index = end + SUM_BYTES
  }
  return undefined
}

function pngOf(data: Uint8Array): PictureHead | undefined {
  if (data.length !== 13) return undefined
  const view = viewOf(data)
  const [width, height] = [view.getUint32(0), view.getUint32(4)]
  const [depth, color, compression, filter, interlace] = data.subarray(8) as unknown as [number, number, number, number, number]
  const known = DEPTHS[color]
  if (!width || !height || width > PNG_SIDE_MAX || height > PNG_SIDE_MAX || !known?.depths.includes(depth)) return undefined
  if (compression !== 0 || filter !== 0 || interlace > 1) return undefined
  const rows = interlace ? (known.samples * depth) / 8 : 0
  return { width, height, decoded_bytes: width * height * (RGBA_BYTES + rows) }
}
