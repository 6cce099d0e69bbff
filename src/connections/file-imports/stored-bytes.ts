// The bytes of an uploaded file, read from where they are stored. In the thread that reads a file they come from the process, a part at a
// time.
import { Readable } from 'node:stream'
import yauzl, { type Entry, type ZipFile } from 'yauzl'
import { ReadError } from './reading.ts'
import { Unanswered } from '../../platform/runtime/port-calls.ts'

/** A file that can be read at any place. */
export interface StoredBytes {
  size: number
  /** The bytes from a place on: some of them, at least one. */
  read(start: number): Promise<Uint8Array>
}

/** The bytes of a range, part by part, as far as it lies in the file: an archive may name places behind its end. */
export async function* readBytes(file: StoredBytes, start = 0, end = file.size): AsyncGenerator<Uint8Array> {
  for (let at = Math.max(0, start); at < Math.min(end, file.size);) {
    const bytes = await file.read(at)
    yield bytes.subarray(0, end - at)
    at += bytes.length
  }
}

/** The first bytes of a file, at most so many. */
export async function beginning(file: StoredBytes, length: number): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of readBytes(file, 0, Math.min(length, file.size))) parts.push(part)
  return Buffer.concat(parts)
}

class Reader extends yauzl.RandomAccessReader {
  readonly #file: StoredBytes
  constructor(file: StoredBytes) {
    super()
    this.#file = file
  }
  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(readBytes(this.#file, start, end), { objectMode: false })
  }
}

/**
 * The content of bytes that gzip has packed. Errors: ReadError `damaged`, `truncated`, and those of the bytes.
 */
export async function* gunzip(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { createGunzip } = await import('node:zlib')
  const source = Readable.from(blocks, { objectMode: false })
  const content = createGunzip()
  source.on('error', (error) => content.destroy(error))
  source.pipe(content)
  try {
    for await (const block of content as AsyncIterable<Buffer>) yield block
  } catch (error) {
    throw (error as { code?: string }).code === 'Z_BUF_ERROR' ? new ReadError('truncated') : asReadError(error)
  } finally {
    content.destroy()
    source.destroy()
  }
}

export const isGzip = (first: Uint8Array): boolean => first.length >= 2 && first[0] === 0x1f && first[1] === 0x8b

/** The bytes of a file in an archive, unpacked where gzip has packed it; services export each of theirs so. */
export async function* unpack(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const iterator = blocks[Symbol.asyncIterator]()
  let first = Buffer.alloc(0)
  let isDone = false
  while (!isDone && first.length < 2) {
    const { done, value } = await iterator.next()
    if (done) isDone = true
    else first = Buffer.concat([first, value])
  }
  const all = (async function* () {
    yield first
    for (;;) {
      const { done, value } = await iterator.next()
      if (done) return
      yield value
    }
  })()
  try {
    yield* isGzip(first) ? gunzip(all) : all
  } finally {
    await iterator.return?.()
  }
}

/** The first bytes of blocks, at most so many. A fault behind some of them is left to the reader of all. Errors: ReadError without a byte. */
export async function readFirst(blocks: AsyncIterable<Uint8Array>, length: number): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for await (const block of blocks) {
      parts.push(Buffer.from(block))
      if ((size += block.length) >= length) break
    }
  } catch (error) {
    if (size === 0 || !(error instanceof ReadError)) throw error
  }
  return Buffer.concat(parts).subarray(0, length)
}

const ENTRIES_MAX = 200_000

/** A zip archive; each entry once, by its name. */
export interface Archive {
  entries: Entry[]
  /** The content of an entry. Errors: ReadError `encrypted`, `damaged` if it does not match its checksum, `truncated`. */
  content(entry: Entry): AsyncGenerator<Uint8Array>
}

/** Reads the directory of an archive. Errors: ReadError `damaged`, also for an archive that ends too early. */
export async function openArchive(file: StoredBytes): Promise<Archive> {
  const options = { lazyEntries: true, autoClose: false, decodeStrings: true, validateEntrySizes: true }
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    yauzl.fromRandomAccessReader(new Reader(file), file.size, options, (error, zipFile) =>
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- it is one
      zipFile ? resolve(zipFile) : reject(error),
    )
  }).catch((error: unknown) => {
    throw asReadError(error)
  })
  const entries = await new Promise<Entry[]>((resolve, reject) => {
    const found: Entry[] = []
    zip.on('entry', (entry) => {
      found.push(entry)
      if (found.length > ENTRIES_MAX) reject(new ReadError('damaged'))
      else zip.readEntry()
    })
    zip.on('end', () => resolve(found))
    zip.on('error', (error) => reject(asReadError(error)))
    zip.readEntry()
  })
  return { entries, content: (entry) => readContentOfEntry(zip, entry) }
}

async function* readContentOfEntry(zip: ZipFile, entry: Entry): AsyncGenerator<Uint8Array> {
  if (entry.isEncrypted()) throw new ReadError('encrypted')
  const { crc32 } = await import('node:zlib')
  let sum = 0
  let stream: Readable | undefined
  try {
    stream = await new Promise<Readable>((resolve, reject) => {
      zip.openReadStream(entry, (error, readStream) =>
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- it is one
        readStream ? resolve(readStream) : reject(error),
      )
    })
    for await (const block of stream as AsyncIterable<Buffer>) {
      sum = crc32(block, sum)
      yield block
    }
  } catch (error) {
    throw asReadError(error)
  } finally {
    stream?.destroy()
  }
  if (sum !== entry.crc32) throw new ReadError('damaged')
}

/** Whatever zlib and yauzl say of the content of a file is damage of the file; other errors, such as of the database, stay. */
function asReadError(error: unknown): unknown {
  if (error instanceof ReadError) return error
  // The process could not send a part, or store a batch: that is not a fault of the file.
  if (error instanceof Unanswered) return error
  const { code } = error as { code?: string }
  return code === undefined || code.startsWith('Z_') ? new ReadError('damaged') : error
}
