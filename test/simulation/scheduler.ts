// A scheduler for simulations: actors take steps one at a time, in an order that a seeded random generator picks, so that a failure can be
// repeated from its seed. The actors run production code on a real database; the scheduler decides who goes on, never what happens.
//
// An actor is an async function that calls `pause` where another actor may go on. One step resumes an actor and ends when the actor pauses
// again or returns. A step must therefore not wait for another actor: an actor that waits for a lock held by a paused one never pauses.

/** A seeded random generator (mulberry32): the same seed gives the same numbers on every machine. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A number from 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }

  /** A whole number from `min` to `max`, both included. */
  whole(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  /** True in so many of 1 cases: 0.1 is one of ten. */
  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** One of the items, which must not be empty. */
  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new Error('cannot pick from an empty list')
    return items[this.whole(0, items.length - 1)]!
  }

  /** One of the items by weight: [3, 'a'], [1, 'b'] gives 'a' three times as often as 'b'. */
  pickWeighted<T>(items: readonly (readonly [weight: number, item: T])[]): T {
    let left = this.next() * items.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, item] of items) if ((left -= weight) < 0) return item
    return items.at(-1)![1]
  }

  /** A UUID version 7 in form, made of random numbers alone. */
  uuid(): string {
    const hex = Array.from({ length: 32 }, () => this.whole(0, 15).toString(16))
    hex[12] = '7'
    hex[16] = '8'
    return hex.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  }
}

/** Where an actor lets others go on. The label is what it is about to do; it stands in the trace. */
export type Pause = (label: string) => Promise<void>

interface Actor {
  name: string
  /** What it is about to do; undefined while it takes a step. */
  label: string | undefined
  resume: () => void
  /** Called when it has paused or returned. */
  onPause: () => void
  /** Suspended: it stays where it is and is not picked. */
  suspended: boolean
  done: boolean
  error: unknown
}

/** Maximum duration of a step. A longer step waits for something that only another actor can do. */
const STEP_MS_MAX = 30_000
const STEPS_MAX = 10_000

export class Scheduler {
  readonly random: Random
  readonly trace: string[] = []
  readonly #actors: Actor[] = []

  constructor(seed: number) {
    this.random = new Random(seed)
  }

  /** Adds an actor. It is picked from the next step on; its first label is `start`. Names of living actors must differ. */
  add(name: string, run: (pause: Pause) => Promise<void>): void {
    if (this.#actors.some((actor) => actor.name === name && !actor.done)) throw new Error(`there is already an actor ${name}`)
    const actor: Actor = {
      name,
      label: 'start',
      resume: () => {},
      onPause: () => {},
      suspended: false,
      done: false,
      error: undefined,
    }
    const pause: Pause = (label) =>
      new Promise((resolve) => {
        // An abandoned actor that goes on by itself, for example after an error of its connection, stays here for ever.
        if (actor.done) return
        actor.label = label
        actor.resume = resolve
        actor.onPause()
      })
    actor.resume = () =>
      void run(pause)
        .catch((error: unknown) => (actor.error ??= error))
        .finally(() => {
          actor.done = true
          actor.onPause()
        })
    this.#actors.push(actor)
  }

  /** Names of the actors that can take a step now. */
  get runnable(): string[] {
    return this.#actors.filter(isRunnable).map(({ name }) => name)
  }

  /** Whether an actor has been added, has not returned and was not abandoned. */
  isAlive(name: string): boolean {
    return this.#actors.some((actor) => actor.name === name && !actor.done)
  }

  /** The actors of a group, `worker-1` for example, are never picked again and keep what they hold: their process was killed. */
  abandon(belongs: (name: string) => boolean): void {
    for (const actor of this.#actors) if (belongs(actor.name) && !actor.done) actor.done = true
  }

  /** An actor hangs: it stays where it is until `release`. */
  suspend(name: string): void {
    for (const actor of this.#actors) if (actor.name === name) actor.suspended = true
  }

  release(name: string): void {
    for (const actor of this.#actors) if (actor.name === name) actor.suspended = false
  }

  /** Writes a line to the trace. */
  note(line: string): void {
    this.trace.push(line)
  }

  /** Lets one actor take one step. @returns false when none can. Throws what the actor threw. */
  async step(): Promise<boolean> {
    const candidates = this.#actors.filter(isRunnable)
    if (candidates.length === 0) return false
    const actor = this.random.pick(candidates)
    this.note(`${actor.name}: ${actor.label}`)
    await this.#resume(actor)
    if (actor.error !== undefined) throw actor.error
    return true
  }

  /** Steps until no actor can take one, at most `max` steps. @returns how many steps */
  async run(max = STEPS_MAX): Promise<number> {
    for (let steps = 0; ; steps++) {
      if (!(await this.step())) return steps
      if (steps === max) throw new Error(`the simulation did not end within ${max} steps`)
    }
  }

  async #resume(actor: Actor): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const late = () => reject(new Error(`${actor.name} neither paused nor returned within ${STEP_MS_MAX} ms`))
      const timer = setTimeout(late, STEP_MS_MAX).unref()
      actor.onPause = () => {
        clearTimeout(timer)
        resolve()
      }
      actor.label = undefined
      actor.resume()
    })
  }
}

const isRunnable = (actor: Actor): boolean => !actor.done && !actor.suspended && actor.label !== undefined

/** The first of `count` seeds that no other day has. */
export const firstSeedToday = (count: number): number => 1 + Math.floor(Date.now() / 86_400_000) * count

/** The seeds of a run: `count` from `first` on, or the one that SIMULATION_SEED names. */
export function listSeeds(count: number, first = 1, env: Record<string, string | undefined> = process.env): number[] {
  const only = env.SIMULATION_SEED
  if (only === undefined) return Array.from({ length: count }, (_, i) => first + i)
  if (!/^\d{1,10}$/.test(only)) throw new Error('SIMULATION_SEED must be a whole number')
  return [Number(only)]
}

/** A seed failed. The message has the seed, what went wrong, and the trace. */
export class SimulationError extends Error {}

/**
 * Simulates one seed. An error is thrown again as a SimulationError that names the seed and the last steps; with SIMULATION_SEED the trace
 * is printed whole.
 */
export async function simulate(seed: number, run: (scheduler: Scheduler) => Promise<void>): Promise<Scheduler> {
  const scheduler = new Scheduler(seed)
  try {
    await run(scheduler)
    return scheduler
  } catch (error) {
    const { trace } = scheduler
    const shown = process.env.SIMULATION_SEED === undefined ? trace.slice(-TRACE_LINES) : trace
    const left = trace.length - shown.length
    const lines = [...(left ? [`… ${left} steps before`] : []), ...shown].map((line) => `  ${line}`).join('\n')
    const what = error instanceof Error ? error.message : String(error)
    throw new SimulationError(`seed ${seed} failed (SIMULATION_SEED=${seed} repeats it): ${what}\n${lines}`, { cause: error })
  }
}

const TRACE_LINES = 80
