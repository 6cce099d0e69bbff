// The size that is read of a picture before it is decoded, against the one that the decoder reads.
// PICTURE_MUTATIONS=100000 tries more of them, MUTATIONS_SEED=5 those of another seed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCanvas, loadImage } from '@napi-rs/canvas'
import { randomOf } from '../../../test/support/damaged-files.ts'
import {
  chunk,
  frameAt,
  idat,
  ihdr,
  joinBytes,
  createJpeg,
  jpegOfSides,
  pngOf,
  withSegment,
} from '../../../test/support/pictures.ts'
import { pictureHead } from './picture-head.ts'
import { decodePicture, UnreadablePicture } from './pictures.ts'

const COUNT = Number(process.env.PICTURE_MUTATIONS ?? 10_000)
const SEED = Number(process.env.MUTATIONS_SEED ?? 1)
/** Larger pictures are not decoded here: it would take a tenth of a second for each. */
const DECODED_PIXELS_MAX = 4_000_000

const jpeg = createJpeg(40, 30)
const png = pngOf(ihdr(40, 30), idat(40, 30))
const sizeOf = (bytes: Uint8Array) => {
  const head = pictureHead(bytes)
  return head && [head.width, head.height]
}

test('the sizes of JPEG and PNG are read, also behind fill bytes, comments, ancillary chunks and of interlaced pictures', async () => {
  const pictures = [
    jpeg,
    withSegment(jpeg, [0xff, 0xff, 0xff, 0xfe, 0, 4, 0x68, 0x69]),
    new Uint8Array(createCanvas(40, 30).toBuffer('image/png')),
    png,
    pngOf(ihdr(40, 30), chunk('tEXt', Buffer.from('Title\0Report')), idat(40, 30)),
    pngOf(ihdr(40, 30, [8, 0, 1]), idat(40, 30, true)),
  ]
  for (const picture of pictures) {
    assert.deepEqual(sizeOf(picture), [40, 30])
    const { width, height } = await decodePicture(picture)
    assert.deepEqual([width, height], [40, 30])
  }
})

test('a picture that a camera turns has its sides the other way round', async () => {
  const exif = 'ffe10022457869660000' + '4d4d002a00000008' + '0001' + '0112000300000001' + '00060000' + '00000000'
  const segment = Buffer.from(exif, 'hex')
  segment.writeUInt16BE(segment.length - 2, 2)
  const turned = withSegment(jpeg, [...segment])
  assert.deepEqual(sizeOf(turned), [40, 30])
  const { width, height } = await decodePicture(turned)
  assert.deepEqual([width, height], [30, 40])
})

const huge = jpegOfSides(jpeg, 20_000, 20_000)
const header = huge.subarray(frameAt(huge), frameAt(huge) + 19)
/** A frame header of 40 by 30 pixels, where a reader that takes `marker` for a segment or for none finds it, and a decoder does not. */
const createHiddenHeader = (marker: number): Uint8Array =>
  joinBytes(Uint8Array.from([0xff, marker]), Uint8Array.from([0, 2]), jpeg.subarray(frameAt(jpeg), frameAt(jpeg) + 19))
const hiddenIn = (marker: number) => joinBytes(huge.subarray(0, 2), createHiddenHeader(marker), huge.subarray(2))

const refused: [name: string, bytes: Uint8Array][] = [
  ...[0x01, 0xd0, 0xd7, 0xd8, 0xd9, 0x00, 0x02, 0xbf, 0xc8, 0xcc, 0xdc, 0xde, 0xdf, 0xf0].map((marker): [string, Uint8Array] => [
    `a JPEG with a marker ${marker.toString(16)} before its frame`,
    hiddenIn(marker),
  ]),
  ['a JPEG with bytes between its segments', withSegment(jpeg, [0, 0])],
  ['a JPEG with a segment of no length', withSegment(jpeg, [0xff, 0xfe, 0, 1])],
  ['a JPEG with two frames', joinBytes(jpeg.subarray(0, frameAt(jpeg)), header, jpeg.subarray(frameAt(jpeg)))],
  ['a JPEG without pixels', jpegOfSides(jpeg, 40, 0)],
  ['a JPEG that ends before its pixels', jpeg.subarray(0, frameAt(jpeg) + 19)],
  ['a PNG without IHDR at its start', pngOf(chunk('tEXt', Buffer.from('a\0b')), ihdr(40, 30), idat(40, 30))],
  ['a PNG with two IHDR', pngOf(ihdr(40, 30), ihdr(20_000, 20_000), idat(40, 30))],
  ['a PNG whose IHDR has another length', pngOf(chunk('IHDR', Buffer.alloc(14, 1)), idat(40, 30))],
  ['a PNG with a wrong check sum', png.with(30, png[30]! ^ 1)],
  ['a PNG with a chunk that is longer than the file', png.with(33, 0x7f)],
  ['a PNG with an unknown chunk that matters', pngOf(ihdr(40, 30), chunk('ABCD', Buffer.alloc(4)), idat(40, 30))],
  ['an animation', pngOf(ihdr(40, 30), chunk('acTL', Buffer.from([0, 0, 0, 1, 0, 0, 0, 0])), idat(40, 30))],
  ['a PNG of an unknown depth', pngOf(ihdr(40, 30, [3, 0, 0]), idat(40, 30))],
  ['a PNG of an unknown interlace', pngOf(ihdr(40, 30, [8, 0, 2]), idat(40, 30))],
  ['a PNG without pixels', pngOf(ihdr(40, 30))],
  ['a PNG without an end', png.subarray(0, -12)],
]
for (const [name, bytes] of refused)
  test(`${name} is refused`, async () => {
    assert.equal(pictureHead(bytes), undefined)
    await assert.rejects(decodePicture(bytes), UnreadablePicture)
  })

