// The task of a worker thread: reads a file whose bytes the process sends, and sends back what is in it. Only threads import it.
import { flushCompileCache } from 'node:module'
import { lowerPriority } from '../../platform/runtime/low-priority.ts'
import { Batches, type Batch } from './batches.ts'
import { ReadError, type ReadErrorCode, type Skipped } from './reading.ts'
import type { Progress } from './read-content.ts'
import { readFile } from './read-file.ts'
import { askProcess } from '../../platform/runtime/port-calls.ts'
import type { MessagePort } from 'node:worker_threads'

export default async function readFileTask({ port, size, now_ms, zone, provider, isLong }: ThreadInput): Promise<ReadEnd> {
  if (isLong) lowerPriority('background')
  const progress: Progress = { read_bytes: 0, content_bytes: size }
  // While a batch is being stored the next one is read.
  let storing: Promise<unknown> = Promise.resolve()
  const batches: Batches = new Batches(provider, async (batch) => {
    await storing
    storing = askProcess(port, { batch, state: { progress, skips: batches.skips } } satisfies Question)
    // It rejects again where it is awaited.
    storing.catch(() => {})
  })
  // The last part is asked for again when a range ends within it.
  let last: { start: number; bytes: Uint8Array } | undefined
  const file = {
    size,
    async read(start: number): Promise<Uint8Array> {
      if (!last || start < last.start || start >= last.start + last.bytes.length)
        last = (await askProcess(port, { read: start, read_bytes: progress.read_bytes } satisfies Question)) as {
          start: number
          bytes: Uint8Array
        }
      return last.bytes.subarray(start - last.start)
    },
  }
  try {
    await readFile(file, batches, { now_ms, zone }, progress)
    await storing
    return { progress, skips: batches.skips, error: null }
  } catch (error) {
    if (!(error instanceof ReadError)) throw error
    await batches.flush()
    await storing
    return { progress, skips: batches.skips, error: error.code }
  } finally {
    // The thread is ended, and would not keep what was compiled.
    flushCompileCache()
    port.close()
  }
}

/** What the thread asks for: the bytes from a place on, with how much of the content it has read; or that a batch is stored. */
export type Question = { read: number; read_bytes: number } | { batch: Batch; state: ReadState }

export interface ReadState {
  progress: Progress
  skips: Skipped
}

/** How the reading of a file ended. */
export interface ReadEnd extends ReadState {
  error: ReadErrorCode | null
}

interface ThreadInput {
  port: MessagePort
  size: number
  /** The instant at which the file was sent. */
  now_ms: number
  /** Where the user lives, for what a file gives no zone of; null: unknown. */
  zone: string | null
  provider: string
  /** The first turn of the file is over: the thread is of less importance than those of others. */
  isLong: boolean
}
