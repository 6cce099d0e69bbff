// Every command. Its implementation is imported when it runs: `start`, `serve` and `work` import no other command, and help imports
// nothing.
import { commandsOf, UsageError, type Group, type Leaf, type OptionText } from './command-tree.ts'
import { imports } from './command-list-imports.ts'
import { tenants } from './command-list-tenants.ts'
import { firstSignal, print } from './terminal.ts'

const stdout = (text: string): void => void process.stdout.write(text)

const role = (usage: 'start' | 'serve' | 'work', summary: string, about: string): Leaf => ({
  usage,
  summary,
  about,
  examples: [usage],
  run: async () => {
    // The modules of the server take a second to load: invalid settings are reported before.
    const { readConfig } = await import('../platform/config/config.ts')
    const config = readConfig(process.env)
    const { run } = await import('./commands/start.ts')
    await run(config, { serve: usage !== 'work', work: usage !== 'serve' })
  },
})

const remote: OptionText[] = [
  ['--cell <cell>', 'the cell (default: sandbox-us)'],
  ['--url <url>', 'the server (default: that of DATA_DIR; also DRAWBRIDGE_URL)'],
  ['--key <key>', 'the key for it (DRAWBRIDGE_KEY)'],
]

const running: Leaf[] = [
  {
    usage: 'listen',
    summary: 'print events of a team as they occur',
    options: [
      ['--forward-to <url>', 'forward the events to this URL, signed'],
      ['--events <types>', 'only these types, with commas between them'],
      ['--secret <secret>', 'signing secret, whsec_… (default: generated per run)'],
      ...remote,
    ],
    examples: ['listen', 'listen --forward-to http://localhost:3000/hook', 'listen --events labtest.order.created'],
    run: async ({ values }) => {
      const stopping = new AbortController()
      void firstSignal().then(() => stopping.abort())
      const { listen } = await import('./client/listen.ts')
      await listen(values, { env: process.env, out: stdout, signal: stopping.signal })
    },
  },
  {
    usage: 'trigger [type]',
    summary: 'trigger an event of this type in a running sandbox',
    options: [['--list', 'list event types that can be triggered'], ...remote],
    examples: ['trigger labtest.result.critical', 'trigger --list'],
    run: async (typed) => (await import('./client/trigger.ts')).trigger(typed, { env: process.env, out: stdout }),
  },
]

const here = { env: process.env, out: stdout }

const looking: (Leaf | Group)[] = [
  {
    usage: 'status',
    summary: 'show whether a running server answers, is ready, and takes the key',
    about: 'With --env it prints the address and the key for the environment of a shell, and asks the server nothing.',
    options: [['--env', 'print DRAWBRIDGE_URL and DRAWBRIDGE_KEY, to be sourced'], ['--json', 'print JSON'], ...remote],
    examples: ['status', 'status --cell sandbox-eu', 'status --env > drawbridge.env'],
    run: async ({ values }) => (await import('./client/status.ts')).status(values, here),
  },
  {
    usage: 'keys',
    summary: "print the keys of the demo, which 'start' created",
    options: [['--json', 'print JSON']],
    examples: ['keys', 'keys --json'],
    run: async ({ values }) => (await import('./client/status.ts')).keys(values, here),
  },
  {
    usage: 'events',
    summary: 'the events of a team',
    commands: [
      {
        usage: 'list',
        summary: 'list the newest events, newest first',
        options: [
          ['--type <type>', 'only this type'],
          ['--object <id>', 'only events about this object'],
          ['--limit <count>', 'how many (default: 20, at most 1000)'],
          ['--json', 'print whole events as JSON'],
          ...remote,
        ],
        examples: ['events list', 'events list --type labtest.order.created --limit 5', 'events list --object ORDER_ID --json'],
        run: async (typed) => (await import('./client/events.ts')).list(typed, here),
      },
      {
        usage: 'show <id>',
        summary: 'print an event as JSON',
        options: remote,
        examples: ['events show EVENT_ID'],
        run: async (typed) => (await import('./client/events.ts')).show(typed, here),
      },
    ],
  },
]

const files: Leaf[] = [
  {
    usage: 'import <file>',
    summary: "import a user's file of health data: an Apple Health export, FIT, TCX or GPX",
    about: 'The file is sent in parts; the server imports it in the background, and its progress is printed until it ends.',
    options: [['--user <id>', 'the user (required)'], ...remote],
    examples: ['import --user USER_ID export.zip', 'import --user USER_ID run.fit --url https://lab.example.org --key sk_us_…'],
    run: async (typed) => (await import('./client/import-file.ts')).importFile(typed, { env: process.env, out: stdout }),
  },
]

const reports: Group = {
  usage: 'report',
  summary: 'how lab reports are read',
  commands: [
    {
      usage: 'explain <file>',
      summary: 'print what each stage of reading makes of a PDF or an image',
      about:
        'Pages, lines, columns, rows, LOINC candidates, findings and results. It needs no server and sends nothing anywhere. What it prints and draws is what the report says of its patient. It ends with 1 for a file with which a job fails.',
      options: [
        ['--out <folder>', 'draw each page with the boxes of the stages into this folder, as PNG'],
        ['--json', 'print JSON'],
      ],
      examples: ['report explain report.pdf', 'report explain report.pdf --out pictures', 'report explain scan.png --json'],
      run: async (typed) => {
        const { readConfig } = await import('../platform/config/config.ts')
        const { report_ocr_models: ocr_models } = readConfig(process.env)
        await (await import('./commands/report.ts')).explainReport(typed, { ocr_models, print })
      },
    },
  ],
}

const cell: OptionText = ['--cell <cell>', 'only this cell']
const requiredCell: OptionText = ['--cell <cell>', 'the cell (required)']

