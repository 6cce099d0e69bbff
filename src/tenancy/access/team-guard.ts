// Authenticates team requests: from the headers of a request to a tenant. Keys and teams are cached for a few seconds, so that
// authentication needs no statement and a revoked key stops working everywhere within that time. Each kind of credential has its own cache,
// so that a text of one kind cannot find an entry of another kind. Source: management-auth.md 2, A1-A7; E1-E4; 10; 22.
import type { Cells } from '../../platform/db/cells.ts'
import type { HostBindings } from '../../settings/config.ts'
import { CACHE_TTL_MS } from '../../platform/db/database.ts'
import { type CellName, cellFromKey } from '../../settings/cells.ts'
import type { Tenant } from '../../platform/db/transaction.ts'
import { unauthorized } from '../../platform/http/errors.ts'
import type { CredentialChecks, TokenBuckets } from '../../platform/http/rate-limits.ts'
import type { Caller, UserCredential } from '../../platform/http/operation.ts'
import { expiringCache, removeWhere } from '../../platform/runtime/expiring-cache.ts'
import type { SignedTokens } from '../../platform/crypto/signed-tokens.ts'
import { assertHost } from './host-bindings.ts'
import type { KeyUsageTracker } from '../keys/key-use.ts'
import { isKeyText } from '../../platform/crypto/api-keys.ts'
import { findTeamKey, isMember } from '../keys/keys.ts'
import { findTeam, loadTenant } from '../teams/teams.ts'

const CACHE_SIZE_MAX = 10_000
const BEARER = /^bearer +/i
const BEARER_CHALLENGE = { 'www-authenticate': 'Bearer' }
const wrongKey = () => unauthorized('The API key is not valid')

export type Headers = Record<string, string | string[] | undefined>

const TEAM_KEY_HEADERS = ['x-service-api-key', 'x-vital-api-key']

/** The single value of all spellings of a credential. 401 if two spellings disagree. */
export function readCredential(headers: Headers, names: string[]): string | undefined {
  let found: string | undefined
  for (const name of names) {
    const value = headers[name]
    if (value === undefined || value === '') continue
    if (typeof value !== 'string' || (found !== undefined && found !== value))
      throw unauthorized('The API key headers have different values')
    found = value
  }
  return found
}

/** The limits for callers. One per process. */
export interface Limits {
  /** Request limits: of a team key by its id, of all access tokens of a team in a cell together, of a management key by its id, of a user's session. */
  requests: { teamKeys: TokenBuckets; accessTokens: TokenBuckets; managementKeys: TokenBuckets; userTokens: TokenBuckets }
  checks: CredentialChecks
}

/** The prefix of an access token's name, instead of a key's id. The name is not a secret: the signature authenticates. */
const TOKEN = 'token:'
const USER_TOKEN = 'user_token:'
/** What access tokens of users begin with. */
export const USER_TOKEN_PREFIX = 'ut_'
const wrongToken = () => unauthorized('The access token is not valid or has expired', BEARER_CHALLENGE)

/** Whether the session of a user's access token is active: it has not ended, and the user is not deleted. */
export type IsSessionActive = (tenant: Tenant, user: UserCredential) => Promise<boolean>

/** What an access token names: the cell, the team, and the member of the organization for whom its management key was created. */
type TokenWords = [cell: CellName, team: string, member?: string]

interface TenantOfToken {
  tenant: Tenant
  member_id: string | undefined
}

interface ActiveSession extends UserCredential {
  team: string
}

