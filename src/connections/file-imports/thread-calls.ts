// What the thread that reads a file and the process that stores its batches send each other. An archive is read ahead, so that a part of it
// may be asked for while a batch is being stored.
import type { MessagePort } from 'node:worker_threads'
import type { Batch } from './batches.ts'
import type { ReadErrorCode, Skipped } from './reading.ts'
import type { Progress } from './read-content.ts'

/** What the thread asks for: the bytes from a place on, with how much of the content it has read; or that a batch is stored. */
export type Question = { read: number; read_bytes: number } | { batch: Batch; state: ReadState }

export interface ReadState {
  progress: Progress
  skipped: Skipped
}

/** How the reading of a file ended. */
export interface ReadEnd extends ReadState {
  error: ReadErrorCode | null
}

export interface ThreadInput {
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
