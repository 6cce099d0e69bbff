// Authentication and authorization for all operations of a process.
import type { CellName } from '../../settings/cells.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { systemNow } from '../../platform/runtime/clock.ts'
import type { Config } from '../../settings/config.ts'
import { CredentialChecks, TokenBuckets } from '../../platform/http/rate-limits.ts'
import { SignedTokens } from '../../platform/crypto/signed-tokens.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { TeamGuard, USER_TOKEN_PREFIX, type IsSessionActive } from './team-guard.ts'
import { KeyUsageTracker } from '../keys/key-use.ts'
import { OrgGuard } from './management-guard.ts'
import { SessionGuard } from './session-guard.ts'

export interface Access {
  teams: TeamGuard
  orgs: OrgGuard
  sessions: SessionGuard
  use: KeyUsageTracker
  tokens: SignedTokens
  /** Access tokens of users: the cell, the team, the user, the session. */
  userTokens: SignedTokens
  /** For every credential that is looked up, including those without a guard: invites, launches, sessions. */
  checks: CredentialChecks
}

/** A browser with a session that has ended asks for several things at once, and its token is not a guess. */
const WRONG_SESSIONS_OF_WRONG_KEYS = 15
const WRONG_SESSIONS = 'Too many requests with a session that has ended from this address (WRONG_KEYS_PER_MINUTE)'

export function createAccess(
  cells: Cells,
  vault: Vault,
  settings: Config,
  { isSessionActive, publicUrl }: { isSessionActive: IsSessionActive; publicUrl: () => string },
): Access {
  const buckets = () => new TokenBuckets({ per_s: settings.requests_per_s, burst: settings.requests_burst })
  const limits = {
    requests: { teamKeys: buckets(), accessTokens: buckets(), managementKeys: buckets(), userTokens: buckets() },
    checks: new CredentialChecks({ wrong_max: settings.wrong_keys_per_min }),
  }
  const tokens = new SignedTokens(vault, 'team access')
  const userTokens = new SignedTokens(vault, 'user access', USER_TOKEN_PREFIX)
  const { hosts } = settings
  const use = new KeyUsageTracker(cells.control, systemNow)
  const teams = new TeamGuard({
    cells,
    installation: (cell) => ofInstallation(settings, cell),
    limits,
    tokens,
    userTokens,
    isSessionActive,
    use,
    hosts,
  })
  const sessions = new SessionGuard({
    cells,
    teams,
    hosts,
    publicUrl,
    clock: systemNow,
    requests: buckets(),
    checks: new CredentialChecks({ wrong_max: settings.wrong_keys_per_min * WRONG_SESSIONS_OF_WRONG_KEYS, says: WRONG_SESSIONS }),
    idle_s: settings.session_idle_minutes * 60,
  })
  const orgs = new OrgGuard({ cells, teams, limits, use, hosts })
  return { teams, orgs, sessions, use, tokens, userTokens, checks: limits.checks }
}

/** What modules find among the settings of every tenant, in addition to those of its team. */
const ofInstallation = (settings: Config, cell: CellName): Record<string, unknown> => ({
  enforce_delegated_physician: settings.enforce_delegated_physician,
  orders_without_integration: settings.orders_without_integration,
  legacy_timeseries: settings.legacy_timeseries,
  ...(cell.startsWith('sandbox') && { users_max: settings.sandbox_users_max, sandbox_parity: settings.sandbox_parity }),
})
