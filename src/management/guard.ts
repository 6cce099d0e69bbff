// Who is calling: from the headers of a request to a tenant.
//
// Keys and teams are remembered for a few seconds, so that a request costs no statement to authenticate and a revoked key stops
// working everywhere within that time. Source: management-auth.md 2, A1-A7; E1-E4; 10; 22.
import type { Cells } from '../platform/cells.ts'
import type { BoundHosts } from '../platform/config.ts'
import { REMEMBERED_MS, type CellName, type Tenant } from '../platform/db.ts'
import { unauthorized, type Problem } from '../platform/errors.ts'
import type { Buckets, Quota } from '../platform/limits.ts'
import { Remembered } from '../platform/remembered.ts'
import type { Tokens } from '../platform/tokens.ts'
import { assertHost } from './hosts.ts'
import type { KeyUse } from './key-use.ts'
import { cellOfKey, findTeamKey, type KeyOwner } from './keys.ts'
import { findTeam, loadTenant } from './teams.ts'

const REMEMBERED_MAX = 10_000
const KEY_LENGTH_MAX = 512
const BEARER = /^bearer +/i
const BEARER_WANTED = { 'www-authenticate': 'Bearer' }

export type Headers = Record<string, string | string[] | undefined>

const TEAM_KEY_HEADERS = ['x-service-api-key', 'x-vital-api-key']

/** The one value of all spellings of a credential. 401 when two spellings disagree. */
export function credential(headers: Headers, names: string[]): string | undefined {
  let found: string | undefined
  for (const name of names) {
    const value = headers[name]
    if (value === undefined || value === '') continue
    if (typeof value !== 'string' || (found !== undefined && found !== value)) throw unauthorized('The API key headers disagree')
    found = value
  }
  return found
}

/** What bounds callers. One per process, for keys of every kind. */
export interface Limits {
  requests: Buckets
  wrongKeys: Quota
}

/** The answer to a credential that is not valid: 401, or 429 when there were too many from that address. */
export const refusal = (limits: Limits, address: string, problem: Problem): Problem =>
  limits.wrongKeys.count(address, 'Too many wrong keys from this address') ?? problem

/** Whom a credential speaks for. */
interface Known {
  tenant: Tenant
  /** undefined: an access token. */
  key_id: string | undefined
}

/** Recognises team keys and access tokens. One per process; forgetful on purpose. */
export class TeamGuard {
  readonly #cells: Cells
  readonly #settings: Record<string, unknown>
  readonly #limits: Limits
  readonly #tokens: Tokens
  readonly #use: KeyUse
  readonly #hosts: BoundHosts
  readonly #byKey = new Remembered<Known>({ lifetime_ms: REMEMBERED_MS, size_max: REMEMBERED_MAX })

  constructor(options: {
    cells: Cells
    /** Settings that hold for every sandbox team of this installation, `users_max`. */
    sandboxSettings: Record<string, unknown>
    limits: Limits
    tokens: Tokens
    use: KeyUse
    hosts: BoundHosts
  }) {
    this.#cells = options.cells
    this.#settings = options.sandboxSettings
    this.#limits = options.limits
    this.#tokens = options.tokens
    this.#use = options.use
    this.#hosts = options.hosts
  }

  /**
   * The tenant a request speaks for: by its key, else by its access token.
   * 401: neither, an unknown or revoked one, one of another kind, of a cell not served here or another than the host's. 429: too many requests of the key or
   * token's team, or too many wrong ones from the address.
   */
  authenticate = (headers: Headers, address: string): Tenant | Promise<Tenant> => {
    const key = credential(headers, TEAM_KEY_HEADERS)
    if (key === undefined) return this.#byToken(headers, address)
    const known = this.#byKey.get(key)
    if (known === undefined) return this.#lookUp(key, headers, address)
    return this.#served(key, known, headers, address)
  }

  #served(key: string, { tenant, key_id }: Known, headers: Headers, address: string): Tenant {
    assertHost(this.#hosts, headers, tenant.cell, key_id === undefined ? BEARER_WANTED : {})
    this.#limits.requests.take(key)
    if (key_id !== undefined) this.#use.note('api_key', key_id, address)
    return tenant
  }

  /** The tenant of a team, read now. */
  tenant = async (cell: CellName, team: string): Promise<Tenant | undefined> => {
    const tenant = await loadTenant(this.#cells, cell, team)
    return tenant?.cell.startsWith('sandbox') ? { ...tenant, settings: { ...tenant.settings, ...this.#settings } } : tenant
  }

  /** Forget what is remembered of a team, after its clock, settings or keys changed. */
  forget(team: string): void {
    this.#byKey.forget(({ tenant }) => tenant.team === team)
  }

  async #lookUp(key: string, headers: Headers, address: string): Promise<Tenant> {
    const named = cellOfKey(key)
    const owner =
      key.length > KEY_LENGTH_MAX || (named && !this.#cells.has(named))
        ? undefined
        : await findTeamKey(this.#cells.control.queries, key)
    const tenant = await this.#tenantOf(owner)
    if (!tenant) throw refusal(this.#limits, address, unauthorized('The API key is not valid'))
    const known = { tenant, key_id: owner?.key_id }
    this.#byKey.set(key, known)
    return this.#served(key, known, headers, address)
  }

  async #byToken(headers: Headers, address: string): Promise<Tenant> {
    const header = headers.authorization
    if (typeof header !== 'string' || !BEARER.test(header)) throw unauthorized('An API key is required')
    const words = this.#tokens.read(header.replace(BEARER, ''))
    if (words) {
      const [cell, team] = words as [CellName, string]
      const known = `token of ${cell} ${team}`
      let tenant = this.#byKey.get(known)?.tenant
      if (!tenant) {
        tenant = await this.#tenantOf(await this.#teamIn(cell, team))
        if (tenant) this.#byKey.set(known, { tenant, key_id: undefined })
      }
      if (tenant) return this.#served(known, { tenant, key_id: undefined }, headers, address)
    }
    const problem = unauthorized('The access token is not valid or has expired', BEARER_WANTED)
    throw refusal(this.#limits, address, problem)
  }

  async #teamIn(cell: CellName, team_id: string): Promise<KeyOwner | undefined> {
    const team = this.#cells.has(cell) ? await findTeam(this.#cells.control.queries, team_id) : undefined
    return team && { team_id, cell, expires_at: team.expires_at }
  }

  async #tenantOf(owner: KeyOwner | undefined): Promise<Tenant | undefined> {
    if (!owner || !this.#cells.has(owner.cell)) return undefined
    const tenant = await this.tenant(owner.cell, owner.team_id)
    return tenant && { ...tenant, expires_at: owner.expires_at }
  }
}
