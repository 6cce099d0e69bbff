// Messages that arrive one after the other. Processing takes the processor from acknowledging, which laboratories wait for, so it begins after
// them. Times are of a monotonic clock. Pure.

/** A burst ends when no message has been stored for this time. */
const QUIET_MS = 20
/** Processing waits no longer for its end. */
const BURST_MS = 500

export class ArrivalBurst {
  #storing = 0
  #began_ms = -Infinity
  #ended_ms = -Infinity

  /** Messages are being stored. */
  begin(now_ms: number): void {
    if (this.#storing++ === 0 && now_ms - this.#ended_ms > QUIET_MS) this.#began_ms = now_ms
  }

  /** They are stored, or could not be. */
  end(now_ms: number): void {
    this.#storing--
    this.#ended_ms = now_ms
  }

  /** How long processing waits at least; 0: it need not wait. */
  leftMs(now_ms: number): number {
    const quiet_ms = this.#storing > 0 ? QUIET_MS : this.#ended_ms + QUIET_MS - now_ms
    return Math.max(0, Math.min(quiet_ms, this.#began_ms + BURST_MS - now_ms))
  }
}
