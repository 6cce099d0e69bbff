// Reads the sources and checks them against the architecture: locations of files, imports, the writer of each table, and reads of the
// clock.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import ts from '../../test/support/typescript-5.ts'
import { domains, type Domain } from '../../test/support/architecture.ts'
import { contents } from './contents.ts'
import { codeOf, findCalls, importsIn, parseSource, sqlOf } from '../../test/support/syntax-tree.ts'

/** Of every source, from `src` on: its path, and the files that it imports, for types alone too and when it runs. */
const sources = globSync('src/**/*', { withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
const files = sources.filter((file) => /\.[jt]s$/.test(file) && !file.endsWith('.test.ts'))
const trees = new Map(files.map((file) => [file, parseSource(file)]))
/** Each source without its comments. */
const text = new Map([...trees].map(([file, tree]) => [file, codeOf(tree)]))
const known: Record<string, Domain> = domains
const names = Object.keys(known)

const domainOf = (file: string): string => file.split('/')[1]!
const isInModules = (domain: string): boolean => !known[domain]!.isFlat
/** The modules of all domains, in the order in which they may import each other. */
const modules = contents.modules.map(({ name }) => name)
/** `lab/orders`; of a domain without modules its name alone. */
const moduleOf = (file: string): string => (isInModules(domainOf(file)) ? file.split('/').slice(1, 3).join('/') : domainOf(file))
/** Beside its modules a domain has a file that lists their records. */
const isListOfModules = (file: string): boolean => /^src\/[^/]+\/modules\.ts$/.test(file) && isInModules(domainOf(file))
const isRecord = (file: string): boolean => file.endsWith('/module.ts')
const RECORD = 'src/platform/module/module.ts'
/** From `src` on. */
const pathInSrc = (file: string): string => file.slice('src/'.length)

/** Whether the first uses the second, at once or through others. */
const uses = (source: string, target: string): boolean =>
  known[source]!.allowedImports.some((next) => next === target || uses(next, target))

test('every domain imports only domains below it', () => {
  for (const [i, domain] of names.entries())
    for (const below of known[domain]!.allowedImports) assert(names.slice(0, i).includes(below), `${domain} uses ${below}`)
})

test('every file belongs to a module of a domain', () => {
  assert(sources.length > 600, `the pattern finds ${sources.length} files`)
  for (const file of sources) {
    const [, domain = '', module = '', ...rest] = file.split('/')
    const of = known[domain]
    assert(of, `${file}: no domain ${domain} in test/support/architecture.ts`)
    if (!isInModules(domain) || isListOfModules(file)) continue
    assert(modules.includes(`${domain}/${module}`), `${file}: src/${domain}/modules.ts lists no module ${module}`)
    // Connectors to vendors, adapters of a module, data that it reads, groups of options, and the three parts of the webhook dispatcher may have a folder of their own.
    const isConnector = module === 'connectors' && rest.length === 2
    assert(
      rest.length === 1 || isConnector || (rest.length === 2 && FOLDERS.has(rest[0]!)),
      `${file}: not in a folder of its module`,
    )
  }
})

const FOLDERS = new Set(['adapters', 'links', 'schedulers', 'data', 'claim', 'send', 'record', 'profile'])

test('source files and their tests have at most 600 lines', () => {
  const tooLong = sources.filter((file) => /\.[jt]s$/.test(file) && readFileSync(file, 'utf8').split('\n').length > 601)
  assert.deepEqual(tooLong, [])
})

test('the program imports no test helpers', () => {
  for (const [file, source] of text) {
    assert(!importsIn(source).some((target) => /^(node:test$|[./]+\/test\/)/.test(target)), `${file} imports what is for tests`)
    assert(domainOf(file) === 'testing' || !/\.fixture\.|\btesting\b/.test(file), `${file} belongs to test/support`)
  }
})

test('files that tests of other programs import have no packages', () => {
  const clients = [...text].filter(([file]) => domainOf(file) === 'testing')
  assert(clients.length > 3, `the pattern finds ${clients.length} files`)
  for (const [file, source] of clients)
    for (const target of importsIn(source)) assert(/^(node:|\.\/)/.test(target), `${file} imports ${target}`)
})

/** Whether a file may import another one by where both stand. */
function mayImport(source: string, target: string): boolean {
  const [a, b] = [domainOf(source), domainOf(target)]
  if (isListOfModules(target)) return source === 'src/app/modules.ts'
  if (a !== b) return uses(a, b)
  if (!isInModules(a) || isListOfModules(source)) return true
  // A record is of a type that names whatever a module may contribute, what stands in higher modules of the platform too.
  if (target === RECORD && isRecord(source)) return true
  return modules.indexOf(moduleOf(target)) <= modules.indexOf(moduleOf(source))
}

test('imports point down, between domains and between the modules of one domain', () => {
  const upward = new Set<string>()
  for (const file of files)
    for (const target of importsOf(file)) {
      assert(target.startsWith('src/') && sources.includes(target), `${file} imports ${target}`)
      if (!mayImport(file, target)) upward.add(`${pathInSrc(file)} -> ${moduleOf(target)}`)
    }
  assert.deepEqual([...upward].sort(), [])
})

/** The files that a file imports: also for types alone, and when it runs. */
function importsOf(file: string): string[] {
  const targets = importsIn(readFileSync(file, 'utf8')).filter((target) => target.startsWith('.'))
  return targets.map((target) => normalize(join(dirname(file), target)))
}

/** A circle among files that import each other, or undefined. A file that imports none of the rest is in no circle. */
function circleIn(imports: Map<string, string[]>): string[] | undefined {
  const rest = new Map(imports)
  for (;;) {
    const free = [...rest].filter(([, targets]) => !targets.some((target) => rest.has(target)))
    if (free.length === 0) break
    for (const [file] of free) rest.delete(file)
  }
  const path: string[] = []
  let [file] = rest.keys()
  while (file !== undefined && !path.includes(file)) {
    path.push(file)
    file = rest.get(file)!.find((target) => rest.has(target))
  }
  return file === undefined ? undefined : [...path.slice(path.indexOf(file)), file]
}

test('no files import each other in a circle, including type imports', () => {
  const imports = new Map(globSync('src/**/*.{ts,js}').map((file) => [file, importsOf(file)]))
  const count = [...imports.values()].reduce((sum, targets) => sum + targets.filter((target) => imports.has(target)).length, 0)
  assert(imports.size > 500 && count > 2000, `the pattern finds ${count} imports in ${imports.size} files`)
  assert.equal(circleIn(imports)?.join(' -> '), undefined)
})

/** Names of health care, and of the places and contracts of this service, which the platform does not know. */
const DOMAIN_WORDS = /patient|\bplans?\b|\bsamples?\b|\b(sandbox|production)-(us|eu)\b|['-]eu\b/i
/** The metrics of all modules are defined together. */
const WITH_DOMAIN_WORDS = ['src/platform/telemetry/metrics.ts']

test('the platform knows nothing of health care', () => {
  const knowing = [...text].filter(([file, source]) => domainOf(file) === 'platform' && DOMAIN_WORDS.test(source))
  assert.deepEqual(
    knowing.map(([file]) => file),
    WITH_DOMAIN_WORDS,
  )
})

test('only the platform reads the system clock or the database clock', () => {
  for (const [file, code] of text) {
    // HTTP clients have no team whose time they could use.
    if (domainOf(file) !== 'platform' && !/^src\/(cli\/client|testing)\//.test(file))
      assert(!/Date\.now\(|new Date\(\)|systemNow\(/.test(code), `${file} reads the system clock`)
    assert(
      !/\bnow\(\)(?! *=>)|current_timestamp/i.test(code.replaceAll('systemNow()', '').replaceAll('performance.now()', '')),
      `${file} asks for the time in SQL`,
    )
    if (domainOf(file) !== 'platform')
      assert(!/(statement|clock|transaction)_timestamp\(/i.test(code), `${file} asks for the time in SQL`)
  }
})

test('every module is listed under the name of its folder', () => {
  const folders = new Set(files.filter((file) => isInModules(domainOf(file)) && !isListOfModules(file)).map(moduleOf))
  assert(folders.size > 50, `the pattern finds ${folders.size} folders`)
  assert.deepEqual(modules.toSorted(), [...folders].sort())
})

test('domains are listed from the bottom of the architecture up', () => {
  const order = modules.map((name) => names.indexOf(name.split('/')[0]!))
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
    modules.join(', '),
  )
})

/** Table → the module whose record has it. */
const owners = new Map(
  contents.modules.flatMap(({ name, tables }) =>
    [...(tables?.ofTeams ?? []), ...(tables?.others ?? [])].map((table) => [table, name] as const),
  ),
)

test('every table belongs to one module', () => {
  const tables = [...readFileSync('schema.sql', 'utf8').matchAll(/^table (\w+)$/gm)].map(([, table]) => table!)
  assert(tables.length > 60, `the pattern finds ${tables.length} tables`)
  assert.deepEqual([...new Set(tables)].sort(), [...owners.keys()].sort(), 'tables of schema.sql, and those of records')
})

test('only the owning module writes a table', () => {
  const writes = new Set<string>()
  const also = new Set<string>()
  for (const [file, source] of text)
    for (const [, table] of source.matchAll(
      /(?:insert into|update|delete from)\s+"?([a-z_]+)"?\s+(?:(?:as )?(?!set\b)\w+ )?(?:\(|set\b|where\b)/g,
    )) {
      writes.add(table!)
      if (owners.get(table!) !== moduleOf(file)) also.add(`${pathInSrc(file)} ${table}`)
    }
  for (const [file, tree] of trees)
    for (const call of findCalls(tree, 'cleanup'))
      for (const [, table] of call.getText(tree).matchAll(/\btable: '([a-z_]+)'/g))
        assert.equal(owners.get(table!), moduleOf(file), `${table} is cleaned up by ${file}`)
  for (const [file, tree] of trees)
    for (const call of ['eraseTables', 'eraseTablesOfUser'].flatMap((name) => findCalls(tree, name)))
      for (const table of call.arguments.filter(ts.isStringLiteral).map((argument) => argument.text)) {
        const owner = owners.get(table) ?? ''
        const isOwner = isListOfModules(file) ? domainOf(`src/${owner}`) === domainOf(file) : owner === moduleOf(file)
        if (!isOwner) also.add(`${pathInSrc(file)} ${table}`)
      }
  assert(writes.size > 60, `the pattern finds writers of ${writes.size} tables`)
  assert.deepEqual([...also], [], 'files that write a table of another module')
})

/**
 * Fragments that name the table; the statements that contain them name the team. Also the appointments of staff, who may serve the patients
 * of many teams.
 */
const FRAGMENTS: Record<string, RegExp> = {
  'src/visits/phlebotomy/visits.ts': /select staff_id, .* from phlebotomy_visit\s+where staff_id = any/s,
  'src/people/users/users.ts': /from "user"\s*$/,
  'src/lab/catalog/lab-tests.ts': /from lab_test t\s+join lab l/,
  'src/lab/result-matching/raw-results.ts': /from raw_result r join lab l on l.id = r.lab_id$/,
  // A periodic task looks for a team that is due.
  'src/wearables/retention/expired-data.ts': /data_retention_check c|select r.team_id from data_retention r/,
  // A periodic task looks for teams that were deleted.
  'src/connections/grants/deleted-teams.ts': /select g.team_id from provider_grant g/,
  // A periodic task looks at what is due.
  'src/platform/queue/event-retention.ts': /^from event_body b where |with waiting as materialized/,
  // The results of a message say which teams it is about.
  'src/lab/link-messages/message-store.ts': /select distinct team_id from raw_result where id = any/,
  // A link code names its cell only.
  'src/connections/link/codes.ts': /from link_code where code_hash = \S+ and expires_at > /,
  // Laboratories name an order without its team.
  'src/lab/result-matching/resolve-team.ts': /select n.team_id, n.order_id from lab_order_number n/,
  // The sender of a team is identified by the team's id.
  'src/lab/result-matching/receive.ts': /lab_id = \S+ and sender = /,
}

/** The table names in statements: those of records, and views of them. */
const teamTables = contents.modules
  .flatMap(({ tables }) => [...(tables?.ofTeams ?? []), ...(tables?.views ?? [])])
  .map((table) => (table === 'user' ? '"user"' : table))

test("every statement on a team's table names the team", () => {
  assert(teamTables.length > 20, `records have ${teamTables.length} tables of teams`)
  for (const [file, tree] of trees)
    for (const statement of sqlOf(tree))
      for (const table of teamTables)
        if (new RegExp(`(from|update|into|join)\\s+${table}(\\s|$)`).test(statement))
          assert(
            /team_id (=|is not distinct from|is null) |notDeletedCondition\(tx\)|ofTeam\(tx\)|insert into \S+ (as \w+ )?\([^)]*team_id/.test(
              statement,
            ) ||
              /(expires|created)_at </.test(statement) ||
              FRAGMENTS[file]?.test(statement),
            `${file}: a statement on ${table} does not name the team`,
          )
})

/**
 * Files that work on a whole cell, outside of the policies for transactions of teams (docs/decisions/row-security.md), and the reason.
 * Requests of a team use `db.tx` and `db.read`.
 */
const ON_WHOLE_CELL: Record<string, string> = {
  'src/cli/command-input.ts': 'commands: what they change is of the whole cell',
  'src/cli/command-output.ts': 'commands: what they change is of the whole cell',
  'src/cli/commands/catalog.ts': 'commands: the catalog is of no team',
  'src/cli/commands/lab.ts': 'commands: laboratories are of no team',
  'src/cli/commands/lab-test.ts': 'commands: lab tests of every team that wait for approval',
  'src/cli/commands/lab-account.ts': 'commands: lab accounts are of organizations',
  'src/cli/commands/org.ts': 'commands: teams are made and changed',
  'src/cli/commands/access-log.ts': 'commands: the access log of every team',
  'src/cli/commands/mail.ts': 'commands: mail of the installation',
  'src/cli/commands/sms.ts': 'commands: text messages of every team of a sandbox',
  'src/cli/commands/phlebotomy.ts': 'commands: phlebotomists serve several teams',
  'src/cli/commands/psc.ts': 'commands: sites are of no team',
  'src/cli/commands/psc-booking.ts': 'commands: bookings of every team that wait for confirmation',
  'src/cli/commands/psc-schedule.ts': 'commands: schedules are of no team',
  'src/cli/commands/result.ts': 'commands: results that name no team',
  'src/cli/demo.ts': 'the demo teams are made',
  'src/app/database.ts': 'which migrations a schema has',
  'src/lab/catalog-exchange/exchange.ts': 'the catalog is of no team',
  'src/lab/catalog/load.ts': 'the catalog is of no team',
  'src/people/insurance/load.ts': 'payors and diagnoses of the platform',
  'src/lab-reports/loinc/release.ts': 'the LOINC release is of no team',
  'src/lab/accounts/platform-accounts.ts': 'lab accounts of the platform',
  'src/tenancy/teams/team-erasure.ts': 'teams that were deleted',
  'src/tenancy/teams/managed-teams.ts': 'management keys name any team of their organization',
  'src/tenancy/teams/teams.ts': 'a team is looked up before anybody works for it',
  'src/cli/commands/lab-links.ts': 'commands: messages of links, of every team',
  'src/lab/link-shadow/shadow-results.ts': 'finds the team of a result',
  'src/lab/link-onboarding/import-compendium.ts': 'the catalog is of no team',
  'src/lab/link-onboarding/link-trials.ts': 'trial orders are of no team',
  'src/lab/link-transports/active-links.ts': 'links are of organizations',
  'src/lab/link-transports/link-leases.ts': 'links are of organizations',
  'src/lab/link-transports/link-runner.ts': 'links are of organizations',
  'src/lab/link-transports/link-troubles.ts': 'links are of organizations',
  'src/lab/link-transports/link-worker.ts': 'links are of organizations',
  'src/lab/link-transports/listener-watch.ts': 'ports are of processes',
  'src/lab/link-transports/listeners.ts': 'ports are of processes',
  'src/lab/link-transports/message-receiver.ts': 'a message is stored before its team is known',
  'src/lab/link-transports/traffic-notes.ts': 'links are of organizations',
  'src/cli/commands/link-profiles.ts': 'commands: links of every lab account',
  'src/cli/commands/link-trials.ts': 'commands: links of every lab account',
  'src/lab/result-matching/receive.ts': 'whose result it is has to be found',
  'src/lab/link-orders/record-answer.ts': 'an answer of a laboratory, before its team is known',
  'src/lab/link-messages/receive-message.ts': 'a message is stored before its team is known',
  'src/lab/link-messages/message-processing.ts': 'a message is read before its team is known',
  'src/lab/link-messages/message-store.ts': 'what became of a message, which may be of several teams',
  'src/lab/link-messages/link-alerts.ts': 'links are of no team',
  'src/connections/link/codes.ts': 'a link code names its cell only',
  'src/notifications/sms/sms-sender.ts': 'sends what is due, of every team',
  'src/visits/phlebotomy/staff-import.ts': 'phlebotomists serve several teams',
  'src/wearables/retention/expired-data.ts': 'data of every team that has expired',
  'src/connections/grants/deleted-teams.ts': 'grants of teams that were deleted',
  'src/events/brokers/pipelines.ts': 'management keys name several teams at once',
  'src/visits/geocoding/geocoder.ts': 'places are of no team',
  'src/visits/geocoding/postal-code-import.ts': 'places are of no team',
  'src/platform/access-log/access-archive.ts': 'the access log is exported and checked whole',
  'src/platform/access-log/archive-days.ts': 'days of the access log are archived whole',
  'src/platform/access-log/log-retention.ts': 'days of the access log are deleted whole',
  'src/platform/access-log/search-archive.ts': 'files of the access log have lines of every team',
  'src/platform/access-log/access-log.ts': 'lines of every team are written and chained together',
  'src/platform/http/request.ts': 'management operations that are about no team of the cell',
  'src/platform/db/connection-pool.ts': 'makes the connections',
  'src/platform/db/connections.ts': 'makes the connections',
  'src/platform/db/database.ts': 'makes the transactions',
  'src/platform/queue/dead-letters.ts': 'commands: what failed, of every team',
  'src/platform/queue/jobs.ts': 'leases what is due, of every team',
  'src/platform/queue/leased-queue.ts': 'leases what is due, of every team',
  'src/platform/queue/leased-table.ts': 'leases what is due, of every team',
  'src/platform/mail/mail-sender.ts': 'mail of the installation',
  'src/platform/mail/mail-outbox.ts': 'mail of the installation',
  'src/platform/queue/retention.ts': 'deletes what is old, of every team',
  'src/platform/queue/event-retention.ts': 'deletes what is old, of every team',
  'src/platform/stored-files/stored-files.ts': 'deletes files whose time has come, of every team',
  'src/platform/crypto/encrypted-columns.ts': 'moves secrets of every team from key to key',
  'src/visits/psc/site-import.ts': 'sites are of no team',
  'src/visits/psc/load-sandbox-sites.ts': 'sites are of no team',
  'src/visits/psc-booking/schedule-import.ts': 'schedules are of no team',
  'src/sandbox/clock/clock-lease.ts': 'leases moves of clocks, of every team',
  'src/events/delivery/deleted-destinations.ts': 'erases what deleted destinations left, of every team',
  'src/sandbox/faults/fault-source.ts': 'which teams have faults, and those of one that its key names',
  'src/events/delivery/delivery-rows.ts': 'delivers what is due, of every team',
  'src/events/delivery/fan-out.ts': 'claims outbox entries of every team',
  'src/events/feed/feed-waiters.ts': 'one look for everybody who waits',
  'src/events/delivery/delivery-worker.ts': 'delivers what is due, of every team',
  'src/console/health/database-size.ts': 'the size of a whole database',
  'src/console/request-log/recorder.ts': 'records requests of every team',
  'src/events/delivery/record-outcomes.ts': 'records what was delivered, of every team',
}

test('files that work on a whole cell are listed with a reason', () => {
  const found: string[] = []
  for (const [file, code] of text) {
    if (/(?<!\bcontrol)\s*\.(queries|asyncCommit|plainTx|asyncCommitTx|txOnWholeCell|pool)\b/.test(code)) found.push(file)
  }
  assert.deepEqual(found.sort(), Object.keys(ON_WHOLE_CELL).sort())
})

/** Variables of a file, and what they remember. Settings are none of it: who depends on one is given it. */
const VARIABLES: Record<string, string> = {
  'src/platform/runtime/loop-work.ts': 'the present turn of the event loop: what has computed in it, and its end',
  'src/notifications/messages/message-templates.ts': 'a formatter, made when it is first needed',
  'src/visits/geocoding/zip-codes.ts': 'a table, read when it is first needed',
  'src/tenancy/sign-in/passwords.ts': 'the list of common passwords, read when it is first needed',
  'src/people/person/countries.ts': 'the names of countries, read when they are first needed',
}

test('no file has variables that others set', () => {
  const found = [...text].flatMap(([file, source]) => (/^(export )?(let|var) /m.test(source) ? [file] : []))
  assert.deepEqual(found.sort(), Object.keys(VARIABLES).sort())
})

test('pages and comments name existing files', () => {
  const texts = ['*.md', 'docs/**/*.md', '{src,test,bench,bin,deploy}/**/*.{ts,js,mjs,service}'].flatMap((pattern) =>
    globSync(pattern),
  )
  let count = 0
  for (const file of texts.filter((name) => name !== 'CHANGELOG.md'))
    for (const [path] of readFileSync(file, 'utf8').matchAll(
      /(?<![\w./$-])(?:src|test|bench)\/[\w./-]*\w\.(?:ts|js|json|tsv|sql|txt|csv)\b/g,
    )) {
      count++
      assert(existsSync(path), `${file} names ${path}`)
    }
  assert(count > 200, `the pattern finds ${count} files`)
})
