// Commands on the database: tenants, laboratories, the import of catalogs and directories, and the work of an operator.
import {
  ABOUT_CELL,
  alwaysJson,
  commandsOf,
  type Group,
  json,
  type Leaf,
  oneCell,
  type OptionText,
  someCells,
} from './command-tree.ts'

const org = commandsOf(() => import('./commands/org.ts'))
const lab = commandsOf(() => import('./commands/lab.ts'))
const labAccount = commandsOf(() => import('./commands/lab-account.ts'))
const labTest = commandsOf(() => import('./commands/lab-test.ts'))

const account: OptionText[] = [
  oneCell,
  ['--account <number>', 'account number at the laboratory'],
  ['--status <status>', 'active, pending, suspended or ready_to_launch'],
  ['--flow <flow>', 'not_delegated, order_delegated, result_delegated or fully_delegated'],
  ['--name <text>', 'a name; "none" clears it'],
  ['--notes <text>', 'clinical notes of every order; "none" clears them'],
  ['--unit <text>...', 'a business unit; "none" clears all'],
  ['--billing <type=states>...', 'client_bill=all or client_bill=AZ,CA; "none" clears all'],
  ['--team <id>...', 'a team that may use it; "none" clears all'],
]

const identity: OptionText[] = [
  oneCell,
  ['--name <text>', 'the name of the laboratory'],
  ['--address <text>', 'its street and number'],
  ['--city <text>', 'its city'],
  ['--state <state>', 'its state; "none" in countries without states'],
  ['--zip <code>', 'its postal code'],
  ['--country <country>', 'its country, by code or English name (default: US)'],
  ['--clia <number>', 'its CLIA number; "none" clears it'],
  ['--accreditation <text>', 'another accreditation, as documents print it; "none" clears it'],
  ['--director <name>', 'its medical director'],
]

export const tenants: Group[] = [
  {
    usage: 'org',
    summary: 'organizations',
    commands: [
      org(
        'createOrganization',
        'create <name>',
        'create an organization and a management key',
        ['org create "Fictional Clinic"'],
        [json],
      ),
      org('listOrganizations', 'list', 'list the organizations, newest first', ['org list'], [json]),
      org('changePlan', 'plan <id> <plan>', 'set the plan of an organization: launch, grow or scale', ['org plan ORG_ID grow']),
      org('changeExpiry', 'expire <id> <day>', 'set the day from which an organization is read-only, or "never"', [
        'org expire ORG_ID 2030-01-31',
      ]),
    ],
  },
  {
    usage: 'team',
    summary: 'teams and their features',
    commands: [
      org(
        'createOrgTeam',
        'create <name>',
        'create a team in both cells of a region',
        ['team create "North" --org ORG_ID --region us'],
        [['--org <id>', 'its organization (required)'], ['--region <region>', 'us or eu (required)'], json],
      ),
      org(
        'listAllTeams',
        'list',
        'list the teams, newest first',
        ['team list --org ORG_ID'],
        [['--org <id>', 'only those of this organization'], json],
      ),
      org(
        'changeFeature',
        'feature <team> <name> [state]',
        'switch a feature or an option of a team on or off; "list" prints all of them',
        ['team feature TEAM_ID psc_scheduling off', 'team feature TEAM_ID list'],
        [['--json', 'with "list": print JSON']],
      ),
    ],
  },
  {
    usage: 'member',
    summary: 'members of organizations',
    commands: [
      commandsOf(() => import('./commands/member.ts'))(
        'createLink',
        'link <email>',
        'create a link with which a member sets a password, valid for a day',
        ['member link testa@example.com'],
      ),
    ],
  },
  {
    usage: 'key',
    summary: 'keys of teams and organizations',
    commands: [
      org(
        'createKey',
        'create',
        'create a key for a team in one cell, or a management key of an organization',
        ['key create --team TEAM_ID --cell production-us'],
        [
          ['--team <id>', 'the team'],
          oneCell,
          ['--org <id>', 'organization, instead of --team and --cell'],
          ['--label <text>', 'label that lists show'],
          ['--member <id>', 'member who uses the key, named in the access log'],
          json,
        ],
      ),
      org(
        'listKeys',
        'list',
        'list keys (masked) and their last use',
        ['key list --team TEAM_ID'],
        [['--team <id>', 'keys of a team'], ['--org <id>', 'management keys of an organization'], json],
      ),
      org('revoke', 'revoke <key>', 'revoke a key, by id or by value', ['key revoke KEY_ID']),
    ],
  },
]

