// A row for every command: a call that succeeds, what it prints, and a call that fails (src/cli/commands.test.ts).
import { delivering, emitEvents, endpoint, receiver } from './webhook-receiver.ts'
import { createMember } from './console-sessions.ts'
import { createTestTeam, url } from './server.ts'
import {
  folder,
  writeFile,
  EVERY_CELL,
  SANDBOX,
  PRODUCTION,
  NOBODY,
  ABSENT,
  commandData,
  wordAfter,
  runAndPrint,
  account,
  createUnassignedResult,
  failedMessage,
  linkedAccount,
  refusedMessage,
  refusedOrder,
  booking,
  failedJob,
  pendingTest,
  failedMail,
  allDay,
  staffFile,
  importReference,
  loincFile,
  textMessage,
} from './command-data.ts'
import { randomUUID } from 'node:crypto'
import { exportXml, record } from './file-imports.ts'
import { saveListeners } from '../../src/lab/link-transports/listener-states.ts'
import { profile } from './link-messages.ts'
import { writeMail } from './mail.ts'
import { glucoseReport } from './uploaded-reports.ts'

export interface Row {
  /** The words after the command of a call that succeeds. */
  words?: () => string[] | Promise<string[]>
  env?: () => Record<string, string>
  /** What that call prints. */
  prints?: RegExp
  /** In place of such a call: the test that starts the program with this command. */
  startedIn?: string
  /** The words after the command of a call that fails, its exit code, and what standard error says. */
  fails: [words: string[], code: 1 | 2, says: RegExp, env?: Record<string, string>]
}

/** Commands that run until they are stopped, or that make databases: processes of other tests run them. Invalid settings end them. */
const serverRow = (startedIn: string): Row => ({ startedIn, fails: [[], 1, /^drawbridge: PORT must be /, { PORT: 'none' }] })
const noCell: Row['fails'] = [['--cell', 'moon'], 2, /^drawbridge: --cell must be one of/]
const noId = (...words: string[]): Row['fails'] => [[...words, 'x', ...SANDBOX], 2, /must be an id/]

const noPath: Row['fails'] = [['v3/lab_tests'], 2, /The path must start with a slash/]

const delivery = delivering({ schedule_s: [0] })

