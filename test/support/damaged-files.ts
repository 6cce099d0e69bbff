// Files of reports with random changes, as storage and hostile people make them. The same seed makes the same files.
import { createCanvas, type Canvas } from '@napi-rs/canvas'
import { exampleReport } from '../../src/lab-reports/parsing-jobs/example-report.ts'
import type { ReportFile } from '../../src/lab-reports/reading/read-report.ts'
import { pdfOfSize, reportPage } from './uploaded-reports.ts'

/** Mulberry32. */
export function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

function picture(): Canvas {
  const canvas = createCanvas(60, 40)
  const context = canvas.getContext('2d')
  context.fillStyle = 'white'
  context.fillRect(0, 0, 60, 40)
  context.fillStyle = 'black'
  context.fillRect(10, 10, 20, 5)
  return canvas
}

/** In points. Pages of paper take four times as long to draw. */
const LOW_PAGE: [width: number, height: number] = [612, 180]

export async function originals(): Promise<ReportFile[]> {
  const pdfs = [
    Buffer.from(exampleReport.replace('612 792', LOW_PAGE.join(' ')).replace('40 700', '40 100')),
    await pdfOfSize(LOW_PAGE, reportPage(['Glucose', '105', 'H', 'mg/dL', '70-99'])),
    await pdfOfSize(
      LOW_PAGE,
      reportPage(['Sodium', '140', '', 'mmol/L', '136-145']),
      reportPage(['Iron', '90', '', 'ug/dL', '60-170']),
    ),
  ]
  return [
    ...pdfs.map((bytes) => ({ bytes: new Uint8Array(bytes), type: 'application/pdf' as const })),
    { bytes: new Uint8Array(picture().toBuffer('image/png')), type: 'image/png' },
    { bytes: new Uint8Array(picture().toBuffer('image/jpeg')), type: 'image/jpeg' },
  ]
}

type Random = () => number
const randomBelow = (random: Random, limit: number): number => Math.floor(random() * limit)
const randomSlice = (bytes: Uint8Array, random: Random): [number, number] => {
  const start = randomBelow(random, bytes.length)
  return [start, Math.min(bytes.length, start + 1 + randomBelow(random, 64))]
}
const joinParts = (...parts: Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts))
const NUMBERS = ['0', '-1', '1', '99999', '2147483648', '99999999999999999999', '0.0000001', '1e9']
const WORDS = [
  '/Pages 2 0 R',
  '/Kids[2 0 R]',
  '/Length 0',
  '3 0 R',
  '/Filter/FlateDecode',
  'endobj',
  'stream\n',
  '<<',
  '[[',
  '(',
  '\0',
  '\uD83D',
]

/** Changes of bytes as storage and hostile people make them. */
const changes: ((bytes: Uint8Array, random: Random, otherBytes: Uint8Array) => Uint8Array)[] = [
  (bytes, random) => bytes.with(randomBelow(random, bytes.length), randomBelow(random, 256)),
  (bytes, random) => {
    const at = randomBelow(random, bytes.length)
    return bytes.with(at, bytes[at]! ^ (1 << randomBelow(random, 8)))
  },
  (bytes, random) => bytes.subarray(0, randomBelow(random, bytes.length)),
  (bytes, random) => {
    const [start, end] = randomSlice(bytes, random)
    return joinParts(bytes.subarray(0, start), bytes.subarray(end))
  },
  (bytes, random) => {
    const [start, end] = randomSlice(bytes, random)
    return joinParts(bytes.subarray(0, end), bytes.subarray(start))
  },
  (bytes, random, otherBytes) => {
    const [start, end] = randomSlice(otherBytes, random)
    const at = randomBelow(random, bytes.length)
    return joinParts(bytes.subarray(0, at), otherBytes.subarray(start, end), bytes.subarray(at))
  },
  (bytes, random) => withToken(bytes, random, /\d+/g, NUMBERS),
  (bytes, random) => withToken(bytes, random, /\/[A-Z]\w+|\d+ 0 R|endobj/g, WORDS),
]

/** One of the tokens that match is replaced. */
function withToken(bytes: Uint8Array, random: Random, pattern: RegExp, texts: readonly string[]): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1')
  const found = [...text.matchAll(pattern)]
  const match = found[randomBelow(random, found.length)]
  if (!match) return bytes
  const put = texts[randomBelow(random, texts.length)]!
  return new Uint8Array(Buffer.from(text.slice(0, match.index) + put + text.slice(match.index + match[0].length), 'latin1'))
}

/** One of the files with one to three changes. */
export function damagedFile(files: readonly ReportFile[], number: number, random: Random): ReportFile {
  const { bytes, type } = files[number % files.length]!
  const other = files[randomBelow(random, files.length)]!.bytes
  let damaged = bytes
  for (let left = 1 + randomBelow(random, 3); left > 0; left--)
    if (damaged.length > 1) damaged = changes[randomBelow(random, changes.length)]!(damaged, random, other)
  return { bytes: new Uint8Array(damaged), type }
}
