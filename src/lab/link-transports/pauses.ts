// The pauses of whatever carries a link: until there is work, between messages, and after failures, from 5 s to 10 min. Each ends at once when
// the link is stopped.
export interface PauseOptions {
  first_ms: number
  last_ms: number
}

const STANDARD: PauseOptions = { first_ms: 5000, last_ms: 600_000 }

export class Pauses {
  readonly #options: PauseOptions
  readonly #waiting = new Set<() => void>()
  readonly #all = new Set<() => void>()
  #failures = 0
  #isWoken = false
  #isStopped = false

  constructor(options: PauseOptions = STANDARD) {
    this.#options = options
  }

  /** Ends pauses of those who wait for work, and the next one. */
  wake(): void {
    this.#isWoken = this.#waiting.size === 0
    for (const resume of this.#waiting) resume()
  }

  stop(): void {
    this.#isStopped = true
    for (const resume of this.#all) resume()
  }

  endFailures(): void {
    this.#failures = 0
  }

  /** Waits longer after each failure that follows another. */
  async afterFailure(): Promise<void> {
    const { first_ms, last_ms } = this.#options
    await this.gap(Math.min(last_ms, first_ms * 2 ** Math.min(this.#failures++, 20)))
  }

  /** Waits for a time. */
  gap(ms: number): Promise<void> {
    return this.#wait(ms, undefined)
  }

  /** Waits for work, at most for a time. @param end ends it too */
  async untilWoken(ms: number, end?: Promise<unknown>): Promise<void> {
    if (this.#isWoken) {
      this.#isWoken = false
      return
    }
    await this.#wait(ms, this.#waiting, end)
  }

  #wait(ms: number, group: Set<() => void> | undefined, end?: Promise<unknown>): Promise<void> {
    if (this.#isStopped) return Promise.resolve()
    return new Promise((resolve) => {
      const resume = () => {
        clearTimeout(timer)
        group?.delete(resume)
        this.#all.delete(resume)
        resolve()
      }
      const timer = setTimeout(resume, ms)
      group?.add(resume)
      this.#all.add(resume)
      void end?.then(resume)
    })
  }
}
