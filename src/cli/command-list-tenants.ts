// Commands for organizations, teams, keys, lab accounts and lab tests.
import type { Group, Leaf } from './command-tree.ts'

type Options = NonNullable<Leaf['options']>

const leaf = (usage: string, summary: string, example: string, options: Options = []): Leaf => ({
  usage,
  summary,
  options,
  examples: [example],
  onCells: async (cells, typed) => (await import('./commands/org.ts')).runOrgCommand(cells, typed),
})

const account: Options = [
  ['--cell <cell>', 'the cell (required)'],
  ['--account <number>', 'the number of the account at the lab'],
  ['--status <status>', 'active, pending, suspended or ready_to_launch'],
  ['--flow <flow>', 'not_delegated, order_delegated, result_delegated or fully_delegated'],
  ['--name <text>', 'a name; "none" clears it'],
  ['--notes <text>', 'clinical notes of every order; "none" clears them'],
  ['--unit <text>...', 'a business unit; "none" clears all'],
  ['--billing <type=states>...', 'client_bill=all or client_bill=AZ,CA; "none" clears all'],
  ['--team <id>...', 'a team that may use it; "none" clears all'],
]

const accountLeaf = (usage: string, summary: string, example: string, options: Options): Leaf => ({
  usage,
  summary,
  options,
  examples: [example],
  onCells: async (cells, typed) => (await import('./commands/lab-account.ts')).labAccountCommand(cells, typed),
})

const testLeaf = (usage: string, summary: string, example: string): Leaf => ({
  usage,
  summary,
  options: [['--cell <cell>', 'the cell (required)']],
  examples: [example],
  onCells: async (cells, typed) => (await import('./commands/lab-test.ts')).labTestCommand(cells, typed),
})

export const tenants: Group[] = [
  {
    usage: 'org',
    summary: 'organizations',
    commands: [
      leaf('create <name>', 'create an organization and a management key', 'org create "Fictional Clinic"'),
      leaf('plan <id> <plan>', 'set the plan of an organization: launch, grow or scale', 'org plan ORG_ID grow'),
      leaf(
        'expire <id> <day>',
        'set the day from which an organization is read-only, or "never"',
        'org expire ORG_ID 2030-01-31',
      ),
    ],
  },
  {
    usage: 'team',
    summary: 'teams and their features',
    commands: [
      leaf('create <name>', 'create a team in both cells of a region', 'team create "North" --org ORG_ID --region us', [
        ['--org <id>', 'its organization (required)'],
        ['--region <region>', 'us or eu (required)'],
      ]),
      leaf(
        'feature <team> <name> [state]',
        'switch a feature or an option of a team on or off; with "list", print which there are',
        'team feature TEAM_ID psc_scheduling off',
      ),
    ],
  },
  {
    usage: 'key',
    summary: 'keys of teams and organizations',
    commands: [
      leaf(
        'create',
        'make a key for a team in one cell, or one that controls an organization',
        'key create --team TEAM_ID --cell production-us',
        [
          ['--team <id>', 'the team'],
          ['--cell <cell>', 'with --team: the cell'],
          ['--org <id>', 'the organization, in place of --team and --cell'],
          ['--label <text>', 'a label for lists of keys'],
        ],
      ),
      leaf('list', 'list keys (masked) and their last use', 'key list --team TEAM_ID', [
        ['--team <id>', 'keys of a team'],
        ['--org <id>', 'management keys of an organization'],
      ]),
      leaf('revoke <key>', 'revoke a key, by id or by value', 'key revoke KEY_ID'),
    ],
  },
  {
    usage: 'lab-account',
    summary: 'accounts with laboratories',
    commands: [
      accountLeaf(
        'create',
        'make an account with a laboratory',
        'lab-account create --cell production-us --lab quest --account 12345 --org ORG_ID',
        [
          ['--lab <lab>', 'the laboratory (required)'],
          ['--org <id>', 'its organization (default: a platform account)'],
          ...account,
        ],
      ),
      accountLeaf(
        'update <id>',
        'change an account',
        'lab-account update ACCOUNT_ID --cell production-us --status active',
        account,
      ),
      accountLeaf('list', 'list the accounts of a cell', 'lab-account list --cell production-us --org ORG_ID', [
        ['--cell <cell>', 'the cell (required)'],
        ['--org <id>', 'only those of an organization'],
      ]),
      accountLeaf('show <id>', 'print an account as JSON, in API format', 'lab-account show ACCOUNT_ID --cell production-us', [
        ['--cell <cell>', 'the cell (required)'],
      ]),
    ],
  },
  {
    usage: 'lab-test',
    summary: 'lab tests pending approval',
    commands: [
      testLeaf('list', 'list lab tests pending approval, oldest first', 'lab-test list --cell production-us'),
      testLeaf('approve <id>', 'approve a lab test', 'lab-test approve LAB_TEST_ID --cell production-us'),
    ],
  },
]
