// Faults of deliveries that a sandbox team asks for, so that its developers can test a receiver: late, doubled, in another order.
import type { Queries } from '../../platform/db/transaction.ts'

/** A delivery is held back before it is queued, or sent several times. */
export type DeliveryFault = { delay_s: number } | { copies: number }

/** Where the faults of teams come from. */
export interface DeliveryFaults {
  /** The teams of a cell that have asked for faults, as they are now. */
  teams(db: Queries): Promise<ReadonlySet<string>>
  /** The next fault for an event of this type, which is used up by it; `late`: one that holds back, `doubled`: one that repeats. */
  take(db: Queries, team_id: string, type: string, kind: 'late' | 'doubled'): Promise<DeliveryFault | undefined>
}

/** Other teams wait for the batch. */
const TAKEN_MAX = 100

/** The faults of one batch of deliveries to endpoints, at most 100. Asks once for each team and type that has none left. */
export class BatchFaults {
  readonly #faults: DeliveryFaults | undefined
  readonly #db: Queries
  #teams: ReadonlySet<string> | undefined
  readonly #exhausted = new Set<string>()
  #taken = 0

  /** @param faults undefined: there are none in this cell */
  constructor(faults: DeliveryFaults | undefined, db: Queries) {
    this.#faults = faults
    this.#db = db
  }

  /** For how many seconds a delivery is held back; undefined: not at all. */
  async delay_s(team_id: string, type: string): Promise<number | undefined> {
    const fault = await this.#take(team_id, type, 'late')
    return fault && 'delay_s' in fault ? fault.delay_s : undefined
  }

  /** How often a delivery is sent. */
  async copies(team_id: string, type: string): Promise<number> {
    const fault = await this.#take(team_id, type, 'doubled')
    return fault && 'copies' in fault ? fault.copies : 1
  }

  async #take(team_id: string, type: string, kind: 'late' | 'doubled'): Promise<DeliveryFault | undefined> {
    if (!this.#faults) return undefined
    this.#teams ??= await this.#faults.teams(this.#db)
    const key = `${team_id} ${type} ${kind}`
    if (!this.#teams.has(team_id) || this.#exhausted.has(key) || this.#taken === TAKEN_MAX) return undefined
    this.#taken++
    const fault = await this.#faults.take(this.#db, team_id, type, kind)
    if (!fault) this.#exhausted.add(key)
    return fault
  }
}
