// The trials that this process sends, after the requests that have started them.
import type { Db } from '../../platform/db/database.ts'
import type { Service } from '../../platform/module/module.ts'
import { errorFields, type Log } from '../../platform/telemetry/log.ts'
import type { NetworkContext } from './check-step.ts'
import { sendTrial, type Trial } from './run-trial.ts'

export class LinkTrials implements Service {
  readonly #log: Log
  readonly #stopping = new AbortController()
  readonly #running = new Set<Promise<void>>()

  constructor(log: Log) {
    this.#log = log
  }

  start(): void {
    // A trial begins with a request.
  }

  /** Sends a trial, without waiting for it. */
  begin(db: Db, trial: Trial, network: NetworkContext): void {
    const { signal } = this.#stopping
    const running = sendTrial(db.queries, trial, network, signal)
      .catch((error: unknown) => {
        const fields = { 'lab_account.id': trial.link.account_id }
        if (signal.aborted) this.#log.warn(fields, 'a trial of a link ended with the process, before all orders were sent')
        else this.#log.error({ ...fields, causes: errorFields(error) }, 'a trial of a link ended before all orders were sent')
      })
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** Ends trials that are being sent: their reports show which orders were sent. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#running)
  }
}