/** Recognizes team keys and access tokens. One per process; its caches expire quickly on purpose. */
export class TeamGuard {
  readonly #cells: Cells
  readonly #installation: (cell: CellName) => Record<string, unknown>
  readonly #limits: Limits
  readonly #tokens: SignedTokens
  readonly #userTokens: SignedTokens
  readonly #isSessionActive: IsSessionActive
  readonly #use: KeyUsageTracker
  readonly #hosts: HostBindings
  /** Cached by the text of a key, and of no other credential: access tokens have a cache of their own. */
  readonly #byKey = expiringCache<Caller>({ lifetime_ms: CACHE_TTL_MS, size_max: CACHE_SIZE_MAX })
  /** Cached by the cell, the team and the member in a token whose signature is valid. */
  readonly #byToken = expiringCache<TenantOfToken>({ lifetime_ms: CACHE_TTL_MS, size_max: CACHE_SIZE_MAX })
  /** Cached by cell, team, user and session in a user's access token whose signature is valid. */
  readonly #bySession = expiringCache<ActiveSession>({ lifetime_ms: CACHE_TTL_MS, size_max: CACHE_SIZE_MAX })

  constructor(options: {
    cells: Cells
    /** What the settings of the server say about every team of a cell; it stands among the settings of each tenant. */
    installation: (cell: CellName) => Record<string, unknown>
    limits: Limits
    tokens: SignedTokens
    userTokens: SignedTokens
    isSessionActive: IsSessionActive
    use: KeyUsageTracker
    hosts: HostBindings
  }) {
    this.#cells = options.cells
    this.#installation = options.installation
    this.#limits = options.limits
    this.#tokens = options.tokens
    this.#userTokens = options.userTokens
    this.#isSessionActive = options.isSessionActive
    this.#use = options.use
    this.#hosts = options.hosts
  }

  /**
   * The tenant of a request, by its key, else by its access token, and the id of that key or token. 401: neither, an unknown or revoked
   * one, one of another kind, of a cell that is not served here or that differs from the host's. 429: too many requests of the key or the
   * token's team, or too many invalid ones from the address.
   */
  authenticate = (headers: Headers, address: string): Caller | Promise<Caller> => {
    const key = readCredential(headers, TEAM_KEY_HEADERS)
    if (key === undefined) return this.#authenticateToken(headers, address)
    if (!isKeyText(key)) throw this.#limits.checks.refusal(address, wrongKey())
    const known = this.#byKey.get(key)
    if (known === undefined) return this.#lookup(key, headers, address)
    return this.#admitKey(known, headers, address)
  }

  #admitKey(caller: Caller, headers: Headers, address: string): Caller {
    assertHost(this.#hosts, headers, caller.tenant.cell)
    const quota = this.#limits.requests.teamKeys.consume(caller.key_id)
    this.#use.recordUse('api_key', caller.key_id, address)
    return quota ? { ...caller, quota } : caller
  }

