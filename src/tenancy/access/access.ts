// What the management interface needs of the process that runs it, made once from its settings.
import type { Cells } from '../../platform/db/cells.ts'
import { machineNow } from '../../platform/runtime/clock.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { Buckets, Quota } from '../../platform/http/rate-limits.ts'
import { Tokens } from '../../platform/crypto/signed-tokens.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import type { DnsOptions } from '../domains/dns-check.ts'
import { CredentialChecks } from './credential-checks.ts'
import { TeamGuard } from './team-guard.ts'
import { KeyUse } from '../keys/key-use.ts'
import { OrgGuard } from './management-guard.ts'

export interface Administration {
  cells: Cells
  teams: TeamGuard
  orgs: OrgGuard
  use: KeyUse
  tokens: Tokens
  /** Of every credential that is looked up, those without a guard too: invites, launches, sessions. */
  checks: CredentialChecks
  /** Access tokens minted, by management key and team. */
  minted: Quota
  support_email: string
  seed: Neighbours['seed']
  has: Neighbours['has']
  publicUrl: Neighbours['publicUrl']
  /** The name that white-label domains point at, if they have to point anywhere. */
  domain_target: string | undefined
  dns: DnsOptions
  /** Checks of domains, by organization. */
  domainChecks: Quota
  /** Mails about domains, by organization. */
  domainMails: Quota
  /** Mails with invites: by organization, and by organization and recipient. */
  inviteMails: { ofOrg: Quota; toAddress: Quota }
}

/** What the interface has from elsewhere in this process. */
export interface Neighbours {
  /** What a team finds in its sandbox when it is new. */
  seed: (tx: Tx) => Promise<void>
  /** Whether the team has such a user or order. */
  has: Record<'user' | 'order', (tx: Tx, id: string) => Promise<boolean>>
  /** Where browsers reach this server, without a final slash; known once it listens. */
  publicUrl: () => string
}

/** Of one management key for one team. Source: management-auth.md 10. */
const MINTED_PER_MIN = 60
/** Of one organization. */
const DOMAIN_CHECKS_PER_MIN = 60
const DOMAIN_MAILS_PER_H = 30
const DNS = { timeout_ms: 1500, tries: 2, deadline_ms: 8000 }

export type AdministrationSettings = Pick<
  Config,
  | 'requests_per_s'
  | 'requests_burst'
  | 'wrong_keys_per_min'
  | 'invites_per_hour'
  | 'invites_per_address_per_day'
  | 'sandbox_users_max'
  | 'support_email'
  | 'dns_servers'
  | 'domain_target'
  | 'hosts'
>

export function administer(
  cells: Cells,
  vault: Vault,
  settings: AdministrationSettings,
  { seed, has, publicUrl }: Neighbours,
): Administration {
  const buckets = () => new Buckets({ per_s: settings.requests_per_s, burst: settings.requests_burst })
  const limits = {
    requests: { teamKeys: buckets(), accessTokens: buckets(), managementKeys: buckets() },
    checks: new CredentialChecks({ wrong_per_min: settings.wrong_keys_per_min }),
  }
  const tokens = new Tokens(vault, 'team access')
  const { hosts } = settings
  const use = new KeyUse(cells.control, machineNow)
  const teams = new TeamGuard({ cells, sandboxSettings: { users_max: settings.sandbox_users_max }, limits, tokens, use, hosts })
  return {
    cells,
    teams,
    orgs: new OrgGuard({ cells, teams, limits, use, hosts }),
    use,
    tokens,
    checks: limits.checks,
    minted: new Quota({ max: MINTED_PER_MIN, window_s: 60 }),
    support_email: settings.support_email,
    seed,
    has,
    publicUrl,
    domain_target: settings.domain_target,
    dns: { ...DNS, servers: settings.dns_servers },
    domainChecks: new Quota({ max: DOMAIN_CHECKS_PER_MIN, window_s: 60 }),
    domainMails: new Quota({ max: DOMAIN_MAILS_PER_H, window_s: 3600 }),
    inviteMails: {
      ofOrg: new Quota({ max: settings.invites_per_hour, window_s: 3600 }),
      toAddress: new Quota({ max: settings.invites_per_address_per_day, window_s: 86_400 }),
    },
  }
}
