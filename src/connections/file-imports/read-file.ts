// Reads an uploaded file: one of a known format, packed by gzip or not, or an archive of such files.
import type { Batches } from './batches.ts'
import {
  BEGINNING_MAX,
  contentMax,
  countBytes,
  formatOf,
  readContent,
  type Progress,
  collectBytes,
  type FileFormat,
  type Reading,
} from './read-content.ts'
import { ReadError, type ReadContext, type ReadSummary } from './reading.ts'
import {
  beginning,
  readBytes,
  readFirst,
  gunzip,
  isGzip,
  type StoredBytes,
  openArchive,
  unpack,
  type Archive,
} from './stored-bytes.ts'
import { extname } from 'node:path/posix'
import type { Entry } from 'yauzl'
import { mapOf, StreamPoints } from '../../wearables/streams/stream-points.ts'
import { readElectrocardiogram } from './adapters/apple-ecg.ts'
import { readAppleExport, APPLE, type RoutedWorkout } from './adapters/apple-export.ts'
import { readRoute } from './adapters/tracks.ts'

/**
 * Reads a file to its end. Errors: ReadError; what precedes the fault has been read.
 * @param progress is brought up to date while the file is read
 */
export async function readFile(file: StoredBytes, batches: Batches, context: ReadContext, progress: Progress): Promise<void> {
  if (file.size === 0) throw new ReadError('empty')
  const reading = { batches, context, progress, bytes_max: contentMax(file) }
  const first = await beginning(file, BEGINNING_MAX)
  const isPacked = isGzip(first)
  const content = () => (isPacked ? gunzip(readBytes(file)) : readBytes(file))
  const format = formatOf(isPacked ? await readFirst(content(), BEGINNING_MAX) : first)
  if (format === 'archive') return readArchive(isPacked ? await inMemory(content(), reading) : file, reading)
  if (!format) throw new ReadError('unknown_format')
  progress.format = format
  progress.content_bytes = isPacked ? await contentBytes(file) : file.size
  await readContent(format, countBytes(content(), reading), reading).finally(() => batches.flush())
}

/** How many bytes gzip has packed, as the end of the file says. */
async function contentBytes(file: StoredBytes): Promise<number> {
  const parts: Uint8Array[] = []
  for await (const part of readBytes(file, Math.max(0, file.size - 4))) parts.push(Buffer.from(part))
  const end = Buffer.concat(parts)
  return end.length === 4 ? Math.max(file.size, end.readUInt32LE()) : file.size
}

/** Files whose names do not say what they are, and whose first bytes are looked at. */
const LOOKS_MAX = 100
/** Services export archives of archives, of one level. */
const DEPTH_MAX = 2
/** Archives in one upload, and the bytes of one of them, which is held in memory. */
const ARCHIVES_MAX = 200
const ARCHIVE_BYTES_MAX = 128 * 1024 ** 2

type Activity = 'fit' | 'tcx' | 'gpx'
const activityFormats: Record<string, Activity> = { '.fit': 'fit', '.tcx': 'tcx', '.gpx': 'gpx' }

/** The ending of a name, without that of gzip: `.fit` of `1.FIT.gz`. */
const endingOf = ({ fileName }: Entry): string => extname(fileName.toLowerCase().replace(/\.gz$/, ''))
/** What `skipped` calls a file that is not read. */
const kindOf = (entry: Entry): string => (isOfHospital(entry) ? 'clinical_document' : endingOf(entry).slice(1) || 'file')
const baseName = ({ fileName }: Entry): string => fileName.slice(fileName.lastIndexOf('/') + 1)

/** Archivers of macOS add files of their own, which have the names of others. */
const isOwnFile = (entry: Entry): boolean =>
  !entry.fileName.endsWith('/') && !entry.fileName.startsWith('__MACOSX/') && !baseName(entry).startsWith('.')

