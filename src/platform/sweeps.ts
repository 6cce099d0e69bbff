// Sweeps: work that the worker repeats every ten minutes in each cell, one sweep after another.
import type { Cells } from './cells.ts'
import type { Db, PlainTx } from './db.ts'
import { errorFields, type Log } from './log.ts'

const SWEEP_MS = 600_000

/** Work done now and then in each cell, independent of any team. */
export type Sweep = {
  name: string
  /** In the control plane as well, or there alone. */
  control?: boolean | 'alone'
} & (
  | { run: (tx: PlainTx) => Promise<unknown> }
  /** In transactions of its own, of the cell and the control plane; asks between them whether the worker is stopping. */
  | { within: (db: Db, control: Db, stopped: () => boolean) => Promise<unknown> }
)

export interface SweeperOptions {
  cells: Cells
  sweeps: Sweep[]
  log: Log
}

/** Runs the sweeps of a process. */
export class Sweeper {
  readonly #options: SweeperOptions
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #stopped = false

  constructor(options: SweeperOptions) {
    this.#options = options
  }

  /** Runs every sweep now, and again every ten minutes; a run that takes longer is not joined by a second one. */
  start(): void {
    const sweep = () => (this.#running ??= this.#run().finally(() => (this.#running = undefined)))
    this.#timer = setInterval(sweep, SWEEP_MS)
    this.#timer.unref()
    void sweep()
  }

  /** Begins no further sweep and waits for the one that is running. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    await this.#running
  }

  async #run(): Promise<void> {
    const { cells, sweeps, log } = this.#options
    for (const name of ['control', ...cells.names] as const)
      for (const sweep of sweeps) {
        if (this.#stopped) return
        if (name === 'control' ? !sweep.control : sweep.control === 'alone') continue
        const db = name === 'control' ? cells.control : cells.of(name)
        try {
          await ('run' in sweep ? db.plainTx(sweep.run) : sweep.within(db, cells.control, () => this.#stopped))
        } catch (error) {
          log.error({ cell: name, sweep: sweep.name, causes: errorFields(error) }, 'sweep failed')
        }
      }
  }
}
