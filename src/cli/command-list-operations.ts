// Commands of the operator: failed jobs and messages, results without a team, keys of encryption, the access log.
import { ABOUT_CELL, commandsOf, oneCell, someCells, type Group, type Leaf, type OptionText } from './command-tree.ts'

const json: OptionText = ['--json', 'print JSON']
const mailCells: OptionText = ['--cell <cell>', `the cell, "control", or "all" for both and every cell ${ABOUT_CELL}`]

const deadLetters = commandsOf(() => import('./commands/dead-letters.ts'))
const vault = commandsOf(() => import('./commands/vault.ts'))
const accessLog = commandsOf(() => import('./commands/access-log.ts'))
const mail = commandsOf(() => import('./commands/mail.ts'))
const sms = commandsOf(() => import('./commands/sms.ts'))
const result = commandsOf(() => import('./commands/result.ts'))

/** The commands that list and retry the failed rows of a queue. */
const failed = (
  [list, listWord]: [Parameters<typeof deadLetters>[0], word: string],
  retry: Parameters<typeof deadLetters>[0],
  [word, rows]: [word: string, rows: string],
  { named = [], cells = someCells }: { named?: OptionText[]; cells?: OptionText } = {},
): Leaf[] => [
  deadLetters(
    list,
    listWord,
    `list ${rows} that failed permanently`,
    [`${word} ${listWord} --cell all`, `${word} ${listWord} --retrying --cell production-us`],
    [['--retrying', 'those that failed and will be retried'], cells, json],
  ),
  deadLetters(
    retry,
    'retry [id...]',
    `retry ${rows} now, with all their attempts`,
    [`${word} retry ID`, `${word} retry --all${named.length ? ' --name orders.dispatch' : ''} --cell production-us`],
    [['--all', `every one that failed permanently`], ...named, cells, json],
  ),
]

export const results: Group[] = [
  {
    usage: 'result',
    summary: 'list incoming results without a team',
    commands: [
      result('list', 'list', 'list them', ['result list --cell production-us'], [oneCell, json]),
      result(
        'assign',
        'assign <id>',
        'assign a result to a team and match it',
        ['result assign RESULT_ID --team TEAM_ID --cell production-us'],
        [oneCell, ['--team <id>', 'the team (required)']],
      ),
      result('drop', 'drop <id>', 'delete an unassigned result', ['result drop RESULT_ID --cell production-us'], [oneCell]),
    ],
  },
]

export const operations: Group[] = [
  {
    usage: 'jobs',
    summary: 'jobs that failed',
    commands: failed(['listJobs', 'list'], 'retryJobs', ['jobs', 'jobs'], {
      named: [['--name <job>', 'with --all: only jobs of this name']],
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
        "print who saw and changed which patients' data, as JSON Lines",
        ['access-log export --cell production-us --from 2026-01-01 --until 2026-01-31'],
        [
          oneCell,
          ['--from <day>', 'only from this day on'],
          ['--until <day>', 'only until this day'],
          ['--user <id>', 'only lines about this user'],
          ['--team <id>', 'only lines about this team'],
        ],
      ),
      accessLog(
        'verify',
        'verify',
        'verify the log; on failure print the first invalid line and exit with 1',
        ['access-log verify --cell all', 'access-log verify --cell production-us --known LINE:HASH'],
        [someCells, ['--known <line:hash>...', 'check that the log still has a line that was recorded elsewhere']],
      ),
    ],
  },
  {
    usage: 'mail',
    summary: 'emails and their state',
    commands: [
      mail(
        'list',
        'list',
        'list the newest mails',
        ['mail list --cell all', 'mail list --cell control --json'],
        [mailCells, json],
      ),
      mail(
        'show',
        'show <id>',
        'print an email; its text is deleted once it is sent',
        ['mail show MAIL_ID --cell all'],
        [mailCells, json],
      ),
      ...failed(['listMails', 'failed'], 'retryMails', ['mail', 'mails'], { cells: mailCells }),
    ],
  },
  {
    usage: 'sms',
    summary: 'text messages that a sandbox has written to its patients',
    commands: [
      sms(
        'list',
        'list',
        'list the newest text messages of sandboxes',
        ['sms list', 'sms list --cell sandbox-eu'],
        [someCells, json],
      ),
      sms('show', 'show <id>', 'print a text message', ['sms show MESSAGE_ID'], [someCells, json]),
    ],
  },
  {
    usage: 'text-messages',
    summary: 'text messages to patients that failed',
    commands: failed(['listTextMessages', 'list'], 'retryTextMessages', ['text-messages', 'text messages']),
  },
]
