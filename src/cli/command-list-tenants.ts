// Commands for organizations, teams, keys, lab accounts and lab tests.
import { alwaysJson, commandsOf, oneCell, type Group, type OptionText } from './command-tree.ts'

const org = commandsOf(() => import('./commands/org.ts'))
const lab = commandsOf(() => import('./commands/lab.ts'))
const labAccount = commandsOf(() => import('./commands/lab-account.ts'))
const labTest = commandsOf(() => import('./commands/lab-test.ts'))

const json: OptionText = ['--json', 'print JSON']

const account: OptionText[] = [
  oneCell,
  ['--account <number>', 'the number of the account at the lab'],
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
        ['org create "Fictional Clinic"', 'org create "Fictional Clinic" --json'],
        [json],
      ),
      org('listOrganizations', 'list', 'list the organizations, newest first', ['org list', 'org list --json'], [json]),
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
        ['team list', 'team list --org ORG_ID --json'],
        [['--org <id>', 'only those of this organization'], json],
      ),
      org(
        'changeFeature',
        'feature <team> <name> [state]',
        'switch a feature or an option of a team on or off; with "list", print which there are',
        ['team feature TEAM_ID psc_scheduling off', 'team feature TEAM_ID list'],
        [['--json', 'with "list": print JSON']],
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
        'make a key for a team in one cell, or one that controls an organization',
        ['key create --team TEAM_ID --cell production-us'],
        [
          ['--team <id>', 'the team'],
          oneCell,
          ['--org <id>', 'the organization, in place of --team and --cell'],
          ['--label <text>', 'a label for lists of keys'],
          ['--member <id>', 'the member of the organization who uses the key: the access log names this person'],
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
        'list',
        'list',
        'list the laboratories of a cell and what they lack to take orders',
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
            'set the identity that documents print; without one a laboratory takes no orders in production',
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
        'make an account with a laboratory',
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
        'list',
        'list',
        'list the accounts of a cell',
        ['lab-account list --cell production-us --org ORG_ID'],
        [oneCell, ['--org <id>', 'only those of an organization'], json],
      ),
      labAccount(
        'show',
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
