// Every command. Its implementation is imported when it runs: `start`, `serve` and `work` import no other command, and help imports
// nothing.
import { commandsOf, UsageError, type Group, type Leaf, type OptionText } from './command-tree.ts'
import { imports } from './command-list-imports.ts'
import { tenants } from './command-list-tenants.ts'
import { version } from '../platform/runtime/version.ts'
import { looking, running, userFiles } from './command-list-client.ts'

const json: OptionText = ['--json', 'print JSON']

const role = (usage: 'start' | 'serve' | 'work', summary: string, about: string): Leaf => ({
  usage,
  summary,
  about,
  examples: [usage],
  run: async (_, { env }) => {
    // The modules of the server take a second to load: invalid settings are reported before.
    const { readConfig } = await import('../platform/config/config.ts')
    const config = readConfig(env)
    const { run } = await import('./commands/start.ts')
    await run(config, { serve: usage !== 'work', work: usage !== 'serve' })
  },
})

const reports: Group = {
  usage: 'report',
  summary: 'how lab reports are read',
  commands: [
    {
      usage: 'explain <file>',
      summary: 'print what each stage of reading makes of a PDF or an image',
      about:
        'Pages, lines, columns, rows, LOINC candidates, findings and results. It needs no server and sends nothing anywhere. What it prints and draws is what the report says of its patient. It ends with 1 for a file with which a job fails.',
      options: [['--out <folder>', 'draw each page with the boxes of the stages into this folder, as PNG'], json],
      examples: ['report explain report.pdf', 'report explain report.pdf --out pictures', 'report explain scan.png --json'],
      run: async (typed, { env, print }) => {
        const { readConfig } = await import('../platform/config/config.ts')
        const { report_ocr_models: ocr_models } = readConfig(env)
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
const sms = commandsOf(() => import('./commands/sms.ts'))
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
    [['--retrying', 'those that failed and will be retried'], cell, json],
  ),
  deadLetters(
    retry,
    'retry [id...]',
    `retry ${rows} now, with all their attempts`,
    [`${word} retry ID`, `${word} retry --all${named.length ? ' --name orders.dispatch' : ''} --cell production-us`],
    [['--all', `every one that failed permanently`], ...named, cell, json],
  ),
]

const printed: Leaf[] = [
  {
    usage: 'completion <shell>',
    summary: 'print a script by which a shell completes commands and options: bash, zsh or fish',
    examples: ['completion bash > ~/.local/share/bash-completion/completions/drawbridge', 'completion fish'],
    run: async ({ args: [shell] }, { print }) => {
      const { completionScript, shells } = await import('./completion.ts')
      const known = shells.find((name) => name === shell)
      if (!known) throw new UsageError(`The shell must be one of ${shells.join(', ')}.`)
      await print(completionScript(tree, known))
    },
  },
  {
    usage: 'openapi',
    summary: 'print the OpenAPI document, which is JSON',
    examples: ['openapi > openapi.json'],
    run: async (_, { print }) => {
      const [{ contents }, { describeApi }] = await Promise.all([import('../app/contents.ts'), import('../app/describe-api.ts')])
      await print(`${JSON.stringify(describeApi(contents, version), null, 2)}\n`)
    },
  },
  {
    usage: 'operations',
    summary: 'print one line per operation',
    options: [json],
    examples: ['operations', 'operations --json'],
    run: async ({ values }, { print }) => {
      const [{ contents }, { listOperations }] = await Promise.all([
        import('../app/contents.ts'),
        import('../platform/http/openapi.ts'),
      ])
      const listed = contents.operations.map(({ id, method, path }) => ({ id, method, path }))
      if (values.json) return print(`${JSON.stringify(listed, null, 2)}\n`)
      await print(listOperations(contents.operations))
    },
  },
  {
    usage: 'version',
    summary: 'print the version',
    examples: ['version'],
    run: async (_, { print }) => print(`${version}\n`),
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
      run: async (_, { env, print }) => (await import('./commands/start.ts')).migrateOnly(env, print),
    },
    {
      usage: 'backup <folder>',
      summary: 'copy the bundled database into a new folder, while everything runs',
      about: 'The encryption keys are not in it: keep them in another place.',
      options: [json],
      examples: ['backup /backups/2026-01-31', 'backup /backups/2026-01-31 --json'],
      run: async (typed, context) => (await import('./commands/backup.ts')).backUp(typed, context),
    },
    {
      usage: 'restore <folder>',
      summary: 'put the database of a backup into DATA_DIR, which must have none',
      about: 'Stop Drawbridge, and move the folder "postgres" of DATA_DIR away first. The next start continues from the backup.',
      examples: ['restore /backups/2026-01-31'],
      run: async (typed, context) => (await import('./commands/backup.ts')).restore(typed, context),
    },
    {
      usage: 'reset',
      summary: 'make the demo again as its first start makes it, with the same keys',
      about: 'It deletes the bundled database of the demo. Stop the server first.',
      options: [['--yes', 'delete without asking']],
      examples: ['reset', 'reset --yes'],
      run: async (typed, context) => (await import('./commands/reset.ts')).reset(typed, context),
    },
    ...tenants,
    ...imports,
    {
      usage: 'result',
      summary: 'list incoming results without a team',
      commands: [
        result('list', 'list', 'list them', ['result list --cell production-us'], [requiredCell, json]),
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
        mail('list', 'list', 'list the newest mails', ['mail list', 'mail list --json'], [json]),
        mail('show', 'show <id>', 'print an email; its text is deleted once it is sent', ['mail show MAIL_ID'], [json]),
        ...failed(['listMails', 'failed'], 'retryMails', ['mail', 'mails']),
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
          [cell, json],
        ),
        sms('show', 'show <id>', 'print a text message', ['sms show MESSAGE_ID'], [cell, json]),
      ],
    },
    {
      usage: 'text-messages',
      summary: 'text messages to patients that failed',
      commands: failed(['listTextMessages', 'list'], 'retryTextMessages', ['text-messages', 'text messages']),
    },
    reports,
    ...userFiles,
    ...looking,
    ...running,
    ...printed,
  ],
}
