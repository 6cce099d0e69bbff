// Watches whether the laboratory of a link can connect to its port, at any of the processes that listen.
import type { Db } from '../../platform/db/database.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { listListeners } from './listener-states.ts'
import { Pauses } from './pauses.ts'

export interface WatchTimes {
  poll_ms: number
  /** How long a port is missing before that is a failure: processes start one after the other. */
  missing_ms: number
}

export interface ListenerWatchOptions {
  db: Db
  listener: LinkProfile['transport']['listener']
  times?: WatchTimes
  /** Called with the reason why the laboratory cannot connect, and without one when it can. */
  onState: (reason: string | undefined) => void
  onError: (error: unknown) => void
}

const TIMES: WatchTimes = { poll_ms: 15_000, missing_ms: 60_000 }

export class ListenerWatch {
  readonly #options: ListenerWatchOptions
  readonly #times: WatchTimes
  readonly #pauses = new Pauses()
  #isStopped = false
  #running: Promise<void> | undefined
  #seen_ms = performance.now()

  constructor(options: ListenerWatchOptions) {
    this.#options = options
    this.#times = options.times ?? TIMES
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#pauses.stop()
    await this.#running
  }

  async #run(): Promise<void> {
    const { onError } = this.#options
    while (!this.#isStopped) {
      await this.#look().catch(onError)
      await this.#pauses.gap(this.#times.poll_ms)
    }
  }

  async #look(): Promise<void> {
    const { db, listener, onState } = this.#options
    const { port, tls } = listener
    const all = await listListeners(db.queries, port)
    const usable = all.filter(({ is_tls }) => is_tls || !tls)
    if (usable.length > 0) {
      this.#seen_ms = performance.now()
      return onState(usable.some(({ reason }) => reason === null) ? undefined : (usable[0]!.reason ?? undefined))
    }
    if (performance.now() - this.#seen_ms < this.#times.missing_ms) return
    onState(all.length > 0 ? `LAB_LISTEN has port ${port} without TLS` : `No server listens on port ${port}: LAB_LISTEN`)
  }
}
