// Notes when messages last came and went over links. What is shown is exact to ten seconds, so a link is noted no more often than that.
import type { Db } from '../../platform/db/database.ts'
import { noteTraffic } from '../accounts/account-links.ts'

const NOTE_MS_MIN = 10_000

export class TrafficNotes {
  readonly #noted_ms = new Map<string, number>()

  /** Notes a message. Writes lab_link, later and not always: messages do not wait for it. */
  note({ db, account_id }: { db: Db; account_id: string }, direction: 'in' | 'out'): void {
    const key = `${direction} ${account_id}`
    const now_ms = performance.now()
    if (now_ms - (this.#noted_ms.get(key) ?? -Infinity) < NOTE_MS_MIN) return
    this.#noted_ms.set(key, now_ms)
    db.plainTx((tx) => noteTraffic(tx, account_id, direction)).catch(() => this.#noted_ms.delete(key))
  }
}