const deadLetters = commandsOf(() => import('./commands/dead-letters.ts'))
const vault = commandsOf(() => import('./commands/vault.ts'))
const accessLog = commandsOf(() => import('./commands/access-log.ts'))
const mail = commandsOf(() => import('./commands/mail.ts'))
const result = commandsOf(() => import('./commands/result.ts'))

/** The commands that list and retry the failed rows of a queue. */
const failed = (
  [list, listWord]: [Parameters<typeof deadLetters>[0], word: string],
  retry: Parameters<typeof deadLetters>[0],
  [word, rows]: [word: string, rows: string],
  named: OptionText[] = [],
): Leaf[] => [
  deadLetters(
    list,
    listWord,
    `list ${rows} that failed permanently`,
    [`${word} ${listWord}`, `${word} ${listWord} --retrying --cell production-us`],
    [['--retrying', 'those that failed and will be retried'], cell, ['--json', 'print JSON']],
  ),
  deadLetters(
    retry,
    'retry [id...]',
    `retry ${rows} now, with all their attempts`,
    [`${word} retry ID`, `${word} retry --all${named.length ? ' --name orders.dispatch' : ''} --cell production-us`],
    [['--all', `every one that failed permanently`], ...named, cell, ['--json', 'print JSON']],
  ),
]

const printed: Leaf[] = [
  {
    usage: 'completion <shell>',
    summary: 'print a script by which a shell completes commands and options: bash, zsh or fish',
    examples: ['completion bash > ~/.local/share/bash-completion/completions/drawbridge', 'completion fish'],
    run: async ({ args: [shell] }) => {
      const { completionScript, shells } = await import('./completion.ts')
      const known = shells.find((name) => name === shell)
      if (!known) throw new UsageError(`The shell must be one of ${shells.join(', ')}.`)
      await print(completionScript(tree, known))
    },
  },
  {
    usage: 'openapi',
    summary: 'print the OpenAPI document',
    examples: ['openapi > openapi.json'],
    run: async () => {
      const [{ contents }, { describeApi }] = await Promise.all([import('../app/contents.ts'), import('../app/describe-api.ts')])
      const { version } = await import('../platform/runtime/version.ts')
      await print(`${JSON.stringify(describeApi(contents, version), null, 2)}\n`)
    },
  },
  {
    usage: 'operations',
    summary: 'print one line per operation',
    examples: ['operations'],
    run: async () => {
      const [{ contents }, { listOperations }] = await Promise.all([
        import('../app/contents.ts'),
        import('../platform/http/openapi.ts'),
      ])
      await print(listOperations(contents.operations))
    },
  },
  {
    usage: 'version',
    summary: 'print the version',
    examples: ['version'],
    run: async () => print(`${(await import('../platform/runtime/version.ts')).version}\n`),
  },
]

export const tree: Group = {
  usage: 'drawbridge',
  summary: 'self-hosted server for laboratory testing and health data',
  about:
    'Settings are read from environment variables; see docs/OPERATING.md. Commands end with 0, 1 (failed) or 2 (wrong usage).',
  commands: [
    role(
      'start',
      'run database migrations, then server and worker in one process',
      'This is "npm start". Without DATABASE_URL the database is in DATA_DIR; the first start makes it.',
    ),
    role('serve', 'run the server alone', 'The database must be there and migrated.'),
    role('work', 'run the worker alone', 'The database must be there and migrated.'),
    {
      usage: 'migrate',
      summary: 'run database migrations and exit',
      about: 'With DATABASE_URL or in the folder that DATA_DIR names; there the first run makes the database.',
      examples: ['migrate'],
      run: async () => (await import('./commands/start.ts')).migrateOnly(),
    },
    ...tenants,
    ...imports,
    {
      usage: 'result',
      summary: 'list incoming results without a team',
      commands: [
        result('list', 'list', 'list them', ['result list --cell production-us'], [requiredCell]),
        result(
          'assign',
          'assign <id>',
          'assign a result to a team and match it',
          ['result assign RESULT_ID --team TEAM_ID --cell production-us'],
          [requiredCell, ['--team <id>', 'the team (required)']],
        ),
        result(
          'drop',
          'drop <id>',
          'delete an unassigned result',
          ['result drop RESULT_ID --cell production-us'],
          [requiredCell],
        ),
      ],
    },
    {
      usage: 'jobs',
      summary: 'jobs that failed',
      commands: failed(
        ['listJobs', 'list'],
        'retryJobs',
        ['jobs', 'jobs'],
        [['--name <job>', 'with --all: only jobs of this name']],
      ),
    },
    {
      usage: 'vault',
      summary: 'the encryption keys of stored secrets',
      commands: [
        vault('status', 'status', 'show how many secrets use each encryption key', ['vault status']),
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
            ['--cell <cell>', 'of this cell (required)'],
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
          ['access-log verify', 'access-log verify --cell production-us --known LINE:HASH'],
          [cell, ['--known <line:hash>...', 'check that the log still has a line that was recorded elsewhere']],
        ),
      ],
    },
    {
      usage: 'mail',
      summary: 'emails and their state',
      commands: [
        mail('list', 'list', 'list the newest mails', ['mail list']),
        mail('show', 'show <id>', 'print show an email; the text is deleted once sent', ['mail show MAIL_ID']),
        ...failed(['listMails', 'failed'], 'retryMails', ['mail', 'mails']),
      ],
    },
    {
      usage: 'text-messages',
      summary: 'text messages to patients that failed',
      commands: failed(['listTextMessages', 'list'], 'retryTextMessages', ['text-messages', 'text messages']),
    },
    reports,
    ...files,
    ...looking,
    ...running,
    ...printed,
  ],
}
