// The faults of all teams as a process sees them. For requests it looks once a second at most, and only while a sandbox is used, which teams
// have some: requests of other teams cost nothing.
import type { CellName } from '../../settings/cells.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { FaultSource, RequestFault } from './request-faults.ts'
import type { Tenant } from '../../platform/db/transaction.ts'
import { takeDeliveryFault, takeRequestFault, teamsWithFaults } from './faults.ts'

/** For so long a process may not know of faults that another one has set. */
const KNOWN_MS = 1000

interface Known {
  teams: ReadonlySet<string>
  until_ms: number
  pendingTeams: Promise<ReadonlySet<string>> | undefined
}

export class SandboxFaults implements FaultSource {
  readonly #cells: Cells
  readonly #known = new Map<CellName, Known>()

  constructor(cells: Cells) {
    this.#cells = cells
  }

  takeRequest(tenant: Tenant, operation: string): RequestFault | undefined | Promise<RequestFault | undefined> {
    const known = this.#known.get(tenant.cell)
    if (known && known.until_ms > performance.now())
      return known.teams.has(tenant.team) ? this.#take(tenant, operation) : undefined
    return this.#look(tenant.cell).then((teams) => (teams.has(tenant.team) ? this.#take(tenant, operation) : undefined))
  }

  /** The teams of a cell that have faults, as a worker asks for each batch of events: they may be set by another process. */
  teams = teamsWithFaults

  /** The teams of a cell that have faults. A database that cannot be asked is no reason for another fault. */
  #look(cell: CellName): Promise<ReadonlySet<string>> {
    const known = this.#known.get(cell) ?? { teams: new Set<string>(), until_ms: -Infinity, pendingTeams: undefined }
    this.#known.set(cell, known)
    if (known.until_ms > performance.now()) return Promise.resolve(known.teams)
    known.pendingTeams ??= teamsWithFaults(this.#cells.db(cell).queries)
      .catch(() => new Set<string>())
      .then((teams) => {
        Object.assign(known, { teams, until_ms: performance.now() + KNOWN_MS, pendingTeams: undefined })
        return teams
      })
    return known.pendingTeams
  }

  take = takeDeliveryFault

  /** The faults of a team have been set: this process looks again. */
  invalidate(cell: CellName): void {
    this.#known.delete(cell)
  }

  #take({ cell, team }: Tenant, operation: string): Promise<RequestFault | undefined> {
    return takeRequestFault(this.#cells.db(cell).queries, team, operation)
  }
}
