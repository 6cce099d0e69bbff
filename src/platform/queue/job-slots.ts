// Which of the claimed jobs of a cell run now. A team never has all slots, so that the slow jobs of one team do not stop those of another.
import type { JobRow } from './jobs.ts'

/** Jobs that a process runs at once in a cell. */
export const SLOTS = 8
/** The last slots are for teams of which no job is running. */
const SLOTS_FOR_OTHERS = 2
/** Jobs are claimed before a slot is free only as far as slots become free within this time. */
const AHEAD_MS = 100
const AHEAD_MAX = 32

interface TeamJobs<J> {
  running: number
  waiting: J[]
}

/** The claimed jobs of a cell in a process: waiting for a slot, or running. Knows nothing of how they run. */
export class JobSlots<J extends Pick<JobRow, 'team_id'>> {
  readonly #teams = new Map<string, TeamJobs<J>>()
  readonly #slots: number
  #running = 0
  #waiting = 0
  /** How many ended within the present stretch of time, and within the one before. */
  #ended = 0
  #ended_before = 0
  #stretch_ms = 0

  constructor(slots = SLOTS) {
    this.#slots = slots
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting
  }

  /** How much may be claimed now: see `ClaimRoom`. */
  room(now_ms: number): { total: number; team: number; held: Map<string, number> } {
    this.#turn(now_ms)
    const ahead = Math.min(AHEAD_MAX, Math.max(this.#ended, this.#ended_before))
    return {
      total: Math.max(0, this.#slots + ahead - this.#running - this.#waiting),
      team: this.#teamMax + ahead,
      held: new Map([...this.#teams].map(([team, { running, waiting }]) => [team, running + waiting.length])),
    }
  }

  /** A claimed job waits for its slot. */
  add(job: J): void {
    const team = this.#teams.get(job.team_id) ?? { running: 0, waiting: [] }
    this.#teams.set(job.team_id, team)
    team.waiting.push(job)
    this.#waiting++
  }

  /** The job that runs next, of the team with the fewest running; it has a slot until `end`. Undefined: none may run now. */
  next(): J | undefined {
    let best: TeamJobs<J> | undefined
    for (const team of this.#teams.values())
      if (team.waiting.length > 0 && this.#mayRun(team) && (!best || team.running < best.running)) best = team
    if (!best) return undefined
    best.running++
    this.#running++
    this.#waiting--
    return best.waiting.shift()
  }

  /** A job is over, and its slot is free. */
  end(job: J, now_ms: number): void {
    this.#turn(now_ms)
    this.#ended++
    this.#running--
    this.#teams.get(job.team_id)!.running--
    this.#forget(job.team_id)
  }

  /** Takes back the jobs that wait: all, or those chosen. */
  withdraw(chosen: (job: J) => boolean = () => true): J[] {
    const withdrawn: J[] = []
    for (const [team_id, team] of this.#teams) {
      withdrawn.push(...team.waiting.filter(chosen))
      team.waiting = team.waiting.filter((job) => !chosen(job))
      this.#forget(team_id)
    }
    this.#waiting -= withdrawn.length
    return withdrawn
  }

  get #teamMax(): number {
    return Math.max(1, this.#slots - SLOTS_FOR_OTHERS)
  }

  #mayRun({ running }: TeamJobs<J>): boolean {
    return this.#running < (running === 0 ? this.#slots : this.#teamMax)
  }

  #forget(team_id: string): void {
    const { running, waiting } = this.#teams.get(team_id)!
    if (running === 0 && waiting.length === 0) this.#teams.delete(team_id)
  }

  #turn(now_ms: number): void {
    const passed_ms = now_ms - this.#stretch_ms
    if (passed_ms < AHEAD_MS) return
    this.#ended_before = passed_ms < 2 * AHEAD_MS ? this.#ended : 0
    this.#ended = 0
    this.#stretch_ms = now_ms
  }
}
