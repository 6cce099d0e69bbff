// The modules of tenancy, from the bottom up.
import type { Config } from '../settings/config.ts'
import type { Cells } from '../platform/db/cells.ts'
import { CredentialChecks, FixedWindowLimiter } from '../platform/http/rate-limits.ts'
import { systemNow } from '../platform/runtime/clock.ts'
import type { Module } from '../platform/module/module.ts'
import type { Log } from '../platform/telemetry/log.ts'
import type { Access } from './access/access.ts'
import { ArchiveSearcher } from '../platform/access-log/search-archive.ts'
import type { StoredFiles } from '../platform/stored-files/stored-files.ts'
import { auditRoutes } from './audit/routes.ts'
import { domains } from './domains/module.ts'
import type { LaunchDependencies } from './embedding/launches.ts'
import { embedding } from './embedding/module.ts'
import { keys } from './keys/module.ts'
import { members } from './members/module.ts'
import type { Operation } from '../platform/http/operation.ts'
import { organizationsRoutes } from './organizations/routes.ts'
import { signIn } from './sign-in/module.ts'
import { ownTeamRoutes } from './teams/own-team-routes.ts'
import { teamsRoutes } from './teams/routes.ts'

export interface TenancyDependencies {
  cells: Cells
  log: Log
  guards: Access
  storedFiles: StoredFiles
  settings: Config
  /** The base URL for browsers, without a final slash. */
  publicUrl: () => string
  /** Whether a team has such a user or order. */
  has: LaunchDependencies['has']
  /** The operations of all modules. */
  operations: () => readonly Operation[]
}

/** Limit of one management key for one team. Source: management-auth.md 10. */
const MINTED_PER_MIN = 60
/** Limit of one organization. */
const DOMAIN_CHECKS_PER_MIN = 60
const DOMAIN_MAILS_PER_H = 30
const DNS = { timeout_ms: 1500, tries: 2, deadline_ms: 8000 }
const [MINUTE_S, HOUR_S, DAY_S] = [60, 3600, 86_400]

const QUARTER_HOUR_S = 900
/** Sign-ins of an address that take several requests, within that time, for each wrong key a minute. */
const STARTS_OF_WRONG_KEYS = 10
/** Mails to set the password of one account, within that time. */
const RESETS_OF_ACCOUNT = 3

/** @param wrong_max wrong keys of an address in a minute; 0: no limits */
const signInLimits = (wrong_max: number) => ({
  checks: new CredentialChecks({
    wrong_max,
    says: 'Too many wrong passwords or links from this address (WRONG_KEYS_PER_MINUTE)',
  }),
  attempts: {
    passwords: new FixedWindowLimiter({ max: wrong_max, window_s: QUARTER_HOUR_S }),
    starts: new FixedWindowLimiter({ max: wrong_max * STARTS_OF_WRONG_KEYS, window_s: QUARTER_HOUR_S }),
    resetsOfAddress: new FixedWindowLimiter({ max: wrong_max, window_s: QUARTER_HOUR_S }),
    resetsOfAccount: new FixedWindowLimiter({ max: wrong_max && RESETS_OF_ACCOUNT, window_s: QUARTER_HOUR_S }),
  },
})

export function tenancy(dependencies: TenancyDependencies): Module[] {
  const { cells, guards, storedFiles, settings } = dependencies
  const { teams: teamGuard, orgs, sessions } = guards
  const domain_target = () => settings.domain_target
  const teamDependencies = { cells, support_email: settings.support_email, teams: teamGuard, orgs }
  return [
    {
      name: 'tenancy/organizations',
      about: 'name, plan, expiry, lock',
      tag: 'management',
      tables: { others: ['org'] },
      operations: organizationsRoutes,
    },
    {
      name: 'tenancy/audit',
      about: 'reading of audit log and access log',
      tag: 'management',
      tables: { others: ['access_log_check'] },
      operations: auditRoutes(new ArchiveSearcher(cells, storedFiles)),
    },
    {
      name: 'tenancy/roles',
      about: 'which operations the roles of members permit',
    },
    {
      name: 'tenancy/teams',
      about: 'teams, settings, features, teams of a key, roles, erasure',
      tag: 'management',
      tables: { others: ['team'] },
      operations: [...teamsRoutes(teamDependencies), ...ownTeamRoutes(teamDependencies)],
    },
    domains({
      domain_target,
      dns: { ...DNS, servers: settings.dns_servers },
      domainChecks: new FixedWindowLimiter({ max: DOMAIN_CHECKS_PER_MIN, window_s: MINUTE_S }),
      domainMails: new FixedWindowLimiter({ max: DOMAIN_MAILS_PER_H, window_s: HOUR_S }),
    }),
    keys({
      ...dependencies,
      ...guards,
      tokenLimiter: new FixedWindowLimiter({ max: MINTED_PER_MIN, window_s: MINUTE_S }),
    }),
    members({
      ...dependencies,
      ...guards,
      inviteMails: {
        ofOrg: new FixedWindowLimiter({ max: settings.invites_per_hour, window_s: HOUR_S }),
        toAddress: new FixedWindowLimiter({ max: settings.invites_per_address_per_day, window_s: DAY_S }),
      },
    }),
    signIn({
      ...dependencies,
      sessions,
      ...signInLimits(settings.wrong_keys_per_min),
      openId: settings.oidc,
      clock: systemNow,
      limits: { idle_s: settings.session_idle_minutes * MINUTE_S, total_s: settings.session_hours * HOUR_S },
      demo: settings.demo,
      sendsMail: settings.smtp !== undefined,
    }),
    embedding({
      ...dependencies,
      checks: guards.checks,
      domain_target,
      findTenant: teamGuard.tenant,
      demo: settings.demo,
    }),
    {
      name: 'tenancy/access',
      about: 'authentication of requests',
    },
  ]
}
