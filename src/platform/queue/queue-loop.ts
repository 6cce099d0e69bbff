// The loop of every queue. It starts a round soon while there is more to do, at once when it is woken, and after an interval
// anyway, because other processes cannot wake it. It does not depend on what a round does.

const BACKOFF_MS = 500

export interface QueueLoopOptions {
  /** One round. @returns whether there may be more to do now */
  round: () => Promise<boolean>
  /** The interval after which a round starts without being woken. */
  poll_ms: number
  /** The time between rounds while there is more to do, so that each takes a batch. */
  pace_ms: number
  /** The time between rounds that find nothing, however often the loop is woken; `pace_ms` by default. */
  idle_pace_ms?: number
  /** Called when a round failed. The next one begins after half a second. */
  onError: (error: unknown) => void
}

export class QueueLoop {
  readonly #options: QueueLoopOptions
  #isWoken = false
  #isUrgent = false
  #isStopped = false
  #resume = () => {}
  #running: Promise<void> | undefined

  constructor(options: QueueLoopOptions) {
    this.#options = options
  }

  start(): void {
    this.#running = this.#run()
  }

  /** Wakes the loop. `isUrgent`: work is known to exist, so the loop skips the pause after a round that found nothing. */
  wake(isUrgent = false): void {
    this.#isWoken = true
    this.#isUrgent ||= isUrgent
    this.#resume()
  }

  /** Begins no further round, and waits for the running one. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#resume()
    await this.#running
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  async #run(): Promise<void> {
    const { poll_ms, pace_ms, idle_pace_ms = pace_ms } = this.#options
    while (!this.#isStopped) {
      this.#isWoken = this.#isUrgent = false
      if (await this.#round()) await this.#pause(pace_ms, () => false)
      else {
        await this.#pause(idle_pace_ms, () => this.#isUrgent)
        if (!this.#isWoken) await this.#pause(poll_ms, () => this.#isWoken)
      }
    }
  }

  async #round(): Promise<boolean> {
    try {
      return await this.#options.round()
    } catch (error) {
      if (!this.#isStopped) this.#options.onError(error)
      await this.#pause(BACKOFF_MS, () => false)
      return false
    }
  }

  /** Waits for this time or until it is woken; not at all if the loop is stopped. */
  #pause(ms: number, isOver: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#resume = () => {
        if (!this.#isStopped && !isOver()) return
        clearTimeout(timer)
        resolve()
      }
      this.#resume()
    })
  }
}
