// Frames of MLLP, however a connection cuts them.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FrameReader, frameOf, type Frame } from './frame-reader.ts'

const reader = (changes: { bytesMax?: number; endsWithoutReturn?: boolean } = {}) =>
  new FrameReader({ bytesMax: 33_554_432, endsWithoutReturn: false, ...changes })
const texts = (frames: Frame[]) => frames.map(({ kind, bytes }) => [kind, bytes.toString('latin1')])
const whole = (...messages: string[]) => messages.map((text) => ['message', text])

const ONE = 'MSH|^~\\&|A|B|||20300101||ORU^R01|1|P|2.5.1\rPID|1\rOBX|1|ST|\x1cX||Müller\x0b\r'
const TWO = 'MSH|^~\\&|A|B|||20300101||ORU^R01|2|P|2.5.1\r'

/** All frames of a stream that arrives in pieces that end at the positions. */
function readInPieces(bytes: Buffer, ends: number[], options = {}): Frame[] {
  const frames = reader(options)
  return [0, ...ends].flatMap((start, i) => frames.push(Buffer.from(bytes.subarray(start, ends[i] ?? bytes.length))))
}

/** A stream of numbers that is the same in each run. */
function* randomNumbers(seed: number): Generator<number> {
  for (let state = seed; ;) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    yield state / 2_147_483_648
  }
}

describe('the frame reader', () => {
  const stream = Buffer.concat([frameOf(Buffer.from(ONE, 'latin1')), frameOf(Buffer.from(TWO, 'latin1'))])

  test('reads a frame that is cut at any byte', () => {
    for (let end = 0; end <= stream.length; end++)
      assert.deepEqual(texts(readInPieces(stream, [end])), whole(ONE, TWO), `at ${end}`)
  })

  test('reads frames that come byte by byte, or cut at 1,000 random sets of places', () => {
    const all = Array.from(stream, (_, i) => i)
    assert.deepEqual(texts(readInPieces(stream, all)), whole(ONE, TWO))
    const numbers = randomNumbers(43)
    for (let round = 0; round < 1000; round++) {
      const share = numbers.next().value! / 3
      const ends = all.filter(() => numbers.next().value! < share)
      assert.deepEqual(texts(readInPieces(stream, ends)), whole(ONE, TWO), `at ${ends.join()}`)
    }
  })

  test('reads two frames of one packet, with line feeds, NUL and nothing between them', () => {
    for (const between of ['', '\n', '\r\n', '\0', ' \0\n']) {
      const frames = reader()
      const bytes = Buffer.concat([frameOf(Buffer.from(ONE, 'latin1')), Buffer.from(between), frameOf(Buffer.from(TWO))])
      assert.deepEqual(texts(frames.push(bytes)), whole(ONE, TWO))
      assert.equal(frames.strayBytes, 0)
    }
  })

  test('counts bytes outside of frames', () => {
    const frames = reader()
    const bytes = Buffer.concat([Buffer.from('GET / HTTP'), frameOf(Buffer.from(TWO)), Buffer.from('\n\nxy')])
    assert.deepEqual(texts(frames.push(bytes)), whole(TWO))
    assert.equal(frames.strayBytes, 'GET/HTTPxy'.length)
  })

  test('ends a frame at FS and CR only, and at FS alone if it shall', () => {
    const bytes = Buffer.from(`\x0b${TWO}\x1c\x0b${TWO}\x1c\r`)
    assert.deepEqual(texts(reader({ endsWithoutReturn: true }).push(bytes)), whole(TWO, TWO))
    const strict = reader()
    assert.deepEqual(texts(strict.push(bytes)), [['half', `${TWO}\x1c`], ...whole(TWO)])
  })

  test('returns what a sender that begins again has left unfinished', () => {
    assert.deepEqual(texts(reader().push(Buffer.from(`\x0bMSH|half\x0b${TWO}\x1c\r`))), [['half', 'MSH|half'], ...whole(TWO)])
  })

  test('returns the half frame of a connection that ends', () => {
    const frames = reader()
    assert.equal(frames.takeHalf(), undefined)
    frames.push(Buffer.from('\x0bMSH|ha'))
    assert(frames.isWithinFrame)
    assert.equal(frames.takeHalf()!.toString(), 'MSH|ha')
    assert(!frames.isWithinFrame)
    assert.deepEqual(texts(frames.push(frameOf(Buffer.from(TWO)))), whole(TWO))
  })

  test('returns the beginning of an endless frame once and reads the next frame', () => {
    const frames = reader({ bytesMax: 10 })
    assert.deepEqual(texts(frames.push(Buffer.from('\x0b12345'))), [])
    assert.deepEqual(texts(frames.push(Buffer.from('678901'))), [['oversized', '1234567890']])
    assert.deepEqual(texts(frames.push(Buffer.from('2345\x1c6\x1c'))), [])
    assert.deepEqual(texts(frames.push(Buffer.from('\r\x0b1234567890\x1c\r'))), whole('1234567890'))
  })

  test('keeps no more memory than the limit when a frame never ends', () => {
    const frames = reader({ bytesMax: 1_000_000 })
    frames.push(Buffer.from('\x0b'))
    const chunk = Buffer.alloc(65_536, 0x41)
    const before = process.memoryUsage().arrayBuffers
    const kinds = Array.from({ length: 1000 }, () => frames.push(chunk)).flat()
    assert.deepEqual(
      kinds.map(({ kind, bytes }) => [kind, bytes.length]),
      [['oversized', 1_000_000]],
    )
    const grown = process.memoryUsage().arrayBuffers - before
    assert(grown < 20_000_000, `${grown} bytes`)
  })
})
