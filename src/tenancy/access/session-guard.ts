// Authenticates requests of the console: from the cookie of a member's session to the same principals as keys have. Sessions are cached for
// a few seconds, so that one that has ended stops working everywhere within that time.
import type { Cells } from '../../platform/db/cells.ts'
import { CACHE_TTL_MS } from '../../platform/db/database.ts'
import type { Tenant } from '../../platform/db/transaction.ts'
import { forbidden, notFound, unauthorized, unprocessable } from '../../platform/http/errors.ts'
import type { Call } from '../../platform/http/call.ts'
import type { Caller, MemberSession, Operation } from '../../platform/http/operation.ts'
import type { CredentialChecks, TokenBuckets } from '../../platform/http/rate-limits.ts'
import { isPast } from '../../platform/runtime/clock.ts'
import { expiringCache, removeWhere } from '../../platform/runtime/expiring-cache.ts'
import { missingFault, valueFault, type Fault } from '../../platform/schema/fault.ts'
import { matchesSchema, Uuid } from '../../platform/schema/schema.ts'
import { cellNames, type CellName } from '../../settings/cells.ts'
import type { HostBindings } from '../../settings/config.ts'
import { LAUNCH_HEADER } from '../embedding/launch-cookies.ts'
import { assertInLaunch, findLaunchedSession, launchTokens, type LaunchedSession } from '../embedding/launch-session.ts'
import type { OrgPrincipal } from '../organizations/plans.ts'
import { environmentOf, isPermitted, teamRoleOf, type Environment } from '../roles/roles.ts'
import { CONSOLE_HEADER, isOfConsole, ownOrigin, readSessionCookie } from '../sign-in/browser-requests.ts'
import { findSession, isSessionToken, SESSION_ENDED, touchSession, type ActiveSession } from '../sign-in/sessions.ts'
import { assertHost } from './host-bindings.ts'
import type { Headers, TeamGuard } from './team-guard.ts'

const CACHE_SIZE_MAX = 10_000
const KEY_HEADERS = [
  'x-service-api-key',
  'x-vital-api-key',
  'x-management-key',
  'x-service-org-key',
  'x-vital-org-key',
  'authorization',
]
const ROLE_REFUSAL = 'Your role does not permit this'
const NO_KEY = Buffer.alloc(0)
const endedSession = () => unauthorized(SESSION_ENDED)

export interface SessionGuardOptions {
  cells: Cells
  teams: TeamGuard
  /** Requests of one session. */
  requests: TokenBuckets
  /** Unknown tokens of an address. */
  checks: CredentialChecks
  hosts: HostBindings
  /** How long a session lasts without a request, in seconds. */
  idle_s: number
  publicUrl: () => string
  /** The system clock. */
  clock: () => Date
}

/** A session with the plan of its organization. */
type PlannedSession = ActiveSession | LaunchedSession

/** Recognizes sessions of the console. One per process. */
export class SessionGuard {
  readonly #options: SessionGuardOptions
  readonly #byToken = expiringCache<ActiveSession>({ lifetime_ms: CACHE_TTL_MS, size_max: CACHE_SIZE_MAX })

  constructor(options: SessionGuardOptions) {
    this.#options = options
  }

