// Who manages, and may they: from the headers and the path of a request to where its operation runs.
// Source: management-auth.md 2, 4, 19; E5-E7; K7.
import type { Cells } from '../platform/cells.ts'
import { REMEMBERED_MS, type CellName, type Db, type Tenant } from '../platform/db.ts'
import { badRequest, forbidden, notFound, unauthorized } from '../platform/errors.ts'
import { planOf, plans, type Manager, type Operation } from '../platform/operation.ts'
import { Remembered } from '../platform/remembered.ts'
import { credential, refusal, type Headers, type Limits, type TeamGuard } from './guard.ts'
import { findManager } from './keys.ts'
import { reachedTeams } from './reach.ts'
import { findTeam } from './teams.ts'

const MANAGEMENT_KEY_HEADERS = ['x-management-key', 'x-service-org-key', 'x-vital-org-key']
const REMEMBERED_MAX = 10_000
const KEY_LENGTH_MAX = 512

/** Recognises management keys. One per process. */
export class OrgGuard {
  readonly #cells: Cells
  readonly #teams: TeamGuard
  readonly #limits: Limits
  readonly #byKey = new Remembered<Manager>({ lifetime_ms: REMEMBERED_MS, size_max: REMEMBERED_MAX })

  constructor(options: { cells: Cells; teams: TeamGuard; limits: Limits }) {
    this.#cells = options.cells
    this.#teams = options.teams
    this.#limits = options.limits
  }

  /**
   * The manager a request speaks for.
   * 401: no key, an unknown or revoked one, or one of another kind. 429: too many requests, or too many wrong keys.
   */
  authenticate = async (headers: Headers, address: string): Promise<Manager> => {
    const key = credential(headers, MANAGEMENT_KEY_HEADERS)
    if (key === undefined) throw unauthorized('A management key is required')
    let known = this.#byKey.get(key)
    if (!known) {
      known = key.length > KEY_LENGTH_MAX ? undefined : await findManager(this.#cells.control.queries, key)
      if (!known) throw refusal(this.#limits, address, unauthorized('The management key is not valid'))
      this.#byKey.set(key, known)
    }
    this.#limits.requests.take(key)
    return known
  }

  /** Forget what is remembered of an organization, after its keys or teams changed. */
  forget(org: string): void {
    this.#byKey.forget((manager) => manager.org === org)
  }

  /**
   * Make sure that the key reaches teams that a request names elsewhere than in its path, all of them.
   * 404: one that the organization does not have. 403: one that the key is not bound to. 400: one of another region.
   */
  reach = async (manager: Manager, region: string, team_ids: readonly string[]): Promise<void> => {
    for (const team of await reachedTeams(this.#cells.control.queries, manager, team_ids))
      if (team.region !== region) throw badRequest(`The team is in region ${team.region}`)
  }

  /**
   * Where the operation runs for this manager.
   * 403: another organization, existing or not; a key without teams; a team that the key is not bound to; an operation that only an
   * org key may do; a plan that does not include it. 404: a team that the organization does not have, a cell that is not served here.
   */
  admit = async (
    manager: Manager,
    operation: Operation,
    params: Record<string, string>,
  ): Promise<{ db: Db; tenant?: Tenant }> => {
    if (params.org_id !== manager.org || manager.teams?.size === 0 || (operation.reach === 'org' && manager.teams))
      throw forbidden('Action forbidden')
    const admitted = await this.#rowsOf(manager, operation, params)
    if (plans.indexOf(manager.plan) < plans.indexOf(operation.plan ?? planOf.management))
      throw forbidden('The plan of this organization does not include this')
    return admitted
  }

  async #rowsOf(manager: Manager, operation: Operation, params: Record<string, string>): Promise<{ db: Db; tenant?: Tenant }> {
    const region = params.team_id === undefined ? undefined : await this.#regionOf(manager, params.team_id)
    if (operation.place === 'control') return { db: this.#cells.control }
    if (operation.place === 'cell') return { db: this.#cell(`${params.env ?? params.environment}-${params.region}`) }
    const cell = `${params.environment}-${region}` as CellName
    const db = this.#cell(cell)
    const tenant = await this.#teams.tenant(cell, params.team_id!)
    if (!tenant) throw notFound('Team not found')
    return { db, tenant }
  }

  async #regionOf(manager: Manager, team_id: string): Promise<string> {
    const team = await findTeam(this.#cells.control.queries, team_id)
    if (!team || team.org_id !== manager.org) throw notFound('Team not found')
    if (manager.teams && !manager.teams.has(team_id)) throw forbidden('Action forbidden')
    return team.region
  }

  #cell(name: string): Db {
    if (!this.#cells.has(name as CellName)) throw notFound('This cell is not served here')
    return this.#cells.of(name as CellName)
  }
}
