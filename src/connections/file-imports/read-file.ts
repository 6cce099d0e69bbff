// Finds out what a file is, and reads it with the reader of its format.
import { extname } from 'node:path/posix'
import type { Entry } from 'yauzl'
import { mapOf, StreamPoints } from '../../wearables/streams/stream-points.ts'
import { readElectrocardiogram } from './adapters/apple-ecg.ts'
import { readAppleExport, APPLE, type RoutedWorkout } from './adapters/apple-export.ts'
import { readFit, isFit } from './adapters/fit.ts'
import { readRoute, readTrack, trackFormat } from './adapters/tracks.ts'
import type { Batches } from './batches.ts'
import { ReadError, type ReadContext, type ReadSummary } from './reading.ts'
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
  const bytes = await collected(blocks)
  if (format === 'fit') await readFit(bytes, batches, context)
  else await readTrack(format, bytes, batches, context)
}

/** All bytes of a file that is decoded in memory. Errors: ReadError `too_large`. */
async function collected(blocks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const block of blocks) {
    if ((size += block.length) > ACTIVITY_MAX) throw new ReadError('too_large')
    parts.push(Buffer.from(block))
  }
  return Buffer.concat(parts)
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
  if (main) return readExport(archive, main, contentMax(file), batches, context, progress)
  await readActivities(archive, contentMax(file), batches, context, progress)
}

/** The last two parts of a path: exports name routes from the folder of the export on. */
const placeOf = (path: string): string => path.split('/').slice(-2).join('/')

/** Reads an export: its file, then the routes of its workouts and its electrocardiograms. Those that cannot be read are skipped. */
async function readExport(
  { entries, content }: Archive,
  main: Entry,
  bytes_max: number,
  batches: Batches,
  context: ReadContext,
  progress: Progress,
): Promise<void> {
  const own = entries.filter(isOwnFile)
  const routes = new Map(own.filter(({ fileName }) => /\.gpx$/i.test(fileName)).map((entry) => [placeOf(entry.fileName), entry]))
  const recordings = own.filter(({ fileName }) => /(^|\/)ecg_[^/]*\.csv$/i.test(fileName))
  progress.format = 'apple_health'
  progress.content_bytes = [main, ...routes.values(), ...recordings].reduce((sum, one) => sum + one.uncompressedSize, 0)
  batches.provider = APPLE
  const blocksOf = (entry: Entry) => counted(content(entry), progress, bytes_max)
  const routed: RoutedWorkout[] = []
  let error = await readErrorOf(() => readAppleExport(blocksOf(main), batches, context, routed))
  /** What is beyond the limit of content is not read; its workouts are passed on without their ways. */
  const read = async (kind: string, work: () => Promise<void>) => {
    if (error?.code === 'too_large') return
    const fault = await readErrorOf(work)
    if (fault?.code === 'too_large') error = fault
    else if (fault) batches.skip('malformed', kind)
  }
  for (const { workout, routes: paths } of routed) {
    const points = new StreamPoints()
    for (const place of paths.map(placeOf)) {
      const entry = routes.get(place)
      routes.delete(place)
      if (entry) await read('WorkoutRoute', async () => readRoute(await collected(blocksOf(entry)), points))
    }
    batches.summary(withStream(workout, points))
    await batches.drain()
  }
  if (routes.size) batches.skip('unsupported', 'WorkoutRoute', routes.size)
  for (const entry of recordings) {
    await read('Electrocardiogram', async () => readElectrocardiogram(await collected(blocksOf(entry)), batches, context))
    await batches.drain()
  }
  await batches.flush()
  if (error) throw error
}

/** Why reading ended too early; undefined if it did not. Errors: others than a ReadError. */
async function readErrorOf(read: () => Promise<void>): Promise<ReadError | undefined> {
  try {
    await read()
    return undefined
  } catch (error) {
    if (error instanceof ReadError) return error
    throw error
  }
}

/** A workout with the stream and the map of its way. */
function withStream(workout: ReadSummary<'workouts'>, points: StreamPoints): ReadSummary<'workouts'> {
  const { record } = workout
  const stream = points.stream(record.key)
  return stream ? { ...workout, record: { ...record, document: { ...record.document, map: mapOf(stream) } }, stream } : workout
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
    const blocks = counted(content(entry), progress, bytes_max)
    const error = await readErrorOf(() => readContent(format, blocks, batches, context))
    if (error?.code === 'too_large') throw error
    if (error) batches.skip('malformed', format)
  }
  await batches.flush()
}
