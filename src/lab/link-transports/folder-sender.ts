// Writes the messages of a link to a folder of the laboratory. Answers, if any, come as files.
import type { DueMessage } from '../link-messages/outbox.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { FolderError, type FileStore } from './file-store.ts'
import { FolderWriter } from './folder-writer.ts'
import { withLineEnds } from './line-ends.ts'
import type { Pauses } from './pauses.ts'

export interface FolderSenderOptions {
  /** Opens the place of the folder. */
  open: () => Promise<FileStore>
  folder: string
  line_end: LinkProfile['text']['line_end']
  outbox: {
    claim(max: number): Promise<DueMessage[]>
    release(messages: readonly DueMessage[]): Promise<void>
    /** The laboratory has the message; whether it accepts it, it says later. */
    markDelivered(message: DueMessage): Promise<void>
  }
  pauses: Pauses
  onState: (reason: string | undefined) => void
  onError: (error: unknown) => void
}

const BATCH = 50
const POLL_MS = 30_000

export class FolderSender {
  readonly #options: FolderSenderOptions
  #isStopped = false
  #running: Promise<void> | undefined

  constructor(options: FolderSenderOptions) {
    this.#options = options
  }

  start(): void {
    this.#running = this.#run()
  }

  /** Messages are due. */
  wake(): void {
    this.#options.pauses.wake()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#options.pauses.stop()
    await this.#running
  }

  async #run(): Promise<void> {
    const { pauses, onState, onError } = this.#options
    while (!this.#isStopped)
      try {
        if (await this.#sendDue()) continue
        await pauses.untilWoken(POLL_MS)
      } catch (error) {
        if (this.#isStopped) return
        if (error instanceof FolderError) onState(error.message)
        else onError(error)
        await pauses.afterFailure()
      }
  }

  /** @returns whether there may be more */
  async #sendDue(): Promise<boolean> {
    const { open, folder, line_end, outbox, onState, pauses } = this.#options
    const messages = await outbox.claim(BATCH)
    if (messages.length === 0) return false
    let sent = 0
    try {
      const store = await open()
      try {
        const writer = new FolderWriter(store, folder)
        for (const message of messages) {
          if (this.#isStopped) break
          await writer.write(message.control_id, withLineEnds(message.bytes, line_end))
          sent++
          await outbox.markDelivered(message)
        }
      } finally {
        await store.close()
      }
    } finally {
      // Written once more under the same name, the one in progress makes no second file.
      if (sent < messages.length) await outbox.release(messages.slice(sent))
    }
    pauses.endFailures()
    onState(undefined)
    return messages.length === BATCH
  }
}