const large: [name: string, bytes: Uint8Array][] = [
  ['a JPEG of 65,535 pixels on a side', jpegOfSides(jpeg, 65_535, 65_535)],
  ['a JPEG in passes of 59 million pixels', jpegOfSides(jpeg.with(frameAt(jpeg) + 1, 0xc2), 7_700, 7_700)],
  ['a PNG of 65,536 pixels on a side', pngOf(ihdr(65_536, 65_536), idat(40, 30))],
  ['a PNG of a single row of two billion pixels', pngOf(ihdr(2 ** 31 - 1, 1), idat(40, 30))],
  ['an interlaced PNG with 16 bits of 59 million pixels', pngOf(ihdr(7_700, 7_700, [16, 6, 1]), idat(40, 30))],
]
for (const [name, bytes] of large)
  test(`${name} is refused before it is decoded`, async () => {
    const before = process.memoryUsage.rss()
    await assert.rejects(decodePicture(bytes), /no size, or too many pixels/)
    assert(process.memoryUsage.rss() - before < 100e6)
  })

test(`${COUNT} changed heads of seed ${SEED}: the size that is read is the one that is decoded, or the picture is refused`, async (t) => {
  const random = randomOf(SEED)
  const originals = [jpeg, createJpeg(64, 48), png, pngOf(ihdr(40, 30, [8, 0, 1]), idat(40, 30, true))]
  const counts = { refused: 0, damaged: 0, large: 0, same: 0 }
  for (let number = 0; number < COUNT; number++) {
    const bytes = changedHead(originals[number % originals.length]!, random)
    const head = pictureHead(bytes)
    if (!head) {
      counts.refused++
      continue
    }
    if (head.width * head.height > DECODED_PIXELS_MAX) {
      counts.large++
      continue
    }
    const image = await loadImage(Buffer.from(bytes)).catch(() => undefined)
    if (!image?.width) {
      counts.damaged++
      continue
    }
    assert.deepEqual([image.width, image.height], [head.width, head.height], `picture ${number} of seed ${SEED}`)
    counts.same++
  }
  t.diagnostic(JSON.stringify(counts))
  for (const [kind, count] of Object.entries(counts)) assert(count > COUNT / 1000, kind)
})

type Random = () => number
const randomBelow = (random: Random, limit: number): number => Math.floor(random() * limit)
const MARKERS = [
  0x00, 0x01, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc8, 0xcc, 0xd0, 0xd7, 0xd8, 0xd9, 0xda, 0xdb, 0xdc, 0xdd, 0xe1, 0xfe, 0xff,
]

/** One or two changes of what stands before the pixels; most PNGs get the check sums that they need then. */
function changedHead(original: Uint8Array, random: Random): Uint8Array {
  const isPng = original[0] === 0x89
  const end = isPng ? 60 : frameAt(original) + 40
  let bytes = original
  for (let left = 1 + randomBelow(random, 2); left > 0; left--) {
    // The frame header, and IHDR, more often than the rest.
    const start = isPng ? 8 : random() < 0.5 ? frameAt(original) : 2
    const index = start + randomBelow(random, end - start)
    const kind = randomBelow(random, 5)
    if (kind === 0) bytes = bytes.with(index, randomBelow(random, 256))
    if (kind === 1) bytes = bytes.with(index, bytes[index]! ^ (1 << randomBelow(random, 8)))
    if (kind === 2) bytes = joinBytes(bytes.subarray(0, index), bytes.subarray(index + 1 + randomBelow(random, 20)))
    if (kind === 3) bytes = joinBytes(bytes.subarray(0, index + 1 + randomBelow(random, 30)), bytes.subarray(index))
    if (kind === 4) bytes = joinBytes(bytes.subarray(0, index), createInsertion(random), bytes.subarray(index))
  }
  if (!isPng && random() < 0.2) bytes = withJump(original, random)
  return isPng && random() < 0.9 ? withSums(bytes) : new Uint8Array(bytes)
}

/** A marker with the length of all that follows, behind which is another frame header: decoders skip the length of some markers. */
function withJump(jpeg: Uint8Array, random: Random): Uint8Array {
  const rest = jpeg.subarray(2)
  const marker = [0xff, MARKERS[randomBelow(random, MARKERS.length)]!, (rest.length + 2) >> 8, (rest.length + 2) & 255]
  return joinBytes(jpeg.subarray(0, 2), Uint8Array.from(marker), rest, createJpeg(8, 8).subarray(frameAt(jpeg)))
}

/** A marker, and often a frame header that another reader may take for that of the picture. */
function createInsertion(random: Random): Uint8Array {
  const marker = Uint8Array.from([0xff, MARKERS[randomBelow(random, MARKERS.length)]!, 0, randomBelow(random, 24)])
  return random() < 0.5 ? marker : joinBytes(marker, createJpeg(8, 8).subarray(frameAt(jpeg), frameAt(jpeg) + 19))
}

function withSums(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const chunks: Uint8Array[] = [bytes.subarray(0, 8)]
  let index = 8
  while (index + 12 <= bytes.length) {
    const end = index + 12 + view.getUint32(index)
    if (end > bytes.length) break
    chunks.push(chunk(Buffer.from(bytes.subarray(index + 4, index + 8)).toString('latin1'), bytes.subarray(index + 8, end - 4)))
    index = end
  }
  return joinBytes(...chunks, bytes.subarray(index))
}
