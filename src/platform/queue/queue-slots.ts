// Which claimed rows of a queue run now. A group, such as a team, never has all slots, so that the slow work of one group does
// not stop that of another. A kind of work may have fewer slots than there are, whatever the group. Rows with the same ordering key run one after the other, in the order in which they were claimed.

/** Rows are claimed ahead only up to the number of slots that became free within this time. */
const AHEAD_MS = 100
const AHEAD_MAX = 32

export interface QueueSlotsOptions<W> {
  /** Number of rows that run at once. */
  slots: number
  groupOf: (work: W) => string
  /** Number of slots of a group that has one already. Unlimited by default. */
  groupMax?: (group: string) => number
  /** Kinds of work, and the number of rows of a kind that run at once. Unlimited by default. */
  kinds?: { kindOf: (work: W) => string; max: (kind: string) => number }
  /** Rows of a group run in any order by default. */
  orderingKeyOf?: (work: W) => string
}

/** The limits of the next claim. */
export interface ClaimLimits {
  /** Rows in all. */
  total: number
  /** Rows of one group, including rows that the process already has. */
  groupMax: (group: string) => number
  /** Rows that the process has already, by group: the group whose last turn was the earliest is the first. */
  claimedRows: ReadonlyMap<string, number>
  /** Kinds of which no further row could run. */
  fullKinds: readonly string[]
}

interface Group<W> {
  runningCount: number
  waitingWork: W[]
}

/** The claimed rows of a queue in a process, waiting or running. */
export class QueueSlots<W> {
  readonly #options: QueueSlotsOptions<W>
  readonly #groups = new Map<string, Group<W>>()
  readonly #keysRunning = new Set<string>()
  readonly #kindsRunning = new Map<string, number>()
  #running = 0
  #waiting = 0
  /** The number of rows that ended within the current interval, and within the previous one. */
  #ended = 0
  #ended_before = 0
  #interval_ms = 0

  constructor(options: QueueSlotsOptions<W>) {
    this.#options = options
  }

  limits(now_ms: number): ClaimLimits {
    this.#rotate(now_ms)
    const ahead = Math.min(AHEAD_MAX, Math.max(this.#ended, this.#ended_before))
    return {
      total: Math.max(0, this.#options.slots + ahead - this.#running - this.#waiting),
      groupMax: (group) => this.#groupMax(group) + ahead,
      claimedRows: new Map(
        [...this.#groups].map(([name, { runningCount, waitingWork }]) => [name, runningCount + waitingWork.length]),
      ),
      fullKinds: [...this.#kindsRunning.keys()].filter((kind) => this.#isKindFull(kind)),
    }
  }

  /** A claimed row waits for its slot. */
  add(work: W): void {
    const name = this.#options.groupOf(work)
    const group = this.#groups.get(name) ?? { runningCount: 0, waitingWork: [] }
    this.#groups.set(name, group)
    group.waitingWork.push(work)
    this.#waiting++
  }

  /**
   * The row that runs next, of the group with the fewest running rows; of several, that whose last turn was the earliest. It has a slot until
   * `end`. Undefined: none may begin now.
   */
  next(): W | undefined {
    let best: { name: string; group: Group<W>; index: number } | undefined
    for (const [name, group] of this.#groups) {
      if (!this.#mayRun(name, group) || (best && group.runningCount >= best.group.runningCount)) continue
      const index = group.waitingWork.findIndex((work) => !this.#isKeyRunning(work) && !this.#isOfFullKind(work))
      if (index >= 0) best = { name, group, index }
    }
    if (!best) return undefined
    const [work] = best.group.waitingWork.splice(best.index, 1)
    best.group.runningCount++
    // The last of the groups, which are in the order of their turns.
    this.#groups.delete(best.name)
    this.#groups.set(best.name, best.group)
    this.#running++
    this.#waiting--
    if (this.#options.orderingKeyOf) this.#keysRunning.add(this.#options.orderingKeyOf(work!))
    this.#countKind(work!, 1)
    return work
  }

  /** Ends a row and frees its slot. */
  end(work: W, now_ms: number): void {
    this.#rotate(now_ms)
    const name = this.#options.groupOf(work)
    this.#ended++
    this.#running--
    this.#groups.get(name)!.runningCount--
    if (this.#options.orderingKeyOf) this.#keysRunning.delete(this.#options.orderingKeyOf(work))
    this.#countKind(work, -1)
    this.#deleteIfEmpty(name)
  }

  /** Removes waiting rows: all, or the selected ones. */
  withdraw(isChosen: (work: W) => boolean = () => true): W[] {
    const withdrawn: W[] = []
    for (const [name, group] of this.#groups) {
      withdrawn.push(...group.waitingWork.filter(isChosen))
      group.waitingWork = group.waitingWork.filter((work) => !isChosen(work))
      this.#deleteIfEmpty(name)
    }
    this.#waiting -= withdrawn.length
    return withdrawn
  }

  #groupMax(group: string): number {
    return this.#options.groupMax?.(group) ?? this.#options.slots
  }

  #mayRun(name: string, { runningCount, waitingWork }: Group<W>): boolean {
    if (waitingWork.length === 0) return false
    return this.#running < (runningCount === 0 ? this.#options.slots : this.#groupMax(name))
  }

  #isKeyRunning(work: W): boolean {
    return this.#options.orderingKeyOf !== undefined && this.#keysRunning.has(this.#options.orderingKeyOf(work))
  }

  #isKindFull(kind: string): boolean {
    const { kinds } = this.#options
    return kinds !== undefined && (this.#kindsRunning.get(kind) ?? 0) >= kinds.max(kind)
  }

  #isOfFullKind(work: W): boolean {
    const { kinds } = this.#options
    return kinds !== undefined && this.#isKindFull(kinds.kindOf(work))
  }

  /** Counts the running rows of kinds that have a limit. */
  #countKind(work: W, change: 1 | -1): void {
    const kind = this.#options.kinds?.kindOf(work)
    if (kind === undefined || this.#options.kinds!.max(kind) === Infinity) return
    const running = (this.#kindsRunning.get(kind) ?? 0) + change
    if (running > 0) this.#kindsRunning.set(kind, running)
    else this.#kindsRunning.delete(kind)
  }

  #deleteIfEmpty(name: string): void {
    const { runningCount, waitingWork } = this.#groups.get(name)!
    if (runningCount === 0 && waitingWork.length === 0) this.#groups.delete(name)
  }

  #rotate(now_ms: number): void {
    const passed_ms = now_ms - this.#interval_ms
    if (passed_ms < AHEAD_MS) return
    this.#ended_before = passed_ms < 2 * AHEAD_MS ? this.#ended : 0
    this.#ended = 0
    this.#interval_ms = now_ms
  }
}