export const laboratories: Group[] = [
  {
    usage: 'lab',
    summary: 'laboratories and their identity',
    commands: [
      lab(
        'printLabs',
        'list',
        'list the laboratories of a cell and what they need before they accept orders',
        ['lab list --cell production-us'],
        [oneCell, json],
      ),
      {
        usage: 'identity',
        summary: 'name, address, accreditation and director of a laboratory',
        commands: [
          lab(
            'setIdentity',
            'set <lab>',
            'set the identity that documents print; in production a laboratory accepts no orders without one',
            [
              'lab identity set manual --cell production-us --name "Fictional Laboratory" --address "1 Sample Way" --city Phoenix --state AZ --zip 85004 --clia 99D0000001 --director "Testa Example, MD"',
              'lab identity set manual --cell production-us --director "Dora Example, MD"',
            ],
            identity,
          ),
          lab(
            'showIdentity',
            'show <lab>',
            'print the identity of a laboratory as JSON',
            ['lab identity show manual --cell production-us'],
            [oneCell, alwaysJson],
          ),
        ],
      },
    ],
  },
  {
    usage: 'lab-account',
    summary: 'accounts with laboratories',
    commands: [
      labAccount(
        'create',
        'create',
        'create an account with a laboratory',
        ['lab-account create --cell production-us --lab quest --account 12345 --org ORG_ID'],
        [
          ['--lab <lab>', 'the laboratory (required)'],
          ['--org <id>', 'its organization (default: a platform account)'],
          ...account,
          json,
        ],
      ),
      labAccount(
        'update',
        'update <id>',
        'change an account',
        ['lab-account update ACCOUNT_ID --cell production-us --status active'],
        account,
      ),
      labAccount(
        'printAccounts',
        'list',
        'list the accounts of a cell',
        ['lab-account list --cell production-us --org ORG_ID'],
        [oneCell, ['--org <id>', 'only those of an organization'], json],
      ),
      labAccount(
        'printAccount',
        'show <id>',
        'print an account as JSON, in API format',
        ['lab-account show ACCOUNT_ID --cell production-us'],
        [oneCell, alwaysJson],
      ),
    ],
  },
  {
    usage: 'lab-test',
    summary: 'lab tests pending approval',
    commands: [
      labTest(
        'listTests',
        'list',
        'list lab tests pending approval, oldest first',
        ['lab-test list --cell production-us'],
        [oneCell, json],
      ),
      labTest(
        'approveTest',
        'approve <id>',
        'approve a lab test',
        ['lab-test approve LAB_TEST_ID --cell production-us'],
        [oneCell],
      ),
    ],
  },
]

const catalog = commandsOf(() => import('./commands/catalog.ts'))
const places = commandsOf(() => import('./commands/places.ts'))
const psc = commandsOf(() => import('./commands/psc.ts'))
const schedule = commandsOf(() => import('./commands/psc-schedule.ts'))
const booking = commandsOf(() => import('./commands/psc-booking.ts'))
const loinc = commandsOf(() => import('./commands/loinc.ts'))
const insurance = commandsOf(() => import('./commands/insurance.ts'))
const phlebotomy = commandsOf(() => import('./commands/phlebotomy.ts'))

const labOption: OptionText = ['--lab <lab>', 'the laboratory (required)']
const strict: OptionText = ['--strict', 'import nothing unless every entry is valid']
const orgOption: OptionText = ['--org <id>', "phlebotomists of this organization (default: the operator's, for every team)"]

/** What laboratories offer, for orders. */
export const catalogs: Group[] = [
  {
    usage: 'catalog',
    summary: 'labs, analytes and markers of a cell',
    commands: [
      catalog(
        'exportToText',
        'export',
        'print the catalog of a cell as a file',
        ['catalog export --cell production-us > catalog.json'],
        [oneCell],
      ),
      catalog(
        'importFile',
        'import <file>',
        'import a catalog file into a cell; on any error, import nothing and list the errors',
        ['catalog import catalog.json --cell production-us'],
        [oneCell],
      ),
    ],
  },
]

