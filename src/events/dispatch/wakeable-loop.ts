// Work that is done in rounds: again soon while there is more of it, otherwise when somebody says so, and now and then anyway.
import { setTimeout as sleep } from 'node:timers/promises'

/** While there is more, rounds are this far apart, so that each takes a batch. */
const PACE_MS = 5
/** As far as rounds are apart that find nothing: most transactions leave nothing to deliver. */
const IDLE_PACE_MS = 25

export class PollLoop {
  readonly #round: () => Promise<boolean>
  readonly #poll_ms: number
  #woken = false
  #urgent = false
  #stopped = false
  #wake = () => {}
  #loop: Promise<void> | undefined

  /**
   * @param runRound one round; whether there may be more to do at once. Must not throw
   * @param poll_ms after so long without being woken a round is done anyway
   */
  constructor(runRound: () => Promise<boolean>, poll_ms: number) {
    this.#round = runRound
    this.#poll_ms = poll_ms
  }

  start(): void {
    this.#loop = this.#run()
  }

  /** There is something to do. `urgent`: it is known to be there, so that no pause is due before it. */
  wake(urgent = false): void {
    this.#woken = true
    this.#urgent ||= urgent
    this.#wake()
  }

  /** Begin no round any more, and wait for the one that runs. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#wake()
    await this.#loop
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      this.#woken = this.#urgent = false
      const more = await this.#round()
      if (more) await sleep(PACE_MS)
      else {
        await this.#pause(IDLE_PACE_MS, () => this.#urgent)
        if (!this.#woken) await this.#pause(this.#poll_ms, () => this.#woken)
      }
    }
  }

  /** Wait so long, or until it is over early. */
  #pause(ms: number, isOver: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        if (!this.#stopped && !isOver()) return
        clearTimeout(timer)
        resolve()
      }
      this.#wake()
    })
  }
}
