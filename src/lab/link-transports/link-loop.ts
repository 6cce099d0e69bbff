// The loop of what carries the messages of a link: folders, and the watch of a port.
import { FolderError } from './file-store.ts'
import type { Pauses } from './pauses.ts'

export interface LinkLoopOptions {
  /** Work and the pause after it. @param isStopped whether to leave the rest */
  round: (isStopped: () => boolean) => Promise<void>
  pauses: Pauses
  /** Called with the reason why the link does not work, and without one when it does. */
  onState: (reason: string | undefined) => void
  onError: (error: unknown) => void
}

/** Repeats rounds until it is stopped. One that fails is followed by a pause, which grows with each further failure. */
export class LinkLoop {
  readonly #options: LinkLoopOptions
  #isStopped = false
  #running: Promise<void> | undefined

  constructor(options: LinkLoopOptions) {
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
    const { round, pauses, onState, onError } = this.#options
    while (!this.#isStopped)
      try {
        await round(() => this.#isStopped)
      } catch (error) {
        if (this.#isStopped) return
        if (error instanceof FolderError) onState(error.message)
        else onError(error)
        await pauses.afterFailure()
      }
  }
}
