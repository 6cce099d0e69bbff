// How teams share the attempts in flight and the buffered deliveries of a process. A team may use as much as is still free, so
// that a new team always finds room: one team has at most half, two a third each, ten an eleventh each.
// Source: A. K. Choudhury, E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998.
//
// Slow endpoints share half of the attempts by the same rule, so that the other half is always available for endpoints that
// respond in time.

/** Maximum number of buffered deliveries of a process: waiting, in flight, or answered and not yet recorded. */
const BUFFERED_MAX = 6000
const IN_FLIGHT_MAX = 500
const SLOW_MAX = IN_FLIGHT_MAX / 2

/** The usage of a team. */
export interface Share {
  /** The number of its endpoints with a queue in the process. */
  queues: number
  /** Deliveries waiting or in flight. */
  buffered: number
  /** Attempts in flight to endpoints that respond in time, and to slow ones. */
  quick: number
  slow: number
}

const NOTHING: Share = { queues: 0, buffered: 0, quick: 0, slow: 0 }

export class Shares {
  readonly #teams = new Map<string, Share>()
  #buffered = 0
  #quick = 0
  #slow = 0

  /** The share of a team with one more endpoint; `leave` when its queue is deleted. */
  join(team: string): Share {
    let share = this.#teams.get(team)
    if (!share) this.#teams.set(team, (share = { queues: 0, buffered: 0, quick: 0, slow: 0 }))
    share.queues++
    return share
  }

  leave(team: string, share: Share): void {
    if (--share.queues === 0) this.#teams.delete(team)
  }

  /** The usage of a team; zero for a team without a queue in the process. */
  of(team: string): Share {
    return this.#teams.get(team) ?? NOTHING
  }

  /** The number of deliveries that the process may still buffer. */
  get room(): number {
    return BUFFERED_MAX - this.#buffered
  }

  /** The number of these that a team may have. */
  roomOf(share: Share): number {
    return this.room - share.buffered
  }

  /** A delivery was buffered. */
  addBuffered(share: Share): void {
    share.buffered++
    this.#buffered++
  }

  /** Removes deliveries that are neither waiting nor in flight any more; the process counts them until `release`. */
  removeBuffered(share: Share, count: number): void {
    share.buffered -= count
  }

  /** A number of deliveries, of any team, is recorded or returned. */
  release(count: number): void {
    this.#buffered -= count
  }

  /** Whether one more attempt may begin. */
  maySend(share: Share, isSlow: boolean): boolean {
    const free = IN_FLIGHT_MAX - this.#quick - this.#slow
    return isSlow ? free > 0 && share.slow < SLOW_MAX - this.#slow : share.quick < free
  }

  /** Counts attempts that began or, with a negative number, ended. */
  addInFlight(share: Share, isSlow: boolean, count: number): void {
    if (isSlow) {
      share.slow += count
      this.#slow += count
    } else {
      share.quick += count
      this.#quick += count
    }
  }
}
