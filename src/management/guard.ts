// Who is calling: from the headers of a request to a tenant.
//
// Keys and teams are remembered for a few seconds, so that a request costs no statement to authenticate and a revoked key stops
// working everywhere within that time. Source: management-auth.md 2, A1-A7; E1-E4.
import type { Cells } from '../platform/cells.ts'
import { REMEMBERED_MS, type CellName, type Tenant } from '../platform/db.ts'
import { unauthorized } from '../platform/errors.ts'
import { Remembered } from '../platform/remembered.ts'
import { cellOfKey, findTeamKey } from './keys.ts'
import { loadTenant } from './teams.ts'

const REMEMBERED_MAX = 10_000
const KEY_LENGTH_MAX = 512

type Headers = Record<string, string | string[] | undefined>

const TEAM_KEY_HEADERS = ['x-service-api-key', 'x-vital-api-key']

/** The one value of all spellings of a credential. 401 when two spellings disagree. */
function credential(headers: Headers, names: string[]): string | undefined {
  let found: string | undefined
  for (const name of names) {
    const value = headers[name]
    if (value === undefined || value === '') continue
    if (typeof value !== 'string' || (found !== undefined && found !== value)) throw unauthorized('The API key headers disagree')
    found = value
  }
  return found
}

/** Recognises team keys. One per process; forgetful on purpose. */
export class TeamGuard {
  readonly #cells: Cells
  readonly #limits: Record<string, unknown>
  readonly #byKey = new Remembered<Tenant>({ lifetime_ms: REMEMBERED_MS, size_max: REMEMBERED_MAX })

  /** @param sandboxLimits settings that hold for every sandbox team of this installation, `users_max` */
  constructor(cells: Cells, sandboxLimits: Record<string, unknown>) {
    this.#cells = cells
    this.#limits = sandboxLimits
  }

  /** The tenant a request speaks for. 401: no key, an unknown or revoked one, one of another kind or of a cell not served here. */
  authenticate = (headers: Headers): Tenant | Promise<Tenant> => {
    const key = credential(headers, TEAM_KEY_HEADERS)
    if (key === undefined) throw unauthorized('An API key is required')
    return this.#byKey.get(key) ?? this.#lookUp(key)
  }

  /** The tenant of a team, read now. */
  tenant = async (cell: CellName, team: string): Promise<Tenant | undefined> => {
    const tenant = await loadTenant(this.#cells, cell, team)
    return tenant && this.#limited(tenant)
  }

  /** Forget what is remembered of a team, after its clock or settings changed. */
  forget(team: string): void {
    this.#byKey.forget((tenant) => tenant.team === team)
  }

  async #lookUp(key: string): Promise<Tenant> {
    const named = cellOfKey(key)
    const found =
      key.length > KEY_LENGTH_MAX || (named && !this.#cells.has(named))
        ? undefined
        : await findTeamKey(this.#cells.control.queries, key)
    const tenant = found && this.#cells.has(found.cell) ? await this.tenant(found.cell, found.team_id) : undefined
    if (!tenant) throw unauthorized('The API key is not valid')
    this.#byKey.set(key, tenant)
    return tenant
  }

  #limited(tenant: Tenant): Tenant {
    return tenant.cell.startsWith('sandbox') ? { ...tenant, settings: { ...tenant.settings, ...this.#limits } } : tenant
  }
}
