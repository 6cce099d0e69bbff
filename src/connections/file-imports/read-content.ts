// What a file is, by its first bytes, and the reader of its format. Files in archives are read by the same.
import { readAppleExport, APPLE } from './adapters/apple-export.ts'
import { isFit, readFit } from './adapters/fit.ts'
import { readTrack, trackFormat } from './adapters/tracks.ts'
import type { Batches } from './batches.ts'
import { ReadError, type ReadContext } from './reading.ts'
import type { StoredBytes } from './stored-bytes.ts'

export const fileFormats = ['apple_health', 'fit', 'tcx', 'gpx', 'archive'] as const
export type FileFormat = (typeof fileFormats)[number]

/** How much of a file says what it is: Apple's own DTD takes 10 kB. */
export const BEGINNING_MAX = 256 * 1024
/** Bytes of content, of all files of an archive together. */
const CONTENT_MAX = 8 * 1024 ** 3
/** Bytes of content for each byte of an archive: exports have 15 to 30. A small archive may have more. */
const UNPACKED_MAX = 100
const UNPACKED_BYTES_MIN = 64 * 1024 ** 2
/** One file that is not an export is decoded in memory. */
const ACTIVITY_MAX = 64 * 1024 ** 2

export const contentMax = ({ size }: Pick<StoredBytes, 'size'>): number =>
  Math.min(CONTENT_MAX, Math.max(UNPACKED_BYTES_MIN, UNPACKED_MAX * size))

export interface Progress {
  format?: FileFormat
  read_bytes: number
  content_bytes: number
}

/** What the reading of one uploaded file needs, whatever is in it. */
export interface Reading {
  batches: Batches
  context: ReadContext
  /** It is brought up to date while the file is read. */
  progress: Progress
  /** Bytes of content that are read. */
  bytes_max: number
}

/** What a file is, by its first bytes. */
export function formatOf(first: Buffer): FileFormat | undefined {
  if (first.length >= 4 && first[0] === 0x50 && first[1] === 0x4b && (first[2] === 3 || first[2] === 5)) return 'archive'
  if (isFit(first)) return 'fit'
  // Names of elements are ASCII; in UTF-16 and UTF-32 zeros stand between their letters.
  const text = first.toString('latin1').replaceAll('\0', '')
  if (/<HealthData[\s>]/.test(text)) return 'apple_health'
  return trackFormat(text)
}

/** Reads a file of one format. Errors: ReadError; what precedes the fault has been read. */
export async function readContent(format: FileFormat, blocks: AsyncIterable<Uint8Array>, reading: Reading): Promise<void> {
  const { batches, context } = reading
  if (format === 'apple_health') {
    batches.provider = APPLE
    return readAppleExport(blocks, batches, context)
  }
  let cut: ReadError | undefined
  const bytes = await collectBytes(untilCut(blocks, (error) => (cut = error)))
  if (bytes.length === 0) throw cut ?? new ReadError('empty')
  try {
    if (format === 'fit') await readFit(bytes, batches, context)
    else await readTrack(format, bytes, batches, context)
  } catch (error) {
    throw error instanceof ReadError ? (cut ?? error) : error
  }
  if (cut) throw cut
}

/** The blocks of a file that gzip has packed up to where it ends too early: the readers of formats read what there is of them. */
async function* untilCut(blocks: AsyncIterable<Uint8Array>, onCut: (error: ReadError) => void): AsyncGenerator<Uint8Array> {
  try {
    yield* blocks
  } catch (error) {
    if (!(error instanceof ReadError) || error.code !== 'truncated') throw error
    onCut(error)
  }
}

/** All bytes of a file that is decoded in memory. Errors: ReadError `too_large`. */
export async function collectBytes(blocks: AsyncIterable<Uint8Array>, bytes_max = ACTIVITY_MAX): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const block of blocks) {
    if ((size += block.length) > bytes_max) throw new ReadError('too_large')
    parts.push(Buffer.from(block))
  }
  return Buffer.concat(parts)
}

/** Counts what is read, up to the limit. Errors: ReadError `too_large`. */
export async function* countBytes(
  blocks: AsyncIterable<Uint8Array>,
  { progress, bytes_max }: Pick<Reading, 'progress' | 'bytes_max'>,
): AsyncGenerator<Uint8Array> {
  for await (const block of blocks) {
    progress.read_bytes += block.length
    if (progress.read_bytes > bytes_max) throw new ReadError('too_large')
    yield block
  }
}
