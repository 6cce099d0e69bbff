// Which test files share a process. Loading the program and running its code for the first time costs each process two seconds of a
// processor or more; a file whose tests keep to teams of their own need not pay that again.
import { existsSync, globSync } from 'node:fs'

/** How many files share a process at most: with more, the last process of a run would leave a core without work for longer. */
const GROUP_FILES_MAX = 60

/**
 * Files in `src/` with a process and a database of their own, by what their tests do. A file belongs here when its tests change what teams
 * share and do not change it back, or read what other files may have changed; better is a test that does neither.
 */
const ALONE: Record<string, string[]> = {
  'change the catalog, the sites or the places of a cell': [
    'src/cli/commands.test.ts',
    'src/lab/accounts/offered-labs.test.ts',
    'src/lab/catalog/load.test.ts',
    'src/visits/psc-booking/own-laboratory.test.ts',
    'src/visits/psc/load-sandbox-sites.test.ts',
    'src/visits/psc/psc.test.ts',
  ],
  'change the access log of a cell, or read all of it': [
    'src/cli/commands/access-log.test.ts',
    'src/platform/access-log/access-archive.test.ts',
    'src/platform/access-log/archive-days.test.ts',
    'src/platform/access-log/access-log-role.test.ts',
    'src/tenancy/audit/list-archived-accesses.test.ts',
  ],
  'move the clock of the process': [
    'src/tenancy/access/credential-checks.test.ts',
    'src/platform/queue/retention.test.ts',
    'src/platform/queue/worker.test.ts',
  ],
  'need an installation in which no member has a password': ['src/tenancy/sign-in/passwords.test.ts'],
  'change the environment of the process': ['src/events/brokers/adapters/pubsub.test.ts'],
  'change the schema, or break connections': [
    'src/platform/db/database-faults.test.ts',
    'src/platform/embedded-postgres/embedded-postgres.test.ts',
    'src/platform/embedded-postgres/recovery.test.ts',
    'src/platform/db/migrate.test.ts',
  ],
}

/** Files of one process each list: they would belong to `ALONE` but do not disturb each other, or share what is dear to load. */
const APART: Record<string, string[]> = {
  'files with workers that take every job of a cell': [
    'src/platform/queue/claims.test.ts',
    'src/platform/queue/jobs.test.ts',
    'src/connections/file-imports/import-turns.test.ts',
    'src/lab-reports/parsing-jobs/parsing-turns.test.ts',
  ],
  // The text recognition and the terms of LOINC are loaded once. None of these asks the database, whose connections would time out meanwhile.
  'files that read lab reports in the process of the test': [
    'test/eval/quality.test.ts',
    'test/eval/corpus.test.ts',
    'src/lab-reports/reading/page-of-file.test.ts',
  ],
  // Likewise in the thread of the server.
  'files that have lab reports read': [
    'src/lab-reports/parsing-jobs/scanned-reports.test.ts',
    'src/lab-reports/parsing-jobs/damaged-uploads.test.ts',
    'src/lab-reports/parsing-jobs/doubtful-reports.test.ts',
    'src/lab-reports/parsing-jobs/hostile-files.test.ts',
    'src/lab-reports/parsing-jobs/parsing-jobs.test.ts',
    'src/lab-reports/parsing-jobs/report-files.test.ts',
    'src/lab-reports/review/review.test.ts',
  ],
  'files that change the catalog, the sites or the places': [
    'src/cli/commands/catalog.test.ts',
    'src/lab/catalog/catalog.test.ts',
    'src/lab/compendium/compendium.test.ts',
    'src/lab/link-onboarding/import-compendium.test.ts',
    'src/lab/catalog/lab-test-changes.test.ts',
    'src/lab/catalog/order-sets.test.ts',
    'src/lab/catalog/patient-rules.test.ts',
    'src/cli/commands/insurance.test.ts',
    'src/visits/geocoding/geocoder.test.ts',
    'src/visits/geocoding/postal-places.test.ts',
    'src/visits/psc/site-import.test.ts',
    'src/visits/psc-booking/schedule-import.test.ts',
  ],
  'files that change the schema, or need names for prepared statements': [
    'src/platform/db/prepared-statements.test.ts',
    'src/platform/db/row-security.test.ts',
    'src/platform/db/row-security-without-roles.test.ts',
    'src/platform/db/team-isolation.test.ts',
    'src/events/delivery/unreadable-endpoints.test.ts',
  ],
}

/**
 * Files in `test/` that share processes as most in `src/` do. The others start programs, measure their process, take long by themselves, or
 * keep it busy for seconds without a pause: connections that others of the process open meanwhile time out.
 */
