// What the management interface needs of the process that runs it, made once from its settings.
import type { Cells } from '../platform/cells.ts'
import type { Config } from '../platform/config.ts'
import type { Tx } from '../platform/db.ts'
import { Buckets, Quota } from '../platform/limits.ts'
import { Tokens } from '../platform/tokens.ts'
import type { Vault } from '../platform/vault.ts'
import { TeamGuard } from './guard.ts'
import { OrgGuard } from './org-guard.ts'

export interface Administration {
  cells: Cells
  teams: TeamGuard
  orgs: OrgGuard
  tokens: Tokens
  /** Access tokens minted, by management key and team. */
  minted: Quota
  support_email: string
  /** What a team finds in its sandbox when it is new. */
  seed: (tx: Tx) => Promise<void>
}

/** Of one management key for one team. Source: management-auth.md 10. */
const MINTED_PER_MIN = 60

export type AdministrationSettings = Pick<
  Config,
  'requests_per_s' | 'requests_burst' | 'wrong_keys_per_min' | 'sandbox_users_max' | 'support_email'
>

export function administer(
  cells: Cells,
  vault: Vault,
  settings: AdministrationSettings,
  seed: (tx: Tx) => Promise<void>,
): Administration {
  const limits = {
    requests: new Buckets({ per_s: settings.requests_per_s, burst: settings.requests_burst }),
    wrongKeys: new Quota({ max: settings.wrong_keys_per_min, window_s: 60 }),
  }
  const tokens = new Tokens(vault, 'team access')
  const teams = new TeamGuard({ cells, sandboxSettings: { users_max: settings.sandbox_users_max }, limits, tokens })
  return {
    cells,
    teams,
    orgs: new OrgGuard({ cells, teams, limits }),
    tokens,
    minted: new Quota({ max: MINTED_PER_MIN, window_s: 60 }),
    support_email: settings.support_email,
    seed,
  }
}