export const table: Record<string, Row> = {
  start: serverRow('test/e2e/start.test.ts'),
  serve: serverRow('test/e2e/settings.test.ts'),
  work: serverRow('test/e2e/settings.test.ts'),
  migrate: serverRow('test/e2e/settings.test.ts'),

  'org create': { words: () => [`Clinic ${randomUUID()}`], prints: /^organization/, fails: [[''], 2, /requires a name/] },
  'org plan': {
    words: async () => [(await createTestTeam()).org_id, 'grow'],
    prints: /^Plan set to grow/,
    fails: [[NOBODY, 'none'], 2, /must be one of/],
  },
  'org expire': {
    words: () => [commandData.team.org_id, 'never'],
    prints: /does not expire/,
    fails: [[NOBODY, 'never'], 1, /Organization not found/],
  },
  'org list': { words: () => [], prints: /^\S+ {2}\w+ +\S+ {2}.*\d+ teams {2}/, fails: [['x'], 2, /Too many arguments/] },
  'member link': {
    words: async () => [(await createMember(commandData.team)).email],
    prints: /^http:\/\/127\.0\.0\.1:8080\/console\/reset#token=ol_[\w-]{43}\n$/,
    fails: [['nobody@example.com'], 1, /Member not found/],
  },
  'team list': {
    words: () => ['--org', commandData.team.org_id],
    prints: /^\S+ {2}\S+ {2}us {2}/,
    fails: [['--org', NOBODY], 1, /Organization not found/],
  },
  'team create': {
    words: () => ['North', '--org', commandData.team.org_id, '--region', 'us'],
    prints: /^team {2}\S+\n$/,
    fails: [['North', '--org', NOBODY, '--region', 'moon'], 2, /--region must be us or eu/],
  },
  'team feature': {
    words: () => [commandData.team.team, 'list'],
    prints: /^(on |off) {2}\w+/,
    fails: [[NOBODY, 'list'], 1, /Team not found/],
  },
  'key create': {
    words: () => ['--team', commandData.team.team, ...SANDBOX],
    prints: /^api key {2}sk_us_/,
    fails: [['--team', NOBODY, ...SANDBOX], 1, /Team not found/],
  },
  'key list': {
    words: () => ['--team', commandData.team.team],
    prints: /sandbox-us .*test\n/,
    fails: [[], 2, /--team must be an id/],
  },
  'key revoke': {
    words: async () => [wordAfter(await runAndPrint('key', 'create', '--team', commandData.team.team, ...SANDBOX), 'api key')],
    prints: /^Key revoked/,
    fails: [[NOBODY], 1, /Key not found/],
  },
  'lab list': { words: () => PRODUCTION, prints: /^quest +identity set/m, fails: noCell },
  'lab identity set': {
    words: () => ['quest', ...PRODUCTION, '--director', 'Dora Example, MD'],
    prints: /^Lantern Bay quest: identity set/,
    fails: [['quest', ...SANDBOX, '--city', 'X'], 2, /must be a production cell/],
  },
  'lab identity show': {
    words: () => ['quest', ...PRODUCTION],
    prints: /"clia": "99D0000001"/,
    fails: [['x', ...SANDBOX], 1, /Lab not found/],
  },
  'lab-account create': {
    words: () => [...SANDBOX, '--lab', 'quest', '--account', randomUUID(), '--org', commandData.team.org_id],
    prints: /^lab account/,
    fails: [SANDBOX, 2, /--lab is required/],
  },
  'lab-account update': {
    words: async () => [await account(), ...SANDBOX, '--status', 'pending'],
    prints: /updated/,
    fails: noId(),
  },
  'lab-account list': {
    words: async () => (await account(), [...SANDBOX, '--org', commandData.team.org_id]),
    prints: /quest/,
    fails: noCell,
  },
  'lab-account show': { words: async () => [await account(), ...SANDBOX], prints: /"lab": "quest"/, fails: noId() },
  'lab-test list': { words: async () => (await pendingTest(), SANDBOX), prints: /testkit/, fails: noCell },
  'lab-test approve': { words: async () => [await pendingTest(), ...SANDBOX], prints: /^Lab test active/, fails: noId() },

  'catalog export': { words: () => ['--cell', 'production-eu'], prints: /"format": "drawbridge-catalog-1"/, fails: noCell },
  'catalog import': {
    words: async () => [writeFile(await runAndPrint('catalog', 'export', ...PRODUCTION), 'json'), ...PRODUCTION],
    prints: /^labs +0 added, 0 changed/,
    fails: [[ABSENT, ...PRODUCTION], 1, /cannot be read \(ENOENT\)/],
  },
  'places import': {
    words: () => [writeFile(['FR', '75001', 'Exempleville', 'Province', 'EX', '', '', '', '', '48.85', '2.35', '4'].join('\t'))],
    prints: /1 places of FR/,
    fails: [[writeFile('FR\t75002\n', 'txt'), ...SANDBOX], 1, /1 of the file rejected/],
  },
  'psc import': {
    words: () => [
      writeFile('site_code,name,first_line,city,state,zip_code\nTABLE-2,Pretend Site,1 Sample Way,Phoenix,AZ,85004'),
      '--lab',
      'crl',
      ...PRODUCTION,
    ],
    prints: /^production-us\n1 imported\n$/,
    fails: [[ABSENT, '--lab', 'crl'], 1, /File not found/],
  },
  'psc list': { words: () => ['--lab', 'quest', ...PRODUCTION], prints: /TABLE-1/, fails: noCell },
  'psc activate': {
    words: () => ['TABLE-1', '--lab', 'quest', ...PRODUCTION],
    prints: /TABLE-1 {2}active/,
    fails: [['TABLE-1'], 2, /--lab is required/],
  },
  'psc deactivate': {
    words: () => ['OTHER', '--lab', 'quest', ...PRODUCTION],
    prints: /OTHER {2}not found/,
    fails: [['TABLE-1'], 2, /--lab is required/],
  },
  'psc schedule import': {
    words: () => [
      writeFile(JSON.stringify([{ site_code: 'TABLE-1', ...allDay, places: 5, confirms: 'by_hand' }]), 'json'),
      '--lab',
      'quest',
      ...PRODUCTION,
    ],
    prints: /1 imported/,
    fails: [[writeFile('site_code,color\nTABLE-1,green'), '--lab', 'quest', ...PRODUCTION], 1, /Unrecognized column/],
  },
  'psc schedule list': {
    words: () => ['--lab', 'quest', ...PRODUCTION],
    prints: /TABLE-1 +\d+ minutes/,
    fails: [[], 2, /--lab is required/],
  },
  'psc schedule show': {
    words: () => ['TABLE-1', '--lab', 'quest', ...PRODUCTION],
    prints: /"site_code": "TABLE-1"/,
    fails: [['TABLE-1'], 2, /--lab is required/],
  },
  'psc schedule remove': {
    words: () => ['OTHER', '--lab', 'quest', ...PRODUCTION],
    prints: /OTHER {2}has no schedule/,
    fails: [['TABLE-1'], 2, /--lab is required/],
  },
  'psc booking list': { words: async () => (await booking(), PRODUCTION), prints: /quest TABLE-1/, fails: noCell },
  'psc booking confirm': { words: async () => [await booking(), ...PRODUCTION], prints: /^Confirmed/, fails: noId() },
  'psc booking refuse': { words: async () => [await booking(), ...PRODUCTION], prints: /^Rejected/, fails: noId() },
  'payors import': {
    words: () => [
      writeFile(
        'payor_code,name,first_line,city,state,zip,program,program_state\nTABLE,Plan,1 Example Street,Phoenix,AZ,85004,,',
      ),
    ],
    prints: /1 payors/,
    fails: [[ABSENT], 1, /Cannot read the file \(ENOENT\)/],
  },
  'icd import': {
    words: () => [writeFile('code,description\nE119,Type 2 diabetes mellitus without complications'), '--dry-run'],
    prints: /sandbox-us +\d+ of \d+ codes removed, [^]*Nothing was changed/,
    fails: [[writeFile('code,description\nE119,Fictional\n')], 1, /^drawbridge: The import removes [^]* Say --yes/],
  },
  'loinc import': {
    words: () => [loincFile(), '--dry-run'],
    prints: /0 of 0 terms removed, 1 added[^]*Nothing was changed/,
    fails: [[ABSENT], 1, /File not found/],
  },
  'phlebotomy import': {
    words: () => [staffFile('table-1'), ...PRODUCTION],
    prints: /1 imported/,
    fails: [[ABSENT, ...PRODUCTION], 1, /File not found/],
  },
  'phlebotomy list': {
    words: async () => (await importReference('table-2'), PRODUCTION),
    prints: /table-2 +active/,
    fails: noCell,
  },
  'phlebotomy remove': {
    words: async () => [await importReference('table-3'), ...PRODUCTION],
    prints: /table-3 {2}removed/,
    fails: [['nobody', ...PRODUCTION], 1, /Phlebotomist not found: nobody/],
  },

  backup: {
    startedIn: 'test/e2e/restore.test.ts',
    fails: [[folder], 1, /is not empty/, { DATA_DIR: ABSENT }],
  },
  restore: {
    startedIn: 'test/e2e/restore.test.ts',
    fails: [[folder], 1, /is not a whole backup/, { DATA_DIR: ABSENT }],
  },
  reset: {
    startedIn: 'test/e2e/reset.test.ts',
    fails: [['--yes'], 1, /No demo data found/, { DATA_DIR: ABSENT }],
  },
  'links list': { words: async () => (await linkedAccount(), SANDBOX), prints: /quest +live +ok/, fails: noCell },
  'links show': {
    words: async () => [await linkedAccount(), ...SANDBOX],
    prints: /^laboratory +quest\n/,
    fails: [[NOBODY, ...SANDBOX], 1, /has no link/],
  },
  'links set': {
    words: async () => [await linkedAccount(), 'text.decimal_mark=,', ...SANDBOX],
    prints: /^Link saved/,
    fails: [[NOBODY, 'text.decimal_mark', ...SANDBOX], 2, /must be an option and its value/],
  },
  'links export': {
    words: async () => [await linkedAccount(), ...SANDBOX],
    prints: /^\{\n {2}"text": \{\n/,
    fails: [[NOBODY, ...SANDBOX], 1, /has no link/],
  },
  'links import': {
    words: async () => [await account(), writeFile(JSON.stringify(profile), 'json'), ...SANDBOX],
    prints: /^Link saved/,
    fails: [[NOBODY, writeFile(JSON.stringify(profile), 'json'), ...SANDBOX], 2, /Lab account not found/],
  },
  'links compendium': {
    words: async () => [await linkedAccount(), writeFile('test,test_name\nTABLE-1,Fictional test\n'), ...SANDBOX],
    prints: /^new +test TABLE-1 {2}Fictional test\n/,
    fails: [[NOBODY, writeFile('test,test_name\nTABLE-1,Fictional test\n'), ...SANDBOX], 1, /has no link/],
  },
  'links presets': { words: () => [], prints: /^us-23 +HL7 2.3/m, fails: [['x'], 2, /Too many arguments/] },
  'links mode': {
    words: async () => [await linkedAccount(), 'test', ...SANDBOX],
    prints: /in mode test/,
    fails: [[NOBODY, 'test', ...SANDBOX], 2, /has no link/],
  },
  'links check': {
    words: async () => {
      const account = await linkedAccount({ results: 'mllp', listener: { addresses: ['192.0.2.1'], tls: false } })
      const listener = { host: '127.0.0.1', port: 2575, is_tls: false, reason: null }
      await saveListeners(commandData.team.db.queries, randomUUID(), [listener])
      return [account, ...SANDBOX]
    },
    prints: /^ok +profile/,
    fails: [[NOBODY, ...SANDBOX], 1, /has no link/],
  },
  'links trial': {
    words: async () => [await linkedAccount({}, 'test'), ...SANDBOX],
    prints: /^ 1 {2}plain +T\S+ +accepted +open/,
    fails: [[NOBODY, ...SANDBOX], 1, /has no link/],
  },
  'links trial-report': {
    words: async () => [await linkedAccount(), ...SANDBOX],
    prints: /^No trial was sent/,
    fails: [[NOBODY, ...SANDBOX], 1, /has no link/],
  },
  'links shadow': {
    words: async () => [await linkedAccount(), '--team', commandData.team.team, ...SANDBOX],
    prints: /^orders +0 same/,
    fails: [[NOBODY, '--team', NOBODY, ...SANDBOX], 1, /has no link/],
  },
  'links receive': {
    words: async () => [await linkedAccount(), writeFile('MSH|', 'hl7'), ...SANDBOX],
    prints: /failed, /,
    fails: [[NOBODY, writeFile('MSH|', 'hl7'), ...SANDBOX], 1, /has no link/],
  },
  'links messages': { words: async () => (await failedMessage(), SANDBOX), prints: /quest +in +failed/, fails: noCell },
  'links message': {
    words: async () => [await failedMessage(), ...SANDBOX],
    prints: /^\{"fictional":/,
    fails: [[NOBODY, ...SANDBOX], 1, /Message not found/],
  },
  'links replay': {
    words: async () => [await failedMessage(), ...SANDBOX],
    prints: /failed, /,
    fails: [[NOBODY, ...SANDBOX], 1, /Message not found/],
  },
  'links send-order': {
    words: async () => [await refusedOrder(), '--team', commandData.team.team, ...SANDBOX],
    prints: /^Order queued for its laboratory/,
    fails: [[NOBODY, '--team', NOBODY, ...SANDBOX], 1, /Team not found/],
  },
  'links resend': {
    words: async () => [await refusedMessage(), ...SANDBOX],
    prints: /^Message queued/,
    fails: [[NOBODY, ...SANDBOX], 1, /Message not found/],
  },
  'links issues': { words: async () => (await failedMessage(), SANDBOX), prints: /quest/, fails: noCell },
  'links done': {
    words: async () => [await failedMessage(), ...SANDBOX],
    prints: /^Message marked as done/,
    fails: [[NOBODY, ...SANDBOX], 1, /not found/],
  },
  'result list': {
    words: async () => (await createUnassignedResult(), SANDBOX),
    prints: /sandbox|NOBODYS|\d{4}-/,
    fails: noCell,
  },
  'result assign': {
    words: async () => [await createUnassignedResult(), '--team', commandData.team.team, ...SANDBOX],
    prints: /pending_customer_review/,
    fails: [[NOBODY, '--team', NOBODY, ...SANDBOX], 1, /Team not found/],
  },
  'result drop': {
    words: async () => [await createUnassignedResult(), ...SANDBOX],
    prints: /^Result deleted/,
    fails: [[NOBODY, ...SANDBOX], 1, /not found/],
  },
  'jobs list': { words: async () => (await failedJob(), SANDBOX), prints: /orders\.dispatch/, fails: noCell },
  'jobs retry': {
    words: async () => [await failedJob()],
    prints: /tried again now/,
    fails: [[NOBODY], 1, /None of these is a job that failed/],
  },
  'vault status': { words: () => [], prints: /^(No encryption key yet|key \w+ )/, fails: [['surplus'], 2, /Too many arguments/] },
  'vault rotate': { startedIn: 'test/e2e/vault.test.ts', fails: [['surplus'], 2, /Too many arguments/] },
  'access-log export': {
    words: () => PRODUCTION,
    prints: /"line":\{"at"/,
    fails: [['--from', 'x', ...PRODUCTION], 2, /must be a day/],
  },
  'access-log verify': {
    words: () => SANDBOX,
    prints: /^sandbox-us {2}\d+ lines.*none changed/,
    fails: [['--known', 'x', ...SANDBOX], 2, /--known must be/],
  },
  'mail list': {
    words: async () => (await writeMail(), EVERY_CELL),
    prints: /control .*waiting/,
    fails: [['x'], 2, /Too many arguments/],
  },
  'mail show': {
    words: async () => [await failedMail(), ...EVERY_CELL],
    prints: /Subject {2}A subject/,
    fails: [[NOBODY], 1, /Email not found/],
  },
  'mail failed': { words: async () => (await failedMail(), ['--cell', 'control']), prints: /EENVELOPE 550/, fails: noCell },
  'mail retry': { words: async () => [await failedMail(), ...EVERY_CELL], prints: /tried again now/, fails: [[], 2, /Usage: /] },
  'sms list': {
    words: async () => (await textMessage(), SANDBOX),
    prints: /sandbox-us {5}\S+ {2}\w+ {2}\+1/,
    fails: [PRODUCTION, 2, /--cell must be a sandbox/],
  },
  'sms show': {
    words: async () => [await textMessage()],
    prints: /^Cell {5}sandbox-us\n[^]*To {7}\+1[^]*\n\n./,
    fails: [[NOBODY], 1, /Text message not found/],
  },
  'text-messages list': { words: () => [], prints: /^There are none/, fails: noCell },
  'text-messages retry': { words: () => ['--all'], prints: /^There are none/, fails: [[], 2, /Usage: /] },

  'report explain': {
    words: async () => [writeFile(await glucoseReport(), 'pdf')],
    prints: /OUTCOME/,
    fails: [[ABSENT], 1, /cannot be read \(ENOENT\)/],
  },
  import: {
    words: async () => [
      writeFile(exportXml(record('HeartRate', 61, 'count/min', '2026-01-31 09:00:00 +0000')), 'xml'),
      '--user',
      await commandData.team.user(),
      ...commandData.remote,
    ],
    prints: /1 accepted/,
    fails: [[ABSENT], 2, /needs --user/],
  },
  status: {
    words: () => commandData.remote,
    prints: /ready\nKey {5}valid/,
    fails: [['--url', 'elsewhere'], 2, /--url must start with/],
  },
  keys: {
    words: () => [],
    env: () => ({ DATA_DIR: folder }),
    prints: /^production-eu/,
    fails: [[], 1, /No demo data found/, { DATA_DIR: ABSENT }],
  },
  'events list': {
    words: () => ['--type', 'labtest.order.created', ...commandData.remote],
    prints: /^\S+ {2}\S+ {2}labtest\.order\.created {2}received\.\S+ {2}\S+\n/,
    fails: [['--limit', '0'], 2, /--limit must be a number/],
  },
  'events show': {
    words: async () => {
      const [event] = JSON.parse(await runAndPrint('events', 'list', '--json', ...commandData.remote))
      return [event.id, ...commandData.remote]
    },
    prints: /"type": "\w+\./,
    fails: [['x'], 1, /No demo data found/, { DATA_DIR: ABSENT }],
  },
  'events resend': {
    words: async () => {
      const team = await createTestTeam()
      await endpoint(team, { url: (await receiver()).url })
      await emitEvents(team, ['labtest.order.created'])
      await delivery.drain()
      const [event] = JSON.parse(await runAndPrint('events', 'list', '--json', '--url', url, '--key', team.key))
      return [event.id, '--url', url, '--management-key', team.orgKey, '--org', team.org_id, '--team', team.team]
    },
    prints: /resent\n$/,
    fails: [['x', '--cell', 'moon'], 2, /--cell must be one of/],
  },
  'clock show': { words: () => commandData.remote, prints: /^\S+ {2}\d+ seconds ahead\n$/, fails: noCell },
  'clock advance': {
    words: () => ['60', ...commandData.remote],
    prints: /^\S+ {2}\d+ seconds ahead; \d+ jobs ran\n$/,
    fails: [['0', ...SANDBOX], 2, /must be a number of seconds/],
  },
  get: { words: () => ['/v3/lab_tests', ...commandData.remote], prints: /^\[\n {2}\{/, fails: noPath },
  post: {
    words: () => ['/v2/user', '--set', `client_user_id=${randomUUID()}`, ...commandData.remote],
    prints: /"user_id": /,
    fails: noPath,
  },
  put: { startedIn: 'src/cli/client/requests.test.ts', fails: noPath },
  patch: { startedIn: 'src/cli/client/requests.test.ts', fails: noPath },
  delete: { startedIn: 'src/cli/client/requests.test.ts', fails: noPath },
  open: { startedIn: 'test/e2e/start.test.ts', fails: noCell },
  logs: {
    words: async () => {
      await commandData.team.api.get('/v3/lab_tests')
      return ['--once', '--last', '1', ...commandData.remote]
    },
    prints: /^\d\d:\d\d:\d\d {2}200 +\d+ ms {2}GET +\/v3\/lab_tests\n$/,
    fails: [['--last', '201'], 2, /--last must be a number from 0 to 200/],
  },
  seed: {
    words: () => ['--users', '1', ...commandData.remote],
    prints: /^seed-1 {4}\S+ {2}order \S+ \w+, order \S+ \w+, fitbit\n$/,
    fails: [['--users', '41'], 2, /--users must be a number from 1 to 40/],
  },
  'lab-peer': {
    words: () => ['--listen', '127.0.0.1:0', '--results-to', '127.0.0.1:9'],
    prints: /^listening on 127\.0\.0\.1:\d+\n$/,
    fails: [['--results-to', 'nowhere'], 2, /--results-to must be HOST:PORT/],
  },
  listen: { words: () => commandData.remote, prints: /^$/, fails: [['--forward-to', 'x'], 2, /must be an http or https URL/] },
  trigger: { words: () => ['--list'], prints: /^labtest\.order\.created/, fails: [[], 2, /needs one type of event/] },

  completion: { words: () => ['bash'], prints: /complete -o default/, fails: [['csh'], 2, /must be one of bash, zsh, fish/] },
  openapi: { words: () => [], prints: /"openapi": "3/, fails: [['x'], 2, /Too many arguments/] },
  operations: { words: () => [], prints: /GET +\/v3\/lab_tests/, fails: [['x'], 2, /Too many arguments/] },
  version: { words: () => [], prints: /^\d+\.\d+\.\d+/, fails: [['x'], 2, /Too many arguments/] },
}