  /**
   * The tenant that a token names whose signature another guard has checked; undefined if it is not there. 401: the host is another cell's.
   * 429: too many requests of the session.
   */
  admitSession = async (cell: CellName, team: string, session: string, headers: Headers): Promise<Tenant | undefined> => {
    const tenant = await this.#tenantOfToken([cell, team])
    if (!tenant) return undefined
    assertHost(this.#hosts, headers, cell)
    this.#limits.requests.userTokens.consume(session)
    return tenant
  }

  /** The tenant of a team; undefined if it is not there, or its cell is not served here. Cached. */
  findTenant = (cell: CellName, team: string): Promise<Tenant | undefined> => this.#tenantOfToken([cell, team])

  /** The tenant of a team, read now. */
  tenant = async (cell: CellName, team: string): Promise<Tenant | undefined> => {
    const tenant = await loadTenant(this.#cells, cell, team)
    return tenant && { ...tenant, settings: { ...tenant.settings, ...this.#installation(cell) } }
  }

  /** Removes the cached data of a team, after its clock, settings or keys changed. */
  invalidate(team: string): void {
    removeWhere(this.#byKey, ({ tenant }) => tenant.team === team)
    removeWhere(this.#byToken, ({ tenant }) => tenant.team === team)
    removeWhere(this.#bySession, (session) => session.team === team)
  }

  /** Removes the cached keys and tokens of a member of an organization, who was removed. */
  invalidateMember(member: string): void {
    removeWhere(this.#byKey, ({ member_id }) => member_id === member)
    removeWhere(this.#byToken, ({ member_id }) => member_id === member)
  }

  /** Removes the cached sessions of a user, after one of them ended. */
  invalidateSessions(team: string, user_id: string): void {
    removeWhere(this.#bySession, (session) => session.team === team && session.user_id === user_id)
  }

  async #lookup(key: string, headers: Headers, address: string): Promise<Caller> {
    const named = cellFromKey(key)
    if (named && !this.#cells.has(named)) throw this.#limits.checks.refusal(address, wrongKey())
    const known = await this.#limits.checks.find(address, key, () => this.#find(key), wrongKey)
    this.#byKey.set(key, known)
    return this.#admitKey(known, headers, address)
  }

  async #find(key: string): Promise<Caller | undefined> {
    const owner = await findTeamKey(this.#cells.control.queries, key)
    const tenant = owner && (await this.#loadTenant(owner.cell, owner.team_id, owner.expires_at))
    return tenant && { tenant, key_id: owner.key_id, ...(owner.member_id !== null && { member_id: owner.member_id }) }
  }

  async #authenticateToken(headers: Headers, address: string): Promise<Caller> {
    const header = headers.authorization
    if (typeof header !== 'string' || !BEARER.test(header)) throw unauthorized('An API key is required')
    const text = header.replace(BEARER, '')
    if (text.startsWith(USER_TOKEN_PREFIX)) return this.#authenticateUserToken(text, headers, address)
    const token = this.#tokens.verify(text)
    const tenant = token && (await this.#tenantOfToken(token.words as TokenWords))
    if (!tenant) throw this.#limits.checks.refusal(address, wrongToken())
    assertHost(this.#hosts, headers, tenant.cell, BEARER_CHALLENGE)
    const quota = this.#limits.requests.accessTokens.consume(`${tenant.cell} ${tenant.team}`)
    const [, , member_id] = token.words
    return { tenant, key_id: TOKEN + token.id, quota, ...(member_id !== undefined && { member_id }) }
  }

  async #authenticateUserToken(text: string, headers: Headers, address: string): Promise<Caller> {
    const token = this.#userTokens.read(text)
    if (!token) throw this.#limits.checks.refusal(address, wrongToken())
    // It was signed here, so it is not a guess: many phones send from one address, and some send an expired token before they refresh it.
    if (token.has_expired) throw wrongToken()
    const [cell, team, user_id, session_id] = token.words as [CellName, string, string, string]
    const session = token.words.join(' ')
    const user = { user_id, session_id }
    let tenant: Tenant | undefined
    if (this.#bySession.get(session)) tenant = await this.#tenantOfToken([cell, team])
    if (!tenant) {
      const lookUp = async () => {
        const found = await this.#tenantOfToken([cell, team])
        return found && (await this.#isSessionActive(found, user)) ? found : undefined
      }
      tenant = await this.#limits.checks.find(address, text, lookUp, wrongToken)
      this.#bySession.set(session, { ...user, team })
    }
    assertHost(this.#hosts, headers, cell, BEARER_CHALLENGE)
    const quota = this.#limits.requests.userTokens.consume(session)
    return { tenant, key_id: USER_TOKEN + token.id, user, quota }
  }

  async #tenantOfToken([cell, team_id, member_id]: TokenWords): Promise<Tenant | undefined> {
    const key = `${cell} ${team_id} ${member_id ?? ''}`
    const known = this.#byToken.get(key)
    if (known) return known.tenant
    const control = this.#cells.control.queries
    const team = this.#cells.has(cell) ? await findTeam(control, team_id) : undefined
    if (!team || !(await isMember(control, team.org_id, member_id))) return undefined
    const tenant = await this.#loadTenant(cell, team_id, team.expires_at)
    if (tenant) this.#byToken.set(key, { tenant, member_id })
    return tenant
  }

  async #loadTenant(cell: CellName, team_id: string, expires_at: string | null): Promise<Tenant | undefined> {
    const tenant = this.#cells.has(cell) ? await this.tenant(cell, team_id) : undefined
    return tenant && { ...tenant, expires_at }
  }
}