export const directories: Group[] = [
  {
    usage: 'places',
    summary: 'postal codes',
    commands: [
      places(
        'importPlaces',
        'import <file>',
        'replace the postal codes of the countries in a GeoNames file',
        ['places import DE.txt --dry-run', 'places import allCountries.txt --country FR --cell all --yes'],
        [
          ['--country <code>', 'only this country'],
          someCells,
          ['--dry-run', 'only print what would be removed'],
          ['--yes', 'remove postal codes missing from the file without asking'],
        ],
      ),
    ],
  },
  {
    usage: 'psc',
    summary: 'patient service centers, their schedules and bookings',
    commands: [
      psc(
        'importFile',
        'import <file>',
        'import sites from CSV or GeoJSON',
        ['psc import sites.csv --lab quest --cell production-us', 'psc import sites.geojson --lab labcorp --cell all --strict'],
        [labOption, strict, someCells],
      ),
      psc(
        'printSites',
        'list',
        'count the sites, or list those of a laboratory',
        ['psc list --lab quest --cell all'],
        [['--lab <lab>', 'the sites of this laboratory'], someCells, json],
      ),
      psc(
        'activate',
        'activate <code...>',
        'activate sites',
        ['psc activate CODE --lab quest --cell production-us'],
        [labOption, someCells],
      ),
      psc(
        'deactivate',
        'deactivate <code...>',
        'hide sites',
        ['psc deactivate CODE CODE --lab quest --cell all'],
        [labOption, someCells],
      ),
      {
        usage: 'schedule',
        summary: 'appointment schedules of sites',
        commands: [
          schedule(
            'importFile',
            'import <file>',
            'import schedules from CSV or JSON',
            ['psc schedule import schedules.csv --lab quest --cell production-us'],
            [labOption, strict, someCells],
          ),
          schedule(
            'printSchedules',
            'list',
            'list the sites that have a schedule',
            ['psc schedule list --lab quest'],
            [labOption, someCells, json],
          ),
          schedule(
            'exportSchedules',
            'show <code...>',
            'print schedules in the format of the import',
            ['psc schedule show PHX-1 --lab quest --cell production-us > phx-1.json'],
            [labOption, someCells, alwaysJson],
          ),
          schedule(
            'remove',
            'remove <code...>',
            'remove schedules; the sites accept no more appointments',
            ['psc schedule remove PHX-1 --lab quest --cell all'],
            [labOption, someCells],
          ),
        ],
      },
      {
        usage: 'booking',
        summary: 'bookings pending confirmation',
        commands: [
          booking(
            'printBookings',
            'list',
            'list bookings pending confirmation',
            ['psc booking list --cell production-us'],
            [someCells, json],
          ),
          booking(
            'confirm',
            'confirm <id>',
            'confirm a booking',
            ['psc booking confirm BOOKING_ID --cell production-us'],
            [oneCell],
          ),
          booking(
            'refuse',
            'refuse <id>',
            'refuse a booking and cancel its appointment',
            ['psc booking refuse BOOKING_ID --cell production-us'],
            [oneCell],
          ),
        ],
      },
    ],
  },
  {
    usage: 'payors',
    summary: 'the payor directory',
    commands: [
      insurance(
        'importPayorFile',
        'import <file>',
        'import payors from a CSV file into every cell; payors with the same code are updated',
        ['payors import FILE.csv'],
      ),
    ],
  },
  {
    usage: 'icd',
    summary: 'diagnosis codes for billing',
    commands: [
      insurance(
        'importDiagnosisFile',
        'import <file>',
        "replace the diagnosis codes from CSV or CMS's icd10cm-order-YYYY.txt",
        ['icd import icd10cm-order-2026.txt --dry-run', 'icd import icd10cm-order-2026.txt --yes'],
        [
          ['--dry-run', 'only print what would change'],
          ['--yes', 'remove codes missing from the file without asking'],
        ],
      ),
    ],
  },
  {
    usage: 'loinc',
    summary: 'the full LOINC release for lab reports',
    commands: [
      loinc(
        'importLoincFile',
        'import <file>',
        'replace the laboratory terms of every cell from LoincTable/Loinc.csv',
        ['loinc import Loinc.csv --dry-run', 'loinc import Loinc.csv --yes'],
        [
          ['--dry-run', 'only print what would change'],
          ['--yes', 'remove terms missing from the file without asking'],
        ],
      ),
    ],
  },
  {
    usage: 'phlebotomy',
    summary: 'phlebotomists for at-home appointments',
    commands: [
      phlebotomy(
        'importFile',
        'import <file>',
        'import phlebotomists from a JSON file',
        ['phlebotomy import staff.json --org ORG_ID --cell production-us'],
        [orgOption, strict, someCells],
      ),
      phlebotomy('printStaff', 'list', 'list phlebotomists', ['phlebotomy list --org ORG_ID'], [orgOption, someCells, json]),
      phlebotomy(
        'remove',
        'remove <reference...>',
        'remove phlebotomists and print the outcome for each cell',
        ['phlebotomy remove north-team --org ORG_ID'],
        [orgOption, someCells],
      ),
    ],
  },
]

