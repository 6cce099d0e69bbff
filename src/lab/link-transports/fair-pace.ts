// Keeps a laboratory that floods from delaying others: while another one sends, each is slowed to a rate that leaves time for the rest. A
// laboratory alone is never slowed. Only computes delays; does not wait itself.

/** Between two messages of one laboratory while others send: 80 messages a second. */
const INTERVAL_MS = 12.5
/** How long a laboratory counts as sending after a message. */
const ACTIVE_MS = 2000

interface Sender {
  seen_ms: number
  /** When its next message has its turn. */
  next_ms: number
}

export class FairPace {
  readonly #senders = new Map<string, Sender>()

  /** How long a message of a laboratory waits for its turn. @param now_ms of a monotonic clock */
  delayFor(name: string, now_ms: number): number {
    for (const [senderName, { seen_ms, next_ms }] of this.#senders)
      if (now_ms - seen_ms > ACTIVE_MS && next_ms <= now_ms) this.#senders.delete(senderName)
    const sender = this.#senders.get(name) ?? { seen_ms: now_ms, next_ms: now_ms }
    this.#senders.set(name, sender)
    sender.seen_ms = now_ms
    if (this.#senders.size === 1) {
      sender.next_ms = now_ms
      return 0
    }
    const start_ms = Math.max(now_ms, sender.next_ms)
    sender.next_ms = start_ms + INTERVAL_MS
    return start_ms - now_ms
  }
}