const TOGETHER = [
  'test/console/segments.test.ts',
  'test/contract/access-log.test.ts',
  'test/contract/access-log-refusals.test.ts',
  'test/contract/access-operations.test.ts',
  'test/contract/deleted-users.test.ts',
  'test/contract/dropped-fields.test.ts',
  'test/contract/erasing-teams.test.ts',
  'test/contract/erasing-users.test.ts',
  'test/contract/event-samples.test.ts',
  'test/contract/examples.test.ts',
  'test/contract/features.test.ts',
  'test/contract/generated.test.ts',
  'test/contract/idempotency-keys.test.ts',
  'test/contract/launches.test.ts',
  'test/contract/operations-audit.test.ts',
  'test/contract/operations-management.test.ts',
  'test/contract/operations-reach.test.ts',
  'test/contract/order-walks.test.ts',
  'test/contract/roles.test.ts',
  'test/contract/session-cookies.test.ts',
  'test/docs/documents.test.ts',
  'test/docs/retention.test.ts',
  'test/e2e/receivers.test.ts',
  'test/eval/corpus.test.ts',
  'test/eval/metrics.test.ts',
  'test/eval/quality.test.ts',
  'test/contract/reference-names.test.ts',
  'test/contract/reference-paths.test.ts',
  'test/contract/texts.test.ts',
  'test/contract/user-tokens.test.ts',
  'test/statements/rules.test.ts',
  'test/lab-peers/hl7-writer.test.ts',
  'test/simulation/scheduler.test.ts',
]

/** Files of one process each list: they look at one console, whose server and browser are started once for all of them. */
const IN_CONSOLE: Record<string, string[]> = {
  'pages of orders': [
    'test/console/failures.test.ts',
    'test/console/sign-in.test.ts',
    'test/console/catalog.test.ts',
    'test/console/orders.test.ts',
    'test/console/users.test.ts',
    'test/console/foreign-pages.test.ts',
  ],
  'pages of settings': [
    'test/console/settings-keys.test.ts',
    'test/console/settings-lab.test.ts',
    'test/console/settings-members.test.ts',
    'test/console/settings-teams.test.ts',
    'test/console/settings-logs.test.ts',
  ],
  'pages of endpoints and requests': [
    'test/console/failures-and-brokers.test.ts',
    'test/console/endpoints.test.ts',
    'test/console/requests.test.ts',
    'test/console/health.test.ts',
  ],
}

/** Files that show pages in a browser, which is started once for all of them. */
const IN_BROWSER = [
  'src/connections/link/link-page-browser.test.ts',
  'src/connections/link/link-page.test.ts',
  'src/notifications/portal/portal.test.ts',
  'src/tenancy/embedding/launch-pages.test.ts',
]

export interface Group {
  /** As in the report. */
  name: string
  files: string[]
}

/** The files that share processes, also those with one console, and those that share none. Errors: a file that is named and is not there. */
export function groupFiles(files: string[]): { groups: Group[]; consoles: Group[]; aloneFiles: string[] } {
  const kept = new Set(Object.values(ALONE).flat())
  const there = new Set(['src/**/*.test.ts', ...TOGETHER].flatMap((pattern) => globSync(pattern)))
  const apart = Object.values(APART).flat()
  const inConsole = Object.values(IN_CONSOLE).flat()
  const missing = [...kept, ...apart, ...TOGETHER, ...IN_BROWSER].filter((file) => !there.has(file))
  missing.push(...inConsole.filter((file) => !existsSync(file)))
  if (missing.length) throw new Error(`test/groups.ts names files that are not there: ${missing.join(', ')}`)
  const shared = files.filter((file) => there.has(file) && !kept.has(file) && !apart.includes(file))
  const count = Math.ceil(shared.length / GROUP_FILES_MAX)
  const [inBrowser, others] = [true, false].map((is) => shared.filter((file) => IN_BROWSER.includes(file) === is)) as [
    string[],
    string[],
  ]
  // Neighbors cost about the same and are dealt out, so that the groups do too; the last group has the fewest of them.
  const groups = Array.from({ length: count }, (_, i) => ({
    name: `group ${i + 1}`,
    files: [...others.filter((_file, n) => n % count === i), ...(i === count - 1 ? inBrowser : [])],
  }))
  return {
    groups: [...chooseFiles(APART, files), ...groups],
    consoles: chooseFiles(IN_CONSOLE, files),
    aloneFiles: files.filter((file) => ![shared, apart, inConsole].some((list) => list.includes(file))),
  }
}

/** The lists without files that are not to be run. */
const chooseFiles = (lists: Record<string, string[]>, files: string[]): Group[] =>
  Object.entries(lists)
    .map(([name, list]) => ({ name, files: list.filter((file) => files.includes(file)) }))
    .filter((group) => group.files.length)
