// Every command. Its implementation is imported when it runs: `start`, `serve` and `work` import no other command, and help imports
// nothing.
import { UsageError, type CommandContext, type Group, type Leaf, type OptionText, type Typed } from './command-tree.ts'
import { catalogs, directories } from './command-list-imports.ts'
import { operations, results } from './command-list-operations.ts'
import { laboratories, tenants } from './command-list-tenants.ts'
import { version } from '../platform/runtime/version.ts'
import { looking, running, userFiles } from './command-list-client.ts'

const json: OptionText = ['--json', 'print JSON']

const port: OptionText = ['--port <port>', 'listen on this port, 0 for a free one (in place of PORT; 8080 without either)']
const dataDir: OptionText = ['--data-dir <folder>', 'the folder of the data (in place of DATA_DIR; ./data without either)']

/** The settings that the options of a command set. */
const settingsOf = (
  { values }: Typed<{ port?: string; dataDir?: string }>,
  env: CommandContext['env'],
): CommandContext['env'] => ({
  ...env,
  ...(values.port !== undefined && { PORT: values.port }),
  ...(values.dataDir !== undefined && { DATA_DIR: values.dataDir }),
})

const role = (usage: 'start' | 'serve' | 'work', summary: string, about: string, examples: string[]): Leaf => ({
  usage,
  summary,
  about,
  options: usage === 'work' ? [dataDir] : [port, dataDir],
  examples,
  run: async (typed, { env }) => {
    // The modules of the server take a second to load: invalid settings are reported before.
    const { readConfig } = await import('../settings/config.ts')
    const config = readConfig(settingsOf(typed, env))
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
        const { readConfig } = await import('../settings/config.ts')
        const { report_ocr_models: ocr_models } = readConfig(env)
        await (await import('./commands/report.ts')).explainReport(typed, { ocr_models, print })
      },
    },
  ],
}

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

const servers: Leaf[] = [
  role(
    'start',
    'run database migrations, then server and worker in one process',
    'This is "npm start". Without DATABASE_URL the database is in DATA_DIR; the first start makes it.',
    ['start', 'start --port 3000 --data-dir /srv/drawbridge'],
  ),
  role('serve', 'run the server alone', 'The database must be there and migrated.', ['serve', 'serve --port 3000']),
  role('work', 'run the worker alone', 'The database must be there and migrated.', ['work']),
  {
    usage: 'migrate',
    summary: 'run database migrations and exit',
    about: 'With DATABASE_URL or in the folder that DATA_DIR names; there the first run makes the database.',
    options: [dataDir],
    examples: ['migrate', 'migrate --data-dir /srv/drawbridge'],
    run: async (typed, { env, print }) => (await import('./commands/start.ts')).migrateOnly(settingsOf(typed, env), print),
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
]

/** The commands of one task of the user, which the help lists together. */
const inTask = (task: string, nodes: (Leaf | Group)[]): (Leaf | Group)[] => nodes.map((node) => ({ ...node, task }))

export const tree: Group = {
  usage: 'drawbridge',
  summary: 'self-hosted server for laboratory testing and health data',
  about:
    'Settings are read from environment variables; see docs/operating/settings.md. Commands end with 0, 1 (failed) or 2 (wrong usage).',
  commands: [
    ...inTask('Run a server', servers),
    ...inTask('Try and test a program', [...running, ...looking, ...userFiles]),
    ...inTask('Organizations, teams and keys', tenants),
    ...inTask('Laboratories and their results', [...laboratories, ...catalogs, ...results]),
    ...inTask('Directories', directories),
    ...inTask('Operate', operations),
    ...inTask('Look things up', [reports, ...printed]),
  ],
}
