// Work that is looked for again and again: one round after the other while there is some, else after a pause. Knows nothing of what it is.

/** Rounds of one kind of work in a process. */
export class Rounds {
  readonly #round: (stopped: () => boolean) => Promise<number>
  readonly #pause_ms: number
  #wake = () => {}
  #stopped = false
  #loop: Promise<void> | undefined

  /** @param round does what is due and returns how much that was; asks `stopped` where it could leave off */
  constructor(round: (stopped: () => boolean) => Promise<number>, pause_ms: number) {
    this.#round = round
    this.#pause_ms = pause_ms
  }

  start(): void {
    this.#loop = this.#run()
  }

  /** Begin nothing more and wait for what is being done. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#wake()
    await this.#loop
  }

  /** One round, now. @returns how much was done */
  once(): Promise<number> {
    return this.#round(() => this.#stopped)
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      if ((await this.once()) > 0 || this.#stopped) continue
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, this.#pause_ms)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }
}
