// Reads an uploaded file: one of a known format, packed by gzip or not, or an archive of such files.
import type { Batches } from './batches.ts'
import { inMemory, readArchive } from './read-archive.ts'
import { BEGINNING_MAX, contentMax, counted, formatOf, readContent, type Progress } from './read-content.ts'
import { ReadError, type ReadContext } from './reading.ts'
import { beginning, bytesOf, firstOf, gunzipped, isGzip, type StoredBytes } from './stored-bytes.ts'

/**
 * Reads a file to its end. Errors: ReadError; what precedes the fault has been read.
 * @param progress is brought up to date while the file is read
 */
export async function readFile(file: StoredBytes, batches: Batches, context: ReadContext, progress: Progress): Promise<void> {
  if (file.size === 0) throw new ReadError('empty')
  const reading = { batches, context, progress, bytes_max: contentMax(file) }
  const first = await beginning(file, BEGINNING_MAX)
  const isPacked = isGzip(first)
  const content = () => (isPacked ? gunzipped(bytesOf(file)) : bytesOf(file))
  const format = formatOf(isPacked ? await firstOf(content(), BEGINNING_MAX) : first)
  if (format === 'archive') return readArchive(isPacked ? await inMemory(content(), reading) : file, reading)
  if (!format) throw new ReadError('unknown_format')
  progress.format = format
  progress.content_bytes = isPacked ? await contentBytes(file) : file.size
  await readContent(format, counted(content(), reading), reading).finally(() => batches.flush())
}

/** How many bytes gzip has packed, as the end of the file says. */
async function contentBytes(file: StoredBytes): Promise<number> {
  const parts: Uint8Array[] = []
  for await (const part of bytesOf(file, Math.max(0, file.size - 4))) parts.push(Buffer.from(part))
  const end = Buffer.concat(parts)
  return end.length === 4 ? Math.max(file.size, end.readUInt32LE()) : file.size
}