const mailCells: OptionText = ['--cell <cell>', `cell, "control", or "all" ${ABOUT_CELL}`]

const deadLetters = commandsOf(() => import('./commands/dead-letters.ts'))
const vault = commandsOf(() => import('./commands/vault.ts'))
const accessLog = commandsOf(() => import('./commands/access-log.ts'))
const mail = commandsOf(() => import('./commands/mail.ts'))
const sms = commandsOf(() => import('./commands/sms.ts'))

/** The commands that list and retry the failed rows of a queue. */
const retryCommands = (
  [list, listWord]: [Parameters<typeof deadLetters>[0], word: string],
  retry: Parameters<typeof deadLetters>[0],
  [word, rows]: [word: string, rows: string],
  { nameOptions = [], cells = someCells }: { nameOptions?: OptionText[]; cells?: OptionText } = {},
): Leaf[] => [
  deadLetters(
    list,
    listWord,
    `list ${rows} that failed permanently`,
    [`${word} ${listWord} --retrying --cell all`],
    [['--retrying', 'list failures that will be retried'], cells, json],
  ),
  deadLetters(
    retry,
    'retry [id...]',
    `retry ${rows} now, with all their attempts`,
    [`${word} retry ID`, `${word} retry --all${nameOptions.length ? ' --name orders.dispatch' : ''} --cell production-us`],
    [['--all', `all that failed permanently`], ...nameOptions, cells, json],
  ),
]

export const operations: Group[] = [
  {
    usage: 'jobs',
    summary: 'jobs that failed',
    commands: retryCommands(['listJobs', 'list'], 'retryJobs', ['jobs', 'jobs'], {
      nameOptions: [['--name <job>', 'with --all: only jobs of this name']],
    }),
  },
  {
    usage: 'vault',
    summary: 'the encryption keys of stored secrets',
    commands: [
      vault('status', 'status', 'show how many secrets use each encryption key', ['vault status'], [json]),
      vault('rotate', 'rotate', 're-encrypt every secret with the newest key (online)', ['vault rotate']),
    ],
  },
  {
    usage: 'access-log',
    summary: "who saw and changed patients' data",
    commands: [
      accessLog(
        'exportLog',
        'export',
        'print the access log as JSON Lines',
        ['access-log export --cell production-us --from 2026-01-01 --until 2026-01-31'],
        [
          oneCell,
          ['--from <day>', 'first day'],
          ['--until <day>', 'last day'],
          ['--user <id>', 'only lines about this user'],
          ['--team <id>', 'only lines about this team'],
        ],
      ),
      accessLog(
        'verify',
        'verify',
        'verify the log; on failure print the first invalid line and exit with 1',
        ['access-log verify --cell all', 'access-log verify --cell production-us --known LINE:HASH'],
        [
          someCells,
          ['--from <day>', 'do not check earlier days'],
          ['--known <line:hash>...', 'check that the log contains a line that was recorded elsewhere'],
        ],
      ),
    ],
  },
  {
    usage: 'mail',
    summary: 'emails and their state',
    commands: [
      mail('printOutbox', 'list', 'list the newest mails', ['mail list --cell control'], [mailCells, json]),
      mail(
        'printMail',
        'show <id>',
        'print an email; its text is deleted once it is sent',
        ['mail show MAIL_ID --cell all'],
        [mailCells, json],
      ),
      ...retryCommands(['listMails', 'failed'], 'retryMails', ['mail', 'mails'], { cells: mailCells }),
    ],
  },
  {
    usage: 'sms',
    summary: 'text messages of sandboxes',
    commands: [
      sms(
        'printMessages',
        'list',
        'list the newest text messages of sandboxes',
        ['sms list --cell sandbox-eu'],
        [someCells, json],
      ),
      sms('printMessage', 'show <id>', 'print a text message', ['sms show MESSAGE_ID'], [someCells, json]),
    ],
  },
  {
    usage: 'text-messages',
    summary: 'text messages to patients that failed',
    commands: retryCommands(['listTextMessages', 'list'], 'retryTextMessages', ['text-messages', 'text messages']),
  },
]