/** Next to an export is a document for hospitals with the same name and `_cda`. */
const isOfHospital = ({ fileName }: Entry): boolean => /_cda\.xml$/i.test(fileName)
const isRoute = ({ fileName }: Entry): boolean => /(^|\/)workout-routes\/[^/]*\.gpx$/i.test(fileName)
const isRecording = ({ fileName }: Entry): boolean => /(^|\/)ecg_[^/]*\.csv$/i.test(fileName)

/** What is in an archive. */
interface Contents {
  main: Entry | undefined
  routes: Entry[]
  recordings: Entry[]
  activities: { entry: Entry; format: Activity }[]
  archives: Entry[]
  otherEntries: Entry[]
  /** Files that may be exports, and the reason why they could not be looked at. */
  faulty: { entry: Entry; fault: ReadError }[]
}

/** Reads an archive. Errors: ReadError; files that cannot be read are skipped, and what precedes another fault has been read. */
async function readArchive(file: StoredBytes, reading: Reading): Promise<void> {
  const archive = await openArchive(file)
  if (!archive.entries.length) throw new ReadError('empty')
  const found = { archives: 0, isKnown: false, fault: undefined }
  const error = await readEntries(archive, reading, found, 1)
  await reading.batches.flush()
  if (error) throw error
  if (!found.isKnown) throw found.fault ?? new ReadError('unknown_format')
}

/** What has been met in an archive and those in it. */
interface Met {
  archives: number
  /** Whether a file had a format that is read. */
  isKnown: boolean
  /** The first fault of a file that could not be looked at. */
  fault: ReadError | undefined
}

/** The bytes of an archive that something has packed. Errors: ReadError `too_large`, and those of the bytes. */
async function inMemory(blocks: AsyncIterable<Uint8Array>, reading: Reading): Promise<StoredBytes> {
  const bytes = await collectBytes(countBytes(blocks, reading), ARCHIVE_BYTES_MAX)
  return { size: bytes.length, read: (start) => Promise.resolve(bytes.subarray(start)) }
}

/** @returns why the rest of the archive was not read */
async function readEntries(
  archive: Archive,
  reading: Reading,
  progressOfArchives: Met,
  depth: number,
): Promise<ReadError | undefined> {
  const contents = await contentsOf(archive)
  const { main, activities, archives, otherEntries: others, faulty } = contents
  const { batches, progress } = reading
  progressOfArchives.fault ??= faulty[0]?.fault
  for (const entry of others) batches.skip('unsupported', kindOf(entry))
  for (const { entry } of faulty) batches.skip('malformed', kindOf(entry))
  if (main || activities.length) {
    progressOfArchives.isKnown = true
    progress.format = main ? 'apple_health' : (progress.format ?? 'archive')
  }
  const read = [...(main ? [main, ...contents.routes, ...contents.recordings] : []), ...activities.map(({ entry }) => entry)]
  const sizes = [...read, ...archives].reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0)
  progress.content_bytes = (depth === 1 ? 0 : progress.content_bytes) + sizes
  let error = main && (await readExport(archive, main, contents, reading))
  for (const { entry, format } of activities) {
    if (error?.code === 'too_large') break
    const failed = await readErrorOf(() => readContent(format, countBytes(unpack(archive.content(entry)), reading), reading))
    if (failed?.code === 'too_large') error = failed
    else if (failed) batches.skip('malformed', format)
  }
  for (const entry of archives) {
    if (error?.code === 'too_large') break
    const failed = await readInner(archive, entry, reading, progressOfArchives, depth + 1)
    if (failed?.code === 'too_large') error = failed
  }
  return error
}