  /** 403: the request is not sent by a page of this server. */
  assertOwnPage = (headers: Headers): void => void ownOrigin(headers, this.#options.publicUrl())

  /**
   * The session of a request; undefined if it does not come from the console. 401: a request with a key besides, of no session, or of one
   * that has ended. 403: a change that comes from no page of this server. 429: too many requests.
   */
  authenticate = async (call: Call): Promise<PlannedSession | undefined> => {
    const { headers, method, address } = call
    const launch_id = headers[LAUNCH_HEADER]
    const token = launch_id === undefined ? readSessionCookie(headers) : ''
    if (token === undefined) return undefined
    const hasKey = KEY_HEADERS.some((name) => headers[name] !== undefined && headers[name] !== '')
    if (!isOfConsole(headers)) {
      // A key in the page of the API says who asks, whatever cookies the browser adds.
      if (!hasKey && method !== 'GET') this.assertOwnPage(headers)
      return undefined
    }
    if (hasKey) throw unauthorized('A request has a key or a session, not both')
    if (method !== 'GET') this.assertOwnPage(headers)
    if (launch_id !== undefined) return this.#findLaunched(String(launch_id), call)
    if (!isSessionToken(token)) throw this.#options.checks.refusal(address, endedSession())
    const session = await this.#find(token, address)
    const { cells, requests, idle_s } = this.#options
    if (headers[CONSOLE_HEADER] !== 'background')
      await touchSession(cells.control.asyncCommit, session, this.#options.clock(), idle_s)
    const quota = requests.consume(session.key_id)
    return quota ? { ...session, quota } : session
  }

  /** A launched page names its session, so that no cookie of another session of the browser is taken for it. It is not cached. */
  async #findLaunched(launch_id: string, { headers, address }: Call): Promise<LaunchedSession> {
    const { cells, checks, requests, clock } = this.#options
    const tokens = launchTokens(headers)
    if (!tokens.length) throw checks.refusal(address, endedSession())
    const session = await checks.find(
      address,
      tokens.join(),
      () => findLaunchedSession(cells.control.queries, tokens, launch_id, clock()),
      endedSession,
    )
    const quota = requests.consume(session.key_id)
    return quota ? { ...session, quota } : session
  }

  async #find(token: string, address: string): Promise<ActiveSession> {
    const { cells, checks } = this.#options
    const known = this.#byToken.get(token)
    if (known && !isPast(known.idle_expires_at)) return known
    const session = await checks.find(
      address,
      token,
      () => findSession(cells.control.queries, token, this.#options.clock()),
      endedSession,
    )
    this.#byToken.set(token, session)
    return session
  }

  /** Removes the cached sessions of a member, after one of them ended or the member's roles changed. */
  invalidateMember(member_id: string): void {
    removeWhere(this.#byToken, (session) => session.member_id === member_id)
  }

  /**
   * The caller of an operation of teams: the headers name team and cell. 404: the member has no such team, or it is not in that cell. 422:
   * they are absent or malformed.
   */
  findCaller = async (session: MemberSession, headers: Headers): Promise<Caller> => {
    const faults: Fault[] = []
    const team = readHeader(headers, 'X-Drawbridge-Team', isTeamId, 'be the id of a team', faults)
    const cell = readHeader(headers, 'X-Drawbridge-Cell', isCell, `be one of ${cellNames.join(', ')}`, faults) as CellName
    if (faults.length) throw unprocessable(faults)
    const isBound = session.teams === null || session.teams.has(team)
    const tenant = isBound ? await this.#options.teams.findTenant(cell, team) : undefined
    if (tenant?.org !== session.org) throw notFound('Team not found')
    assertHost(this.#options.hosts, headers, cell)
    const { key_id, member_id, quota } = session
    return { tenant, key_id, member_id, quota }
  }

  /** 403: the launch URL of the session does not permit the request. */
  assertInLaunch = ({ launch }: MemberSession, call: Call): void => {
    if (launch) assertInLaunch(launch, call)
  }

  /** 403: the member's role in the team does not permit the operation. */
  assertPermitted = (session: MemberSession, operation: Operation, { team, cell }: Tenant): void => {
    if (session.teams === null) return
    const environment = cell.split('-')[0] as Environment
    if (!isPermitted(operation, teamRoleOf(session.teams.get(team)), environment)) throw forbidden(ROLE_REFUSAL)
  }

  /**
   * The principal of a management operation. It is bound to the teams in which the member's role permits the operation. 403: the role permits
   * it in the team of the path, or in any team, not.
   */
  limitToRole = (session: MemberSession, operation: Operation, params: Record<string, string>): OrgPrincipal => {
    const { key_id, member_id, session_id, launch, org, expires_at, quota } = session
    const teams = session.teams && this.#permittedTeams(session.teams, operation, params)
    return {
      key_id,
      member_id,
      ...(!launch && { session_id }),
      key_hash: NO_KEY,
      org,
      teams,
      plan: (session as PlannedSession).plan,
      expires_at,
      quota,
    }
  }

  #permittedTeams(roles: ReadonlyMap<string, string>, operation: Operation, params: Record<string, string>): Set<string> {
    const permitted = [...roles].filter(([, role]) => isPermitted(operation, teamRoleOf(role), environmentOf(params)))
    const teams = new Set(permitted.map(([team]) => team))
    const isRefused = params.team_id !== undefined && roles.has(params.team_id) && !teams.has(params.team_id)
    if (teams.size === 0 || isRefused) throw forbidden(ROLE_REFUSAL)
    return teams
  }
}

const isTeamId = (value: unknown): boolean => matchesSchema(Uuid, value)
const isCell = (value: unknown): boolean => cellNames.some((name) => name === value)

function readHeader(headers: Headers, name: string, isValid: (value: unknown) => boolean, says: string, faults: Fault[]): string {
  const value = headers[name.toLowerCase()]
  if (value === undefined) faults.push(missingFault(['header', name]))
  else if (!isValid(value)) faults.push(valueFault(['header', name], `must ${says}`))
  return String(value).toLowerCase()
}
