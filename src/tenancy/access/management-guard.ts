// Authenticates and authorizes management requests: from the headers and the path of a request to the scope in which its operation runs.
// Source: management-auth.md 2, 4, 19; E5-E7; K7.
import type { Cells } from '../../platform/db/cells.ts'
import type { HostBindings } from '../../settings/config.ts'
import { CACHE_TTL_MS, type Db } from '../../platform/db/database.ts'
import type { CellName } from '../../settings/cells.ts'
import type { Tenant } from '../../platform/db/transaction.ts'
import { forbidden, notFound, unauthorized } from '../../platform/http/errors.ts'
import type { Operation } from '../../platform/http/operation.ts'
import { expiringCache, removeWhere } from '../../platform/runtime/expiring-cache.ts'
import { readCredential, type Headers, type Limits, type TeamGuard } from './team-guard.ts'
import { assertHost } from './host-bindings.ts'
import type { KeyUsageTracker } from '../keys/key-use.ts'
import { isKeyText } from '../../platform/crypto/api-keys.ts'
import { findManagementPrincipal } from '../keys/keys.ts'
import { plans, requiredPlan, type OrgPrincipal, type Plan } from '../organizations/plans.ts'
import { findTeam } from '../teams/teams.ts'

const MANAGEMENT_KEY_HEADERS = ['x-management-key', 'x-service-org-key', 'x-vital-org-key']
const CACHE_SIZE_MAX = 10_000
const wrongKey = () => unauthorized('The management key is not valid')

/** Recognizes management keys. One per process. */
export class OrgGuard {
  readonly #cells: Cells
  readonly #teams: TeamGuard
  readonly #limits: Limits
  readonly #use: KeyUsageTracker
  readonly #hosts: HostBindings
  readonly #byKey = expiringCache<OrgPrincipal>({ lifetime_ms: CACHE_TTL_MS, size_max: CACHE_SIZE_MAX })

  constructor(options: { cells: Cells; teams: TeamGuard; limits: Limits; use: KeyUsageTracker; hosts: HostBindings }) {
    this.#cells = options.cells
    this.#teams = options.teams
    this.#limits = options.limits
    this.#use = options.use
    this.#hosts = options.hosts
  }

  /**
   * Authenticates the principal of a request. 401: no key, an unknown or revoked one, one of another kind, or at a host that is bound to a
   * cell. 429: too many requests, or too many invalid keys.
   */
  authenticate = async (headers: Headers, address: string): Promise<OrgPrincipal> => {
    const key = readCredential(headers, MANAGEMENT_KEY_HEADERS)
    if (key === undefined) throw unauthorized('A management key is required')
    if (!isKeyText(key)) throw this.#limits.checks.refusal(address, wrongKey())
    let known = this.#byKey.get(key)
    if (!known) {
      const lookUp = () => findManagementPrincipal(this.#cells.control.queries, key)
      known = await this.#limits.checks.find(address, key, lookUp, wrongKey)
      this.#byKey.set(key, known)
    }
    assertHost(this.#hosts, headers, 'management')
    const quota = this.#limits.requests.managementKeys.consume(known.key_id)
    this.#use.recordUse('management_key', known.key_id, address)
    return quota ? { ...known, quota } : known
  }

  /** Removes the cached data of an organization, after its keys or teams changed. */
  invalidate(org: string): void {
    removeWhere(this.#byKey, (manager) => manager.org === org)
  }

  /**
   * The scope in which the operation runs for this principal. 403: another organization, existing or not; a key without teams; a team that
   * the key is not bound to; an operation that only an organization-wide key may do; a plan that does not include it. 404: a team that the
   * organization does not have, a cell that is not served here.
   */
  authorize = async (
    manager: OrgPrincipal,
    operation: Operation,
    params: Record<string, string>,
  ): Promise<{ db: Db; tenant?: Tenant }> => {
    if (params.org_id !== manager.org || manager.teams?.size === 0 || (operation.keyScope === 'org' && manager.teams))
      throw forbidden('Action forbidden')
    const admitted = await this.#rowsOf(manager, operation, params)
    if (plans.indexOf(manager.plan) < plans.indexOf((operation.entitlement as Plan | undefined) ?? requiredPlan.management))
      throw forbidden('The plan of this organization does not include this operation')
    return admitted
  }

  async #rowsOf(
    manager: OrgPrincipal,
    operation: Operation,
    params: Record<string, string>,
  ): Promise<{ db: Db; tenant?: Tenant }> {
    const region = params.team_id === undefined ? undefined : await this.#regionOf(manager, params.team_id)
    if (operation.scope === 'control') return { db: this.#cells.control }
    if (operation.scope === 'cell') return { db: this.#cell(`${params.env ?? params.environment}-${params.region}`) }
    const cell = `${params.environment}-${region}` as CellName
    const db = this.#cell(cell)
    const tenant = await this.#teams.tenant(cell, params.team_id!)
    if (!tenant) throw notFound('Team not found')
    return { db, tenant }
  }

  async #regionOf(manager: OrgPrincipal, team_id: string): Promise<string> {
    const team = await findTeam(this.#cells.control.queries, team_id)
    if (!team || team.org_id !== manager.org) throw notFound('Team not found')
    if (manager.teams && !manager.teams.has(team_id)) throw forbidden('Action forbidden')
    return team.region
  }

  #cell(name: string): Db {
    if (!this.#cells.has(name as CellName)) throw notFound('This server does not serve this cell')
    return this.#cells.db(name as CellName)
  }
}