/** Reads an archive in an archive. One that is too deep, too large or one too many, and one that cannot be read, is skipped. */
async function readInner(
  { content }: Archive,
  entry: Entry,
  reading: Reading,
  progressOfArchives: Met,
  depth: number,
): Promise<ReadError | undefined> {
  const { batches } = reading
  if (depth > DEPTH_MAX) return void batches.skip('unsupported', 'zip')
  if (++progressOfArchives.archives > ARCHIVES_MAX || entry.uncompressedSize > ARCHIVE_BYTES_MAX)
    return void batches.skip('too_many', 'zip')
  let failed: ReadError | undefined
  const fault = await readErrorOf(async () => {
    const inner = await openArchive(await inMemory(unpack(content(entry)), reading))
    if (!inner.entries.length) throw new ReadError('empty')
    failed = await readEntries(inner, reading, progressOfArchives, depth)
  })
  if (fault?.code === 'too_large') return fault
  if (fault ?? failed) batches.skip('malformed', 'zip')
  return failed
}

/** Sorts the files of an archive by what they are. Of several exports the largest one is read, since a person may have added others. */
async function contentsOf({ entries, content }: Archive): Promise<Contents> {
  const contents: Contents = {
    main: undefined,
    routes: [],
    recordings: [],
    activities: [],
    archives: [],
    otherEntries: [],
    faulty: [],
  }
  let looks = 0
  const look = async (entry: Entry): Promise<FileFormat | undefined> => {
    if (++looks > LOOKS_MAX) return undefined
    try {
      return formatOf(await readFirst(unpack(content(entry)), BEGINNING_MAX))
    } catch (error) {
      if (!(error instanceof ReadError)) throw error
      contents.faulty.push({ entry, fault: error })
      return undefined
    }
  }
  for (const entry of entries.filter(isOwnFile).toSorted((a, b) => b.uncompressedSize - a.uncompressedSize)) {
    const ending = endingOf(entry)
    const format = activityFormats[ending] ?? (ending === '.xml' && !isOfHospital(entry) ? await look(entry) : undefined)
    if (format === 'apple_health' && !contents.main) contents.main = entry
    else if (format === 'fit' || format === 'tcx' || format === 'gpx') contents.activities.push({ entry, format })
    else if (ending === '.zip') contents.archives.push(entry)
    else if (contents.faulty.at(-1)?.entry !== entry) contents.otherEntries.push(entry)
  }
  // In the order of the archive: the same file always gives the same batches, and people expect the order that they see.
  const places = new Map(entries.map((entry, i) => [entry, i]))
  contents.activities.sort((a, b) => places.get(a.entry)! - places.get(b.entry)!)
  return contents.main ? ofExport(contents) : contents
}

/** What belongs to an export: the ways of its workouts, and its electrocardiograms. */
function ofExport(contents: Contents): Contents {
  const { activities, otherEntries: others } = contents
  return {
    ...contents,
    routes: activities.map(({ entry }) => entry).filter(isRoute),
    recordings: others.filter(isRecording),
    activities: activities.filter(({ entry }) => !isRoute(entry)),
    otherEntries: others.filter((entry) => !isRecording(entry)),
  }
}

/** The last two parts of a path: exports name routes from the folder of the export on. */
const placeOf = (path: string): string => path.split('/').slice(-2).join('/')

/**
 * Reads an export: its file, then the routes of its workouts and its electrocardiograms. Unreadable ones are skipped.
 * @returns why the export could not be read to its end
 */
async function readExport(
  { content }: Archive,
  main: Entry,
  { routes: ways, recordings }: Contents,
  reading: Reading,
): Promise<ReadError | undefined> {
  const { batches, context } = reading
  const routes = new Map(ways.map((entry) => [placeOf(entry.fileName), entry]))
  batches.provider = APPLE
  const blocksOf = (entry: Entry) => countBytes(unpack(content(entry)), reading)
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
      if (entry) await read('WorkoutRoute', async () => readRoute(await collectBytes(blocksOf(entry)), points))
    }
    batches.summary(withStream(workout, points))
    await batches.drain()
  }
  if (routes.size) batches.skip('unsupported', 'WorkoutRoute', routes.size)
  for (const entry of recordings) {
    await read('Electrocardiogram', async () => readElectrocardiogram(await collectBytes(blocksOf(entry)), batches, context))
    await batches.drain()
  }
  await batches.flush()
  return error
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
