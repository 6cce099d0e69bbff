// Finds out what a file is, and reads it with the reader of its format.
import { extname } from 'node:path/posix'
import type { Entry } from 'yauzl'
import { readAppleExport, APPLE } from './adapters/apple-export.ts'
import { readFit, isFit } from './adapters/fit.ts'
import { readTrack, trackFormat } from './adapters/tracks.ts'
import type { Batches } from './batches.ts'
import { ReadError, type ReadContext } from './reading.ts'
import { beginning, bytesOf, openArchive, type Archive, type StoredBytes } from './stored-bytes.ts'

export const fileFormats = ['apple_health', 'fit', 'tcx', 'gpx', 'archive'] as const
export type FileFormat = (typeof fileFormats)[number]

/** How much of a file says what it is: Apple's own DTD takes 10 kB. */
const BEGINNING_MAX = 256 * 1024
/** Bytes of content, of all files of an archive together. */
export const CONTENT_MAX = 8 * 1024 ** 3
/** Bytes of content for each byte of an archive: exports have 15 to 30. A small archive may have more. */
const UNPACKED_MAX = 100
const UNPACKED_BYTES_MIN = 64 * 1024 ** 2

const contentMax = ({ size }: StoredBytes): number => Math.min(CONTENT_MAX, Math.max(UNPACKED_BYTES_MIN, UNPACKED_MAX * size))
/** One file that is no export is decoded in memory. */
const ACTIVITY_MAX = 64 * 1024 ** 2

export interface Progress {
  format?: FileFormat
  read_bytes: number
  content_bytes: number
}

/** What a file is, by its first bytes. */
function formatOf(first: Buffer): FileFormat | undefined {
  if (first.length >= 4 && first[0] === 0x50 && first[1] === 0x4b && (first[2] === 3 || first[2] === 5)) return 'archive'
  if (isFit(first)) return 'fit'
  const text = first.toString('latin1')
  if (/<HealthData[\s>]/.test(text)) return 'apple_health'
  return trackFormat(text)
}

/**
 * Reads a file to its end. Errors: ReadError; what precedes the fault has been read.
 * @param progress is brought up to date while the file is read
 */
export async function readFile(file: StoredBytes, batches: Batches, context: ReadContext, progress: Progress): Promise<void> {
  if (file.size === 0) throw new ReadError('empty')
  const format = formatOf(await beginning(file, BEGINNING_MAX))
  if (!format) throw new ReadError('unknown_format')
  if (format === 'archive') return readArchive(file, batches, context, progress)
  progress.format = format
  progress.content_bytes = file.size
  await readContent(format, counted(bytesOf(file), progress, contentMax(file)), batches, context).finally(() => batches.flush())
}

async function readContent(
  format: FileFormat,
  blocks: AsyncIterable<Uint8Array>,
  batches: Batches,
  context: ReadContext,
): Promise<void> {
  if (format === 'apple_health') {
    batches.provider = APPLE
    return readAppleExport(blocks, batches, context)
  }
  const parts: Uint8Array[] = []
  let size = 0
  for await (const block of blocks) {
    if ((size += block.length) > ACTIVITY_MAX) throw new ReadError('too_large')
    parts.push(Buffer.from(block))
  }
  const bytes = Buffer.concat(parts)
  if (format === 'fit') await readFit(bytes, batches, context)
  else await readTrack(format, bytes, batches, context)
}

/** Counts what is read, up to the limit. Errors: ReadError `too_large`. */
async function* counted(blocks: AsyncIterable<Uint8Array>, progress: Progress, bytes_max: number): AsyncGenerator<Uint8Array> {
  for await (const block of blocks) {
    progress.read_bytes += block.length
    if (progress.read_bytes > bytes_max) throw new ReadError('too_large')
    yield block
  }
}

const baseName = ({ fileName }: Entry): string => fileName.slice(fileName.lastIndexOf('/') + 1)

/** Archivers of macOS add files of their own, which have the names of others. */
const isOwnFile = (entry: Entry): boolean => !entry.fileName.startsWith('__MACOSX/') && !baseName(entry).startsWith('.')

/**
 * The export in an archive: its file is called as in the language of the phone, beside a document for hospitals that is called the same
 * with `_cda`. The largest one, since a person may have added others.
 */
const exportIn = (entries: Entry[]): Entry | undefined =>
  entries
    .filter((entry) => /\.xml$/i.test(entry.fileName) && !/_cda\.xml$/i.test(entry.fileName) && isOwnFile(entry))
    .sort((a, b) => b.uncompressedSize - a.uncompressedSize)[0]

const activityFormats: Record<string, FileFormat> = { '.fit': 'fit', '.tcx': 'tcx', '.gpx': 'gpx' }

async function readArchive(file: StoredBytes, batches: Batches, context: ReadContext, progress: Progress): Promise<void> {
  const archive = await openArchive(file)
  if (!archive.entries.length) throw new ReadError('empty')
  const main = exportIn(archive.entries)
  if (main) {
    progress.format = 'apple_health'
    progress.content_bytes = main.uncompressedSize
    for (const { fileName } of archive.entries) {
      if (/\/ecg_[^/]*\.csv$/i.test(fileName)) batches.skip('unsupported', 'Electrocardiogram')
      if (/\.gpx$/i.test(fileName)) batches.skip('unsupported', 'WorkoutRoute')
    }
    const blocks = counted(archive.content(main), progress, contentMax(file))
    return readContent('apple_health', blocks, batches, context).finally(() => batches.flush())
  }
  await readActivities(archive, contentMax(file), batches, context, progress)
}

/** Reads the activities in an archive, as a person has downloaded them together. One that cannot be read is skipped. */
async function readActivities(
  { entries, content }: Archive,
  bytes_max: number,
  batches: Batches,
  context: ReadContext,
  progress: Progress,
): Promise<void> {
  const files = entries.filter((entry) => isOwnFile(entry) && activityFormats[extname(entry.fileName).toLowerCase()])
  if (!files.length) throw new ReadError('unknown_format')
  progress.format = 'archive'
  progress.content_bytes = files.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0)
  for (const entry of files) {
    const format = activityFormats[extname(entry.fileName).toLowerCase()]!
    try {
      await readContent(format, counted(content(entry), progress, bytes_max), batches, context)
    } catch (error) {
      if (!(error instanceof ReadError) || error.code === 'too_large') throw error
      batches.skip('malformed', format)
    }
  }
  await batches.flush()
}
