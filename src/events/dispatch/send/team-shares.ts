// How teams share what a process has for deliveries: attempts in flight, and buffered deliveries. A team may use as much as is still free,
// so that whoever comes next finds room, however much the others use: one team at most half, two a third each, ten an eleventh each.
// Source: A. K. Choudhury, E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998.
//
// Endpoints that answer late, or not, have half of the attempts to themselves, shared by the same rule, so that the other half is always
// there for those that answer in time.

/** Deliveries that a process has buffered at most: waiting, in flight, answered and not yet recorded. */
const BUFFERED_MAX = 6000
const IN_FLIGHT_MAX = 500
const SLOW_MAX = IN_FLIGHT_MAX / 2

/** What a team uses of it. */
export interface Share {
  /** Its endpoints that the process knows. */
  queues: number
  /** Waiting or in flight. */
  buffered: number
  /** In flight to endpoints that answer in time, and to others. */
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

  /** What a team uses; of one without an endpoint that the process knows, nothing. */
  of(team: string): Share {
    return this.#teams.get(team) ?? NOTHING
  }

  /** How many more deliveries the process may buffer. */
  get room(): number {
    return BUFFERED_MAX - this.#buffered
  }

  /** How many of these a team may have. */
  roomOf(share: Share): number {
    return this.room - share.buffered
  }

  /** A delivery was buffered. */
  addBuffered(share: Share): void {
    share.buffered++
    this.#buffered++
  }

  /** Deliveries neither wait nor are in flight any more; the process counts them until `release`. */
  removeBuffered(share: Share, count: number): void {
    share.buffered -= count
  }

  /** So many deliveries, of any team, are recorded or returned. */
  release(count: number): void {
    this.#buffered -= count
  }

  /** Whether one more attempt may begin. */
  maySend(share: Share, isSlow: boolean): boolean {
    const free = IN_FLIGHT_MAX - this.#quick - this.#slow
    return isSlow ? free > 0 && share.slow < SLOW_MAX - this.#slow : share.quick < free
  }

  /** Attempts began, or with a negative number ended. */
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
