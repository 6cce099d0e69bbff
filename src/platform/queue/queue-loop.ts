// The loop of every queue: rounds of work, again soon while there is more, at once when somebody wakes it, and now and then anyway, because
// what another process queued wakes nobody here. Knows nothing of what it does.

const BACKOFF_MS = 500

export interface QueueLoopOptions {
  /** One round. @returns whether there may be more to do at once */
  round: () => Promise<boolean>
  /** After so long without being woken a round is done anyway. */
  poll_ms: number
  /** Rounds are so far apart while there is more to do, so that each takes a batch. */
  pace_ms: number
  /** Rounds are so far apart that found nothing, however often the loop is woken; `pace_ms` if not given. */
  idle_pace_ms?: number
  /** A round failed. The next one begins after half a second. */
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

  /** There is something to do. `isUrgent`: it is known to be there, so that the pause after a round that found nothing is not waited for. */
  wake(isUrgent = false): void {
    this.#isWoken = true
    this.#isUrgent ||= isUrgent
    this.#resume()
  }

  /** Begins no round any more, and waits for the one that runs. */
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

  /** Waits so long, or until it is over early; not at all when the loop is stopped. */
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
