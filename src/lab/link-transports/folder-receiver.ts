// Looks into the folder of a laboratory again and again.
import { FolderError, type FileStore } from './file-store.ts'
import { FolderReader, type FolderLook, type FolderReaderOptions } from './folder-reader.ts'
import type { Pauses } from './pauses.ts'

export interface FolderReceiverOptions {
  open: () => Promise<FileStore>
  reader: FolderReaderOptions
  poll_ms: number
  pauses: Pauses
  onState: (reason: string | undefined) => void
  onError: (error: unknown) => void
}

export class FolderReceiver {
  readonly #options: FolderReceiverOptions
  #isStopped = false
  #running: Promise<void> | undefined

  constructor(options: FolderReceiverOptions) {
    this.#options = options
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#options.pauses.stop()
    await this.#running
  }

  async #run(): Promise<void> {
    const { pauses, poll_ms, onState, onError } = this.#options
    const reader = new FolderReader(this.#options.reader)
    while (!this.#isStopped)
      try {
        const { failure } = await this.#look(reader)
        pauses.endFailures()
        onState(failure?.message)
        await pauses.gap(poll_ms)
      } catch (error) {
        if (this.#isStopped) return
        if (error instanceof FolderError) onState(error.message)
        else onError(error)
        await pauses.afterFailure()
      }
  }

  async #look(reader: FolderReader): Promise<FolderLook> {
    const store = await this.#options.open()
    try {
      return await reader.look(store, () => this.#isStopped)
    } finally {
      await store.close()
    }
  }
}
